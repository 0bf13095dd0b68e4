# SPDX-License-Identifier: Apache-2.0
# Build steps that turn rules/ into C tables, each by a small program over the same loaders the tool uses.

# rules/parameters -> the parameter table, its look-ups and the frameworks' defaults
add_executable(generate_parameters tools/generate_parameters.c)
moeplan_target(generate_parameters)
target_link_libraries(generate_parameters PRIVATE ${MOEPLAN_UPTO_doc})
file(GLOB parameter_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rules/parameters/*.yaml)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/param_table.c
  COMMAND generate_parameters ${CMAKE_BINARY_DIR}/param_table.c ${parameter_files}
  DEPENDS generate_parameters ${parameter_files}
  VERBATIM)
target_sources(moeplan_facts PRIVATE ${CMAKE_BINARY_DIR}/param_table.c)
