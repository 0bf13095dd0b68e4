# SPDX-License-Identifier: Apache-2.0
# What a program that is shipped can do without: tables in which each array begins at a multiple of 32 bytes, and what a debugger
# would find its way back by where there are no symbols anyway.
include(CheckCCompilerFlag)
set(MOEPLAN_SMALL_COMPILE "")
if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
  return()
endif()
foreach(flag -malign-data=abi -fno-asynchronous-unwind-tables)
  string(MAKE_C_IDENTIFIER "MOEPLAN_HAS${flag}" has)
  check_c_compiler_flag("-Werror ${flag}" ${has})
  if(${has})
    list(APPEND MOEPLAN_SMALL_COMPILE ${flag})
  endif()
endforeach()
