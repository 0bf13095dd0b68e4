# SPDX-License-Identifier: Apache-2.0
# Defences that cost next to nothing, against the bug that no test has found: each where the compiler and the linker have it.
# tests/hardened.sh looks for those of MOEPLAN_DEFENCES in the program that was built.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(MOEPLAN_HARDEN "Position-independent program, stack protector, checked libc calls, read-only relocations" ON)
set(MOEPLAN_HARDEN_COMPILE "")
set(MOEPLAN_HARDEN_LINK "")
set(MOEPLAN_DEFENCES "")
if(NOT MOEPLAN_HARDEN)
  return()
endif()

# A program that lies anywhere in memory has the addresses in its tables (72,000 of them) put in at each start: 2 ms.
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden) # calls and tables of our own are reached without a detour
if(CMAKE_C_LINK_PIE_SUPPORTED)
  list(APPEND MOEPLAN_DEFENCES pie)
endif()

function(moeplan_harden_compile flag defence)
  string(MAKE_C_IDENTIFIER "MOEPLAN_HAS${flag}" has)
  check_c_compiler_flag("-Werror ${flag}" ${has})
  if(${has})
    set(MOEPLAN_HARDEN_COMPILE ${MOEPLAN_HARDEN_COMPILE} ${flag} PARENT_SCOPE)
    set(MOEPLAN_DEFENCES ${MOEPLAN_DEFENCES} ${defence} PARENT_SCOPE)
  endif()
endfunction()
moeplan_harden_compile(-fstack-protector-strong stack)
moeplan_harden_compile(-fstack-clash-protection "")
moeplan_harden_compile(-fcf-protection=full branches)
moeplan_harden_compile(-mbranch-protection=standard "")

foreach(defence relro now noexecstack)
  check_linker_flag(C "-Wl,-z,${defence}" MOEPLAN_HAS_Z_${defence})
  if(MOEPLAN_HAS_Z_${defence})
    list(APPEND MOEPLAN_HARDEN_LINK "-Wl,-z,${defence}")
    list(APPEND MOEPLAN_DEFENCES ${defence})
  endif()
endforeach()

# libc checks its callers where sizes are known: level 3 where the compiler can tell sizes at run time. Not beside the
# sanitizers, which do it better, and not without optimisation, which it needs.
if(NOT MOEPLAN_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  set(head "#include <stdio.h>\n#ifndef __GLIBC__\n#error no checked calls\n#endif\nint main(void) { return 0; }")
  foreach(level 2 3)
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
    check_c_source_compiles("${head}" MOEPLAN_HAS_FORTIFY_${level})
    unset(CMAKE_REQUIRED_FLAGS)
    if(MOEPLAN_HAS_FORTIFY_${level})
      set(fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
    endif()
  endforeach()
  if(fortify)
    list(APPEND MOEPLAN_HARDEN_COMPILE ${fortify})
    list(APPEND MOEPLAN_DEFENCES fortify)
  endif()
endif()
