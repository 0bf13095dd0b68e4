# SPDX-License-Identifier: Apache-2.0
# Fast rather than small, in a release: the files in which validating a folder of recipes and a search spend their instructions
# (`valgrind --tool=callgrind`). Whole folders would be a shorter list, but some 60 kB more.
set(MOEPLAN_FAST
    base/arena.c base/buf.c base/edit.c base/json.c base/map.c base/num.c base/path.c base/print.c base/quote.c base/str.c
    base/utf8.c base/value.c base/version.c
    choose/attempt.c choose/finalists.c choose/kinds.c choose/order.c choose/prefer.c choose/present.c choose/room.c
    choose/settled.c choose/space.c choose/spots.c choose/variants.c choose/visit.c
    cmd/answer.c cmd/member.c
    cost/comm.c cost/kernel.c cost/layer.c cost/memory.c cost/memory_activation.c cost/memory_floor.c
    cost/memory_holding.c cost/memory_layer.c cost/memory_pipeline.c cost/memory_stage.c cost/memory_state.c
    cost/pipeline.c cost/sharding.c cost/split.c cost/split_row.c cost/time.c cost/time_layers.c
    cost/timing.c
    diag/diag.c diag/source.c diag/suppress.c
    emit/json_writer.c emit/report.c
    doc/duplicate.c doc/json.c doc/literal.c doc/node.c doc/value.c doc/yaml.c
    expr/core.c expr/eval.c expr/math.c expr/trace.c
    facts/automodel_class.c facts/automodel_coerce.c facts/automodel_documented.c facts/automodel_kind.c
    facts/automodel_normalise.c facts/automodel_sections.c facts/automodel_targets.c facts/check.c facts/checkout.c
    facts/derive.c facts/entry.c facts/environment.c facts/facts.c facts/flags.c facts/import_path.c facts/inherit.c
    facts/launched.c facts/model.c facts/names.c facts/param.c facts/placeholder.c facts/precision.c facts/program.c
    facts/program_kind.c facts/read_automodel.c facts/read_megatron.c facts/reader.c facts/recipe.c facts/shell.c
    facts/shell_bracket.c facts/shell_file.c facts/shell_run.c facts/shell_var.c facts/shell_word.c facts/strangers.c
    facts/words.c
    flow/validate.c
    plan/config.c plan/ffn_moe.c plan/knob.c plan/op_kinds.c plan/op_list.c
    rules/defaults.c rules/finding.c rules/memo.c rules/override.c rules/remedy.c rules/run.c rules/subset.c)
set(MOEPLAN_SMALL_LAYERS diag emit lsp cmd) # run once a question: small rather than fast

foreach(file IN LISTS MOEPLAN_FAST) # a file that was renamed would be slow without a word
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/src/${file})
    message(FATAL_ERROR "cmake/fast.cmake: there is no src/${file}")
  endif()
endforeach()
if(CMAKE_BUILD_TYPE STREQUAL Release)
  list(TRANSFORM MOEPLAN_FAST PREPEND ${CMAKE_SOURCE_DIR}/src/)
  set_source_files_properties(${MOEPLAN_FAST} PROPERTIES COMPILE_OPTIONS -O3)
endif()

function(moeplan_speed layer)
  if(layer IN_LIST MOEPLAN_SMALL_LAYERS AND CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(moeplan_${layer} PRIVATE -Os)
  endif()
endfunction()
