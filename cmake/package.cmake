# SPDX-License-Identifier: Apache-2.0
# `cpack`: Debian's packages moeplan, libmoeplan0 and libmoeplan-dev. tools/release/release.sh makes all that is shipped.
set(MOEPLAN_CONTACT "" CACHE STRING "Who answers for the packages, as Name <mail@host>; empty: nobody")
set(MOEPLAN_MAINTAINER "nobody <nobody@moeplan.invalid>") # a package has one; the name cannot be anybody's (RFC 2606)
if(MOEPLAN_CONTACT)
  set(MOEPLAN_MAINTAINER "${MOEPLAN_CONTACT}")
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${MOEPLAN_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package/policy.cmake)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME moeplan)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Configurations for Megatron-LM, Megatron-Bridge and NeMo AutoModel, with
their memory and step time, and checks of recipes before they take GPUs.
Nothing is run and nothing is fetched.")
set(library libmoeplan${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The library: plans, estimates and checks as JSON requests and answers, for
programs in C and for Python's ctypes.")
file(WRITE ${CMAKE_BINARY_DIR}/control/shlibs "libmoeplan ${PROJECT_VERSION_MAJOR} ${library} (>= ${PROJECT_VERSION})\n")
file(WRITE ${CMAKE_BINARY_DIR}/control/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/control/shlibs ${CMAKE_BINARY_DIR}/control/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmoeplan-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}), libyaml-dev, libcjson-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "What building with the library needs: the header, the archive, and what
pkg-config and CMake find it by.")

# What a package says about itself.
string(TIMESTAMP MOEPLAN_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/package/changelog.in changelog @ONLY)
foreach(part program:moeplan library:${library} development:libmoeplan-dev)
  string(REPLACE ":" ";" part ${part})
  list(GET part 0 component)
  list(GET part 1 name)
  install(FILES ${CMAKE_BINARY_DIR}/changelog cmake/package/copyright DESTINATION share/doc/${name} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
