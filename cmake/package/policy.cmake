# SPDX-License-Identifier: Apache-2.0
# Before a package is put together: manual pages and changelogs compressed, no file younger than SOURCE_DATE_EPOCH.
file(GLOB_RECURSE plain ${CPACK_TEMPORARY_DIRECTORY}/moeplan*.1 ${CPACK_TEMPORARY_DIRECTORY}/changelog)
foreach(file IN LISTS plain)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch -hd @$ENV{SOURCE_DATE_EPOCH} {} +
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
