# SPDX-License-Identifier: Apache-2.0
# What a program that is shipped can do without: tables in which each array begins at a multiple of 32 bytes, what a debugger
# would find its way back by where there are no symbols anyway, and a jump before each call of libc, whose functions are all found at
# the start (5 M of 860 M instructions of validate --batch).
include(CheckCCompilerFlag)
set(MOEPLAN_SMALL_COMPILE "")
if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
  return()
endif()
foreach(flag -malign-data=abi -fno-asynchronous-unwind-tables -fno-plt)
  string(MAKE_C_IDENTIFIER "MOEPLAN_HAS${flag}" has)
  check_c_compiler_flag("-Werror ${flag}" ${has})
  if(${has})
    list(APPEND MOEPLAN_SMALL_COMPILE ${flag})
  endif()
endforeach()
