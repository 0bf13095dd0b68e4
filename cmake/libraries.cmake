# SPDX-License-Identifier: Apache-2.0
# The two libraries beside libc: PkgConfig::YAML and PkgConfig::CJSON.
option(MOEPLAN_STATIC "A program that needs nothing of the system that it runs on" OFF)
set(MOEPLAN_CJSON_SOURCE "" CACHE PATH "Folder of cJSON.c and cJSON.h, where no library of it is at hand")

if(MOEPLAN_CJSON_SOURCE)
  set(folder ${CMAKE_BINARY_DIR}/cjson)
  configure_file(${MOEPLAN_CJSON_SOURCE}/cJSON.h ${folder}/cjson/cJSON.h COPYONLY)
  add_library(moeplan_cjson STATIC ${MOEPLAN_CJSON_SOURCE}/cJSON.c)
  target_include_directories(moeplan_cjson SYSTEM PUBLIC ${folder})
  add_library(PkgConfig::CJSON ALIAS moeplan_cjson)
else()
  pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
endif()

pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
if(MOEPLAN_STATIC)
  find_library(MOEPLAN_YAML_ARCHIVE libyaml.a HINTS ${YAML_LIBRARY_DIRS} REQUIRED)
  set_target_properties(PkgConfig::YAML PROPERTIES INTERFACE_LINK_LIBRARIES ${MOEPLAN_YAML_ARCHIVE})
  if(NOT MOEPLAN_CJSON_SOURCE)
    find_library(MOEPLAN_CJSON_ARCHIVE libcjson.a HINTS ${CJSON_LIBRARY_DIRS} REQUIRED)
    set_target_properties(PkgConfig::CJSON PROPERTIES INTERFACE_LINK_LIBRARIES ${MOEPLAN_CJSON_ARCHIVE})
  endif()
endif()
