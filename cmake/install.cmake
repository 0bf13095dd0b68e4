# SPDX-License-Identifier: Apache-2.0
# The library in its two forms, the pages and completions that follow from the table of commands, and where everything goes.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- the library (include/moeplan.h): every folder's objects ----

set(objects)
foreach(part IN LISTS MOEPLAN_UPTO_cmd ITEMS moeplan_param_table moeplan_builtin_rules)
  list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()

# Nothing with sanitizers in it is installed.
if(MOEPLAN_SANITIZE OR MOEPLAN_FUZZ)
  set(instrumented ON)
endif()

# The archive is one object in which only what the header declares is left to link with.
if(CMAKE_OBJCOPY AND NOT APPLE AND NOT instrumented)
  set(whole ${CMAKE_BINARY_DIR}/moeplan_whole.o)
  add_custom_command(
    OUTPUT ${whole}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -fno-lto -o ${whole} ${objects}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --remove-section=.gnu.lto_* ${whole}
    DEPENDS ${MOEPLAN_UPTO_cmd} moeplan_param_table moeplan_builtin_rules
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(moeplan_library STATIC ${whole})
else()
  add_library(moeplan_library STATIC ${objects})
endif()
set_target_properties(moeplan_library PROPERTIES OUTPUT_NAME moeplan LINKER_LANGUAGE C EXPORT_NAME static)
target_link_libraries(moeplan_library INTERFACE yaml cjson m Threads::Threads)

add_library(moeplan_shared SHARED ${objects})
set_target_properties(moeplan_shared PROPERTIES OUTPUT_NAME moeplan LINKER_LANGUAGE C EXPORT_NAME moeplan
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(moeplan_shared PRIVATE PkgConfig::YAML PkgConfig::CJSON m Threads::Threads)
target_link_options(moeplan_shared PRIVATE ${MOEPLAN_HARDEN_LINK})
if(NOT APPLE)
  set(map ${CMAKE_SOURCE_DIR}/cmake/moeplan.map)
  target_link_options(moeplan_shared PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined $<$<CONFIG:Release>:-s>)
  set_target_properties(moeplan_shared PROPERTIES LINK_DEPENDS ${map})
endif()
if(MOEPLAN_TESTS) # as quickly as they are
  moeplan_tool(moeplan_shared)
endif()
if(MOEPLAN_STATIC OR instrumented)
  set_target_properties(moeplan_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(MOEPLAN_STATIC) # the program alone
  set_target_properties(moeplan_library PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
foreach(library moeplan_library moeplan_shared)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

# ---- manual pages and completions ----

set(pages ${CMAKE_BINARY_DIR}/pages)
set(completions bash/moeplan zsh/_moeplan fish/moeplan.fish)
set(page_commands)
foreach(file IN LISTS completions)
  get_filename_component(shell ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${pages}/${shell})
  list(APPEND page_commands COMMAND moeplan completion ${shell} -o ${pages}/${file})
endforeach()
file(MAKE_DIRECTORY ${pages}/man1)
add_custom_command(
  OUTPUT ${pages}/done
  COMMAND generate_docs --manual ${pages}/man1
  ${page_commands}
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}/done
  DEPENDS moeplan generate_docs
  VERBATIM)
add_custom_target(moeplan_pages ALL DEPENDS ${pages}/done)

# ---- where everything goes ----

set(MOEPLAN_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks (Debian: vendor-completions)")

install(TARGETS moeplan COMPONENT program)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${pages}/bash/moeplan DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${pages}/zsh/_moeplan DESTINATION ${MOEPLAN_ZSH_DIR} COMPONENT program)
install(FILES ${pages}/fish/moeplan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
if(NOT MOEPLAN_STATIC)
  install(TARGETS moeplan_shared EXPORT moeplan LIBRARY COMPONENT library NAMELINK_COMPONENT development)
  install(TARGETS moeplan_library EXPORT moeplan ARCHIVE COMPONENT development)
  install(FILES include/moeplan.h TYPE INCLUDE COMPONENT development)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/moeplan)
  install(EXPORT moeplan NAMESPACE moeplan:: FILE moeplanTargets.cmake DESTINATION ${package} COMPONENT development)
  file(RELATIVE_PATH MOEPLAN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(cmake/moeplan.pc.in moeplan.pc @ONLY)
  configure_file(cmake/moeplanConfig.cmake.in moeplanConfig.cmake COPYONLY)
  write_basic_package_version_file(moeplanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/moeplan.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
  install(FILES ${CMAKE_BINARY_DIR}/moeplanConfig.cmake ${CMAKE_BINARY_DIR}/moeplanConfigVersion.cmake DESTINATION ${package}
          COMPONENT development)
  include(cmake/package.cmake)
endif()
