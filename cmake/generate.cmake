# SPDX-License-Identifier: Apache-2.0
# Build steps that turn rules/ into C tables, each by a small program over the same loaders the tool uses.

# What is not shipped is linked without what is worth its minutes in what is.
function(moeplan_tool name)
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    target_link_options(${name} PRIVATE -fno-lto)
  endif()
endfunction()

# moeplan_generate(NAME OUTPUT FILE… INTO TARGET LINK LIBRARY… INPUTS FILE… [SOURCES FILE…] [OPTIONS WORD…] [ARGUMENTS WORD…]):
# tools/NAME.c, with further SOURCES, is called with OPTIONS, the OUTPUT files and ARGUMENTS (else INPUTS); what it writes from
# INPUTS becomes sources of TARGET.
function(moeplan_generate name)
  cmake_parse_arguments(step "" "INTO" "OUTPUT;LINK;INPUTS;SOURCES;OPTIONS;ARGUMENTS" ${ARGN})
  if(NOT step_ARGUMENTS)
    set(step_ARGUMENTS ${step_INPUTS})
  endif()
  list(TRANSFORM step_OUTPUT PREPEND ${CMAKE_BINARY_DIR}/)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/tools/${name}.c ${step_SOURCES})
  moeplan_target(${name})
  moeplan_tool(${name})
  target_link_libraries(${name} PRIVATE ${step_LINK})
  add_custom_command(
    OUTPUT ${step_OUTPUT}
    COMMAND ${name} ${step_OPTIONS} ${step_OUTPUT} ${step_ARGUMENTS}
    DEPENDS ${name} ${step_INPUTS}
    COMMAND_EXPAND_LISTS VERBATIM)
  target_sources(${step_INTO} PRIVATE ${step_OUTPUT})
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    set_source_files_properties(${step_OUTPUT} PROPERTIES COMPILE_OPTIONS -Os) # tables: their texts need no alignment
  endif()
endfunction()

# rules/parameters, rules/releases -> the parameter table, its look-ups, the frameworks' defaults, what their releases have otherwise,
# and the header of the parameters' numbers
file(GLOB parameter_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/parameters/*.yaml ${CMAKE_SOURCE_DIR}/rules/releases/*/*.yaml)
add_library(moeplan_param_table OBJECT)
moeplan_target(moeplan_param_table)
moeplan_generate(generate_parameters OUTPUT param_table.c generated/facts/param_ids.h INTO moeplan_param_table LINK ${MOEPLAN_UPTO_doc}
                 SOURCES src/facts/param_file.c tools/releases.c tools/release_tables.c INPUTS ${parameter_files})
target_sources(moeplan_facts PRIVATE $<TARGET_OBJECTS:moeplan_param_table>)

