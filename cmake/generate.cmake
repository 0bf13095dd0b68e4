# SPDX-License-Identifier: Apache-2.0
# Build steps that turn rules/ into C tables, each by a small program over the same loaders the tool uses.

# rules/parameters -> the parameter table, its look-ups, the frameworks' defaults, and facts/param_ids.h: the numbers by name
add_executable(generate_parameters tools/generate_parameters.c src/facts/param_file.c)
moeplan_target(generate_parameters)
target_link_libraries(generate_parameters PRIVATE ${MOEPLAN_UPTO_doc})
file(GLOB parameter_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/parameters/*.yaml)
set(parameter_ids ${MOEPLAN_GENERATED}/facts/param_ids.h)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/param_table.c ${parameter_ids}
  COMMAND generate_parameters ${CMAKE_BINARY_DIR}/param_table.c ${parameter_ids} ${parameter_files}
  DEPENDS generate_parameters ${parameter_files}
  VERBATIM)
add_library(moeplan_param_table OBJECT ${CMAKE_BINARY_DIR}/param_table.c ${parameter_ids})
moeplan_target(moeplan_param_table)
target_sources(moeplan_facts PRIVATE $<TARGET_OBJECTS:moeplan_param_table>)

# rules/automodel -> recipe classes, typed sections, model classes and modules
add_executable(generate_automodel tools/generate_automodel.c tools/tables.c)
moeplan_target(generate_automodel)
target_link_libraries(generate_automodel PRIVATE ${MOEPLAN_UPTO_doc})
set(automodel_data recipes sections capabilities modules)
list(TRANSFORM automodel_data REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/rules/automodel/\\1.yaml")
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/automodel_tables.c
  COMMAND generate_automodel ${CMAKE_BINARY_DIR}/automodel_tables.c ${automodel_data}
  DEPENDS generate_automodel ${automodel_data}
  VERBATIM)
target_sources(moeplan_facts PRIVATE ${CMAKE_BINARY_DIR}/automodel_tables.c)

# rules/recipes -> Megatron-Bridge's recipes and providers
add_executable(generate_bridge tools/generate_bridge.c tools/tables.c)
moeplan_target(generate_bridge)
target_link_libraries(generate_bridge PRIVATE ${MOEPLAN_UPTO_doc})
set(bridge_data ${CMAKE_SOURCE_DIR}/rules/recipes/bridge.yaml)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/bridge_tables.c
  COMMAND generate_bridge ${CMAKE_BINARY_DIR}/bridge_tables.c ${bridge_data}
  DEPENDS generate_bridge ${bridge_data}
  VERBATIM)
target_sources(moeplan_facts PRIVATE ${CMAKE_BINARY_DIR}/bridge_tables.c)

# rules/**: checks, overrides and guides, compiled and tested, as a library of its own for everything above src/rules
option(MOEPLAN_STRICT_RULES "A bad rule or a failing example of one fails the build" ON)
add_executable(generate_rules tools/generate_rules.c)
moeplan_target(generate_rules)
target_link_libraries(generate_rules PRIVATE ${MOEPLAN_UPTO_rules})
file(GLOB_RECURSE rule_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/*.yaml)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/builtin_rules.c
  COMMAND generate_rules $<$<NOT:$<BOOL:${MOEPLAN_STRICT_RULES}>>:--report> ${CMAKE_BINARY_DIR}/builtin_rules.c
          ${CMAKE_SOURCE_DIR}/rules
  DEPENDS generate_rules ${rule_files}
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(moeplan_builtin_rules STATIC ${CMAKE_BINARY_DIR}/builtin_rules.c)
moeplan_target(moeplan_builtin_rules)
foreach(layer plan cost choose flow emit cmd)
  target_link_libraries(moeplan_${layer} PUBLIC moeplan_builtin_rules)
endforeach()

# rules/models, rules/platforms -> the catalogue, by the reader of the user's own files
set(catalogue_readers entry platform_file check param param_file facts pattern)
list(TRANSFORM catalogue_readers REPLACE "(.+)" "src/facts/\\1.c")
add_executable(generate_catalogue tools/generate_catalogue.c ${catalogue_readers}
               $<TARGET_OBJECTS:moeplan_param_table>)
moeplan_target(generate_catalogue)
target_link_libraries(generate_catalogue PRIVATE ${MOEPLAN_UPTO_doc})
file(GLOB model_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/models/*.yaml)
file(GLOB platform_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/platforms/*.yaml)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/catalogue.c
  COMMAND generate_catalogue ${CMAKE_BINARY_DIR}/catalogue.c models ${model_files} platforms ${platform_files}
  DEPENDS generate_catalogue ${model_files} ${platform_files}
  VERBATIM)
target_sources(moeplan_facts PRIVATE ${CMAKE_BINARY_DIR}/catalogue.c)

# rules/evidence -> the public measurements
add_executable(generate_evidence tools/generate_evidence.c)
moeplan_target(generate_evidence)
target_link_libraries(generate_evidence PRIVATE ${MOEPLAN_UPTO_doc})
file(GLOB evidence_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/evidence/*.yaml)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/evidence.c
  COMMAND generate_evidence ${CMAKE_BINARY_DIR}/evidence.c ${evidence_files}
  DEPENDS generate_evidence ${evidence_files}
  VERBATIM)
target_sources(moeplan_cost PRIVATE ${CMAKE_BINARY_DIR}/evidence.c)

# The reference pages that follow from data: `--target docs` writes them into docs/, a test compares.
add_executable(generate_docs EXCLUDE_FROM_ALL tools/generate_docs.c)
moeplan_target(generate_docs)
target_link_libraries(generate_docs PRIVATE ${MOEPLAN_UPTO_cmd})
add_custom_target(docs COMMAND generate_docs ${CMAKE_SOURCE_DIR}/docs VERBATIM)