# rules/automodel, rules/releases/automodel -> recipe classes, typed sections, model classes and modules with their names
set(automodel_data recipes sections capabilities)
list(TRANSFORM automodel_data REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/rules/automodel/\\1.yaml")
file(GLOB automodel_releases CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/releases/automodel/*.yaml) # sorted: main is the newest
moeplan_generate(generate_automodel OUTPUT automodel_tables.c INTO moeplan_facts LINK ${MOEPLAN_UPTO_doc}
                 SOURCES tools/tables.c tools/release_entries.c INPUTS ${automodel_data} ${automodel_releases})

# rules/recipes, rules/releases, rules/models -> Megatron-Bridge's recipes and providers
file(GLOB bridge_releases CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/releases/bridge/*.yaml) # sorted: main is the newest
file(GLOB bridge_models CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/models/*.yaml)
moeplan_generate(generate_bridge OUTPUT bridge_tables.c INTO moeplan_facts LINK ${MOEPLAN_UPTO_doc}
                 SOURCES tools/tables.c tools/release_entries.c
                 INPUTS ${CMAKE_SOURCE_DIR}/rules/recipes/bridge.yaml ${bridge_releases} ${bridge_models})

# rules/programs -> programs built on Megatron-LM: their files and their flags
file(GLOB program_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/programs/*.yaml)
moeplan_generate(generate_programs OUTPUT program_kinds.c INTO moeplan_facts LINK ${MOEPLAN_UPTO_doc}
                 SOURCES tools/tables.c INPUTS ${program_files})

# rules/environment -> the environment variables that libraries read
file(GLOB environment_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/environment/*.yaml)
moeplan_generate(generate_environment OUTPUT environment_variables.c INTO moeplan_facts LINK ${MOEPLAN_UPTO_doc}
                 SOURCES tools/tables.c INPUTS ${environment_files})

# docs/glossary.md -> the words that explain knows
moeplan_generate(generate_words OUTPUT word_table.c INTO moeplan_emit LINK ${MOEPLAN_UPTO_base}
                 INPUTS ${CMAKE_SOURCE_DIR}/docs/glossary.md)

# rules/**: checks, overrides and guides, compiled and tested, as a library of its own for everything above src/rules
option(MOEPLAN_STRICT_RULES "A bad rule or a failing example of one fails the build" ON)
file(GLOB_RECURSE rule_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/*.yaml)
add_library(moeplan_builtin_rules STATIC)
moeplan_target(moeplan_builtin_rules)
moeplan_generate(generate_rules OUTPUT builtin_rules.c INTO moeplan_builtin_rules LINK ${MOEPLAN_UPTO_rules}
                 INPUTS ${rule_files} OPTIONS $<$<NOT:$<BOOL:${MOEPLAN_STRICT_RULES}>>:--report>
                 ARGUMENTS ${CMAKE_SOURCE_DIR}/rules)
foreach(layer plan cost choose flow emit lsp cmd)
  target_link_libraries(moeplan_${layer} PUBLIC moeplan_builtin_rules)
endforeach()

# rules/models, rules/platforms -> the catalogue, by the reader of the user's own files
set(catalogue_readers entry platform_file check param param_file facts pattern profile)
list(TRANSFORM catalogue_readers REPLACE "(.+)" "src/facts/\\1.c")
file(GLOB model_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/models/*.yaml)
file(GLOB platform_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/platforms/*.yaml)
moeplan_generate(generate_catalogue OUTPUT catalogue.c INTO moeplan_facts LINK ${MOEPLAN_UPTO_doc}
                 SOURCES ${catalogue_readers} $<TARGET_OBJECTS:moeplan_param_table>
                 INPUTS ${model_files} ${platform_files}
                 ARGUMENTS models ${model_files} platforms ${platform_files})
add_dependencies(generate_catalogue moeplan_param_table)

# rules/evidence -> the public measurements
file(GLOB evidence_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/evidence/*.yaml)
moeplan_generate(generate_evidence OUTPUT evidence.c INTO moeplan_cost LINK ${MOEPLAN_UPTO_doc} INPUTS ${evidence_files})

# rules/playbook -> the public tuned recipes
file(GLOB playbook_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/playbook/*.yaml)
moeplan_generate(generate_playbook OUTPUT playbook.c INTO moeplan_choose LINK ${MOEPLAN_UPTO_facts} SOURCES tools/tables.c
                 INPUTS ${playbook_files})

# The reference pages that follow from data: `--target docs` writes them into docs/, a test compares.
add_executable(generate_docs tools/generate_docs.c tools/docs_rows.c)
moeplan_target(generate_docs)
moeplan_tool(generate_docs)
target_link_libraries(generate_docs PRIVATE ${MOEPLAN_UPTO_cmd})
add_custom_target(docs COMMAND generate_docs ${CMAKE_SOURCE_DIR}/docs VERBATIM)

# The documentation as static HTML: `--target site` writes it into site/ of the build folder. It alone needs cmark-gfm, which makes
# HTML of Markdown.
pkg_check_modules(CMARK IMPORTED_TARGET libcmark-gfm)
find_library(MOEPLAN_CMARK_EXTENSIONS cmark-gfm-extensions)
if(CMARK_FOUND AND MOEPLAN_CMARK_EXTENSIONS)
  add_executable(generate_site tools/site/generate_site.c tools/site/html.c tools/docs_rows.c)
  moeplan_target(generate_site)
  moeplan_tool(generate_site)
  target_include_directories(generate_site PRIVATE ${CMAKE_SOURCE_DIR}/tools)
  target_link_libraries(generate_site PRIVATE ${MOEPLAN_UPTO_cmd} ${MOEPLAN_CMARK_EXTENSIONS} PkgConfig::CMARK)
  add_custom_target(site COMMAND generate_site ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/site VERBATIM)
else()
  add_custom_target(site COMMAND ${CMAKE_COMMAND} -E echo
                    "no site: cmark-gfm is not here (Debian: libcmark-gfm-dev, libcmark-gfm-extensions-dev)" VERBATIM)
endif()
