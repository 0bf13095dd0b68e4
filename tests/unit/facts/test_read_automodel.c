/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/param_ids.h"
#include "facts_unit.h"

#include "facts/automodel.h"

/* What a recipe leads to: facts as text, and the findings of the reader. */
struct outcome {
    struct readings readings;
    struct diags *diags;
};

static struct outcome read_recipe(struct arena *a, const char *text,
                                  const struct read_options *options)
{
    struct outcome out = {.diags = ARENA_NEW(a, struct diags)};
    struct node_list docs = {0};
    diags_init(out.diags, a);
    uint32_t source = source_add(&out.diags->sources, STR("recipe.yaml"), str_of(text));
    assert_true(doc_load_yaml(a, out.diags, source, &docs));
    const struct reader *reader = reader_find(STR("automodel"));
    reader->read(a, out.diags, source, docs.n ? docs.items[0] : NULL, options, &out.readings);
    for (size_t i = 0; i < out.readings.n; i++)
        read_options_apply(out.readings.items[i].facts, options);
    return out;
}

static struct str fact_text(struct arena *a, const struct facts *f, const char *name)
{
    return value_text(a, facts_get(f, param_find(str_of(name)))->value);
}

static const struct diag *finding(const struct outcome *o, const char *rule)
{
    for (size_t i = 0; i < o->diags->n; i++)
        if (str_is(o->diags->items[i].rule, rule)) return &o->diags->items[i];
    return NULL;
}

static size_t errors(const struct outcome *o)
{
    return diags_count(o->diags, SEVERITY_ERROR);
}

static void sizes_become_what_the_mesh_takes(void **state)
{
    static const struct {
        const char *line, *name, *value;
    } cases[] = {
        {"tp_size: 4", "tp", "4"},
        {"tp_size: \"4\"", "tp", "4"},
        {"tp_size: 4.0", "tp", "1"},
        {"tp_size: auto", "tp", "1"},
        {"cp_size: [2]", "cp", "1"},
        {"cp_size: -2", "cp", "1"},
        {"cp_size: true", "cp", "1"},
        {"pp_size: null", "pp", "1"},
        {"pp_size: none", "pp", "1"},
        {"pp_size: two", "pp", "unknown"},
        {"ep_size: 2.0", "ep", "1"},
        {"ep_size: {size: 2}", "ep", "unknown"},
        {"dp_size: none", "dp_size", "null"},
        {"dp_size: 0", "dp_size", "null"},
        {"dp_size: true", "dp_size", "1"},
        {"dp_size: 8.0", "dp_size", "unknown"},
        {"dp_replicate_size: \"null\"", "dp_replicate_size", "unknown"},
        {"strategy: MFSDP", "strategy", "megatron_fsdp"},
        {"strategy: megatron-fsdp", "strategy", "megatron_fsdp"},
        {"strategy: hsdp", "strategy", "unknown"},
        {"activation_checkpointing: On", "activation_checkpointing", "true"},
        {"activation_checkpointing: Selective", "activation_checkpointing", "selective"},
        {"activation_checkpointing: none", "activation_checkpointing", "false"},
        {"activation_checkpointing: 1", "activation_checkpointing", "unknown"},
        {"activation_checkpointing_scope: Vision+language,vision", "activation_checkpointing_scope",
         "[vision, language]"},
        {"activation_checkpointing_scope: []", "activation_checkpointing_scope", "[all]"},
        {"activation_checkpointing_scope: [1]", "activation_checkpointing_scope", "unknown"},
    };
    struct read_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = arena_printf(*state, "recipe: FinetuneRecipeForVLM\ndistributed:\n  %s\n",
                                       cases[i].line);
        struct outcome o = read_recipe(*state, text.p, &options);
        assert_int_equal(o.readings.n, 1);
        assert_str(fact_text(*state, o.readings.items[0].facts, cases[i].name), cases[i].value);
    }
}

static void the_last_of_equal_keys_counts(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(
        *state, "distributed:\n  tp_size: 2\n  tp_size: 4\nstep_scheduler: {}\n", &options);
    assert_int_equal(facts_int(o.readings.items[0].facts, P_tensor_model_parallel_size, 0), 4);
}

static void sections_refuse_unknown_keys(void **state)
{
    static const struct {
        const char *text, *rule, *cover, *help;
    } cases[] = {
        {"recipe: FinetuneRecipeForVLM\ndistributed: {tp_sise: 2}\n", "unknown-key",
         "automodel:D02", "did you mean tp_size?"},
        {"recipe: FinetuneRecipeForVLM\ndistributed: {strategy: ddp, sequence_parallel: false}\n",
         "option-of-another-strategy", "automodel:D02", "remove the line, whatever its value"},
        {"recipe: FinetuneRecipeForVLM\ndistributed: {pp_size: 2, pipeline: {pp_shedule: 1f1b}}\n",
         "unknown-key", "automodel:D07", "did you mean pp_schedule?"},
        {"recipe: FinetuneRecipeForVLM\ndistributed: {ep_size: 2.0, moe: {wrap_outer_mdel: 1}}\n",
         "unknown-key", "automodel:D08", "did you mean wrap_outer_model?"},
        {"recipe: FinetuneRecipeForVLM\ndistributed: {multimodal: null}\n", "section-not-a-mapping",
         "automodel:D13", ""},
        {"recipe: FinetuneRecipeForVLM\ndataset: {}\ndataloader: {batch_size: 2}\n", "unknown-key",
         "automodel:Q03", NULL},
        {"fsdp: {tp_sizes: 2}\nflow_matching: {}\nstep_scheduler: {}\n", "unknown-key",
         "automodel:D02", "did you mean tp_size?"},
    };
    struct read_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = read_recipe(*state, cases[i].text, &options);
        const struct diag *d = finding(&o, cases[i].rule);
        assert_non_null(d);
        assert_int_equal(errors(&o), 1);
        assert_int_equal(d->n_covers, 1);
        assert_str(d->covers[0], cases[i].cover);
        if (cases[i].help) assert_str(d->help, cases[i].help);
    }
}

static void misspelt_sections_are_noticed(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(
        *state, "recipe: FinetuneRecipeForVLM\nstep_schedular: {}\nnotes: mine\n", &options);
    const struct diag *d = finding(&o, "section-misspelt");
    assert_int_equal(o.diags->n, 1);
    assert_int_equal(d->severity, SEVERITY_WARNING);
    assert_str(d->help, "did you mean step_scheduler?");
    o = read_recipe(*state,
                    "recipe: FinetuneRecipeForVLM\nstep_scheduler: {}\nstep_schedulers: {}\n",
                    &options);
    assert_int_equal(o.diags->n, 0);
}

/* The only finding of a recipe; its help in *help. */
static const struct diag *only_finding(void **state, const char *body)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(
        *state, arena_printf(*state, "recipe: FinetuneRecipeForVLM\n%s\n", body).p, &options);
    assert_int_equal(o.diags->n, 1);
    assert_int_equal(o.diags->items[0].severity, SEVERITY_WARNING);
    return &o.diags->items[0];
}

static void slips_are_noticed_where_anything_is_taken(void **state)
{
    static const struct {
        const char *body, *rule, *help;
    } cases[] = {
        {"model: {_target_: a.b, prtrained_model_name_or_path: c}", "unknown-key",
         "did you mean pretrained_model_name_or_path?"},
        {"loss_fn: {_taregt_: a.b}", "unknown-key", "did you mean _target_?"},
        {"dataset:\n  _target_: a.b\nlr_scheduler:\n  lr_decay_style: cosine\nmin_lr: 1.0",
         "unknown-key", "it belongs into lr_scheduler"},
        {"model: {_target_: a.b, torch_dtype: bfloat61}", "value-choice", "did you mean bfloat16?"},
        {"model: {_target_: a.b, torch_dtype: torch.floaat32}", "value-choice",
         "did you mean torch.float32?"},
        {"model: {_target_: a.b, attn_implementation: eagre}", "value-choice",
         "did you mean eager?"},
        {"dataset: {_target_: a.b, any: flase}", "value-type",
         "did you mean false? one of true, false"},
        {"dataset: {_target_: a.b, path_or_datset: c}", "unknown-key",
         "did you mean path_or_dataset?"},
        {"validation_dataset: {_target_: a.b, seq_lenght: 4}", "unknown-key",
         "did you mean seq_length?"},
        {"dist_env: {bakcend: nccl}", "unknown-key", "did you mean backend?"},
        {"freeze_config: {freeze_embedings: true}", "unknown-key",
         "did you mean freeze_embeddings?"},
        {"loss_fn: {_target_: torch.nn.CrossEntropyLos}", "import-path",
         "did you mean torch.nn.CrossEntropyLoss?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct diag *d = only_finding(state, cases[i].body);
        assert_str(d->rule, cases[i].rule);
        assert_str(d->help, cases[i].help);
    }
}

static void values_of_no_type_of_the_key_are_noticed(void **state)
{
    static const char *const bodies[] = {
        "step_scheduler: {max_steps: two}",       "step_scheduler: {max_steps: true}",
        "step_scheduler: {max_steps: [1, 2]}",    "optimizer: {_target_: a.b, lr: small}",
        "distributed: {sequence_parallel: ture}", "distributed: {sequence_parallel: 2}",
        "step_scheduler: {max_steps: 10.5}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_str(only_finding(state, bodies[i])->rule, "value-type");
}

static void what_is_not_read_is_not_checked(void **state)
{
    static const char *const texts[] = {
        "recipe: FinetuneRecipeForVLM\ndistributed: {pipeline: {no_such_key: 1}}\n",
        "recipe: FinetuneRecipeForVLM\ndistributed: {moe: {no_such_key: 1}}\n",
        "recipe: FinetuneRecipeForVLM\ndistributed: {_target_: a.b, _convert_: all}\n",
        ("recipe: TrainFinetuneRecipeForNextTokenPrediction\ndataset: {}\n"
         "packed_sequence: {packed_sequence_size: 0, no_such_key: 1}\n"),
        "recipe: TrainEagle3Recipe\nstep_scheduler: {no_such_key: 1}\n",
        "recipe: my.own.Recipe\nlr_scheduler: {no_such_key: 1}\n",
        "recipe: FinetuneRecipeForVLM\ndistributed: {mp_policy: {_target_: my.P, any: 1}}\n",
        "fsdp: {use_hf_tp_plan: true, cp_ring_degree: 2}\nstep_scheduler: {}\n",
        "recipe: FinetuneRecipeForVLM\nlr_scheduler:\n",
        "recipe: FinetuneRecipeForVLM\nmodel: {_target_: a.b, my_size: 4, dtype: float8}\n",
        "recipe: FinetuneRecipeForVLM\nstep_scheduler: {max_steps: 1.0e+3, num_epochs: null}\n",
        "recipe: FinetuneRecipeForVLM\ndataset: {_target_: a.b}\nmy_own: 3\n",
    };
    struct read_options options = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct outcome o = read_recipe(*state, texts[i], &options);
        assert_int_equal(errors(&o), 0);
    }
}

static void recipe_classes_have_kinds(void **state)
{
    static const struct {
        const char *text, *kind, *rule;
    } cases[] = {
        {"recipe: FinetuneRecipeForVLM\n", "vlm", NULL},
        {"recipe: "
         "nemo_automodel.recipes.llm.kd.KnowledgeDistillationRecipeForNextTokenPrediction\n",
         "kd", NULL},
        {"recipe: {_target_: nemo_automodel.recipes.llm.train_ft."
         "TrainFinetuneRecipeForNextTokenPrediction}\n",
         "llm", NULL},
        {"recipe: TrainFinetuneRecipe\n", "custom", "unknown-recipe"},
        {"recipe: nemo_automodel.recipes.llm.train_ft.Train\n", "custom", "unknown-recipe"},
        {"recipe: my.module.Recipe\n", "custom", NULL},
        {"recipe: {_target_: FinetuneRecipeForVLM}\n", "vlm", "import-path"},
        {"ddp: {}\nstep_scheduler: {}\n", "diffusion", "recipe-missing"},
        {"distributed: {}\n", "script", "recipe-missing"},
    };
    struct read_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = read_recipe(*state, cases[i].text, &options);
        assert_str(facts_str(o.readings.items[0].facts, P_recipe_kind), cases[i].kind);
        assert_int_equal(o.diags->n, cases[i].rule != NULL);
        if (cases[i].rule) assert_non_null(finding(&o, cases[i].rule));
    }
}

/* Releases before 0.4 were told the kind on their command line: what a file makes says it. */
static void kinds_follow_what_is_made(void **state)
{
    static const struct {
        const char *model, *rest, *kind;
    } cases[] = {
        {"ForCausalLM.from_pretrained", "", "llm"},
        {"ForCausalLM.from_config", "teacher_model: {}\n", "kd"},
        {"ForCausalLM.from_pretrained", "benchmark: {}\n", "benchmark"},
        {"ForCausalLM.from_pretrained", "processor: {}\n", "script"},
        {"ForImageTextToText.from_pretrained", "", "vlm"},
        {"ForSequenceClassification.from_pretrained", "", "seq_cls"},
        {"ForAudio.from_pretrained", "", "script"},
        {"ForCausalLM.build", "", "script"},
    };
    struct read_options options = {.version = STR("0.3")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = arena_printf(
            *state, "step_scheduler: {}\nmodel:\n  _target_: nemo_automodel.NeMoAutoModel%s\n%s",
            cases[i].model, cases[i].rest);
        struct outcome o = read_recipe(*state, text.p, &options);
        assert_str(facts_str(o.readings.items[0].facts, P_recipe_kind), cases[i].kind);
    }
}

static void import_paths_need_a_module(void **state)
{
    static const struct {
        const char *line;
        bool good;
    } cases[] = {
        {"_target_: torch.optim.AdamW", true},
        {"_target_: AdamW", false},
        {"collate_fn: default_collater", false},
        {"collate_fn: null", true},
        {"_target_: a..b", false},
        {"_target_: my/file.py:build", true},
        {"_target_: my/file.txt:build", false},
        {"_target_: my/file.py:_build", false},
        {"targets: AdamW", true},
        {"_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained", true},
        {"_target_: nemo_automodel.models.common.BackendConfig", true},
        {"_target_: nemo_automodel.components.datasets.llm.squad.make_squad_dataset", true},
        {"_target_: nemo_automodel.components.dataset.llm.squad.make_squad_dataset", false},
        {"_target_: nemo_automodel.components.datasets.llm.sqad.make_squad_dataset", false},
    };
    struct read_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = arena_printf(*state, "recipe: FinetuneRecipeForVLM\nunused:\n  - {%s}\n",
                                       cases[i].line);
        struct outcome o = read_recipe(*state, text.p, &options);
        assert_int_equal(finding(&o, "import-path") == NULL, cases[i].good);
    }
}

static void variables_are_put_in(void **state)
{
    struct setting env[] = {{.name = STR("GBS"), .text = STR("64")},
                            {.name = STR("NESTED.NAME"), .text = STR("2")}};
    struct read_options options = {.env = env, .n_env = 2, .env_given = true};
    struct outcome o = read_recipe(*state,
                                   "recipe: FinetuneRecipeForVLM\n"
                                   "step_scheduler:\n"
                                   "  global_batch_size: ${GBS}\n"
                                   "  local_batch_size: $NESTED.NAME\n"
                                   "  max_steps: ${oc.env:STEPS, 100}\n"
                                   "  num_epochs: ${EPOCHS}\n"
                                   "dataset: {split: \"$5 a piece\", _target_: a.$B}\n",
                                   &options);
    const struct facts *f = o.readings.items[0].facts;
    assert_int_equal(facts_int(f, P_global_batch_size, 0), 64);
    assert_int_equal(facts_int(f, P_micro_batch_size, 0), 2);
    assert_int_equal(facts_int(f, P_train_iters, 0), 100);
    assert_str(fact_text(*state, f, "num_epochs"), "unknown");
    const struct diag *d = finding(&o, "environment-variable-unset");
    assert_non_null(d);
    assert_int_equal(d->at.line, 6);
    assert_int_equal(errors(&o), 1);
}

static void without_an_environment_variables_are_unknown(void **state)
{
    struct read_options options = {0};
    struct outcome o =
        read_recipe(*state,
                    "recipe: FinetuneRecipeForVLM\nstep_scheduler: {global_batch_size: $GBS}\n"
                    "distributed: {tp_size: $TP, ep_size: \"${EP}\", dp_size: \"$DP\"}\n",
                    &options);
    assert_str(fact_text(*state, o.readings.items[0].facts, "tp"), "unknown");
    assert_str(fact_text(*state, o.readings.items[0].facts, "ep"), "unknown");
    assert_str(fact_text(*state, o.readings.items[0].facts, "dp_size"), "unknown");
    assert_str(fact_text(*state, o.readings.items[0].facts, "gbs"), "unknown");
    assert_int_equal(
        facts_raw(o.readings.items[0].facts, STR("step_scheduler.global_batch_size")).kind,
        VALUE_UNKNOWN);
    assert_int_equal(o.diags->n, 0);
}

/* Which paths there are is noted while the recipe is read: those through lists, and of lists too
   long to be noted any. */
static void paths_of_the_document_are_found(void **state)
{
    struct read_options options = {0};
    struct buf text = buf_new(*state);
    buf_add(&text, STR("recipe: FinetuneRecipeForVLM\ndistributed: {tp_size: 2}\n"
                       "dataset:\n  mix: [{name: x, betas: [0.9, 0.95]}]\n"));
    struct outcome o = read_recipe(*state, buf_str(&text).p, &options);
    const struct facts *f = o.readings.items[0].facts;
    static const char *const there[] = {"dataset",
                                        "dataset.mix",
                                        "dataset.mix.0",
                                        "dataset.mix.0.name",
                                        "dataset.mix.0.betas.1",
                                        "distributed.tp_size"};
    static const char *const missing[] = {"datasets",
                                          "dataset.mix.1",
                                          "dataset.mix.0.nam",
                                          "dataset.mix.0.betas.2",
                                          "distributed.pp_size",
                                          ""};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        assert_true(facts_has_raw(f, str_of(there[i])));
        assert_false(facts_has_raw(f, str_of(missing[i])));
    }
    buf_add(&text, STR("  long: [0"));
    for (int i = 1; i < 100; i++)
        buf_printf(&text, ", %d", i);
    buf_add(&text, STR("]\n"));
    o = read_recipe(*state, buf_str(&text).p, &options);
    f = o.readings.items[0].facts;
    assert_int_equal(facts_raw(f, STR("dataset.long.99")).i, 99);
    assert_false(facts_has_raw(f, STR("dataset.long.100")));
}

static const char *const two_configurations = "recipe: FinetuneRecipeForVLM\n"
                                              "distributed: {pp_size: 4, ep_size: 32}\n"
                                              "step_scheduler: {local_batch_size: 8}\n"
                                              "ci:\n"
                                              "  nodes: 2\n"
                                              "  cluster_tag: gb200\n"
                                              "  local_batch_size: 4\n"
                                              "  nightly: {distributed.pp_size: 2}\n";

static void ci_is_a_second_configuration(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(*state, two_configurations, &options);
    assert_int_equal(o.readings.n, 2);
    const struct facts *body = o.readings.items[0].facts, *ci = o.readings.items[1].facts;
    assert_int_equal(facts_int(body, P_pipeline_model_parallel_size, 0), 4);
    assert_int_equal(facts_int(body, P_micro_batch_size, 0), 8);
    assert_str(fact_text(*state, body, "gpus"), "unknown");
    assert_int_equal(facts_int(ci, P_pipeline_model_parallel_size, 0), 2);
    assert_int_equal(facts_int(ci, P_micro_batch_size, 0), 4);
    assert_int_equal(facts_int(ci, P_expert_model_parallel_size, 0), 32);
    assert_int_equal(facts_int(ci, P_world_size, 0), 8);
    assert_int_equal(facts_get(ci, P_micro_batch_size)->node->line, 7);
    assert_true(str_find_str(o.readings.items[1].label, STR("ci:")) < o.readings.items[1].label.n);
}

static void given_gpus_mean_the_body(void **state)
{
    struct read_options options = {.gpus = 128};
    struct outcome o = read_recipe(*state, two_configurations, &options);
    assert_int_equal(o.readings.n, 1);
    assert_int_equal(facts_int(o.readings.items[0].facts, P_world_size, 0), 128);
    assert_int_equal(facts_int(o.readings.items[0].facts, P_pipeline_model_parallel_size, 0), 4);
}

static void recipes_state_their_gpus(void **state)
{
    static const struct {
        const char *text;
        int64_t gpus;
    } cases[] = {
        {"recipe: R.R\nskypilot: {cloud: aws, num_nodes: 2, accelerators: \"H100:8\"}\n", 16},
        {"recipe: R.R\nskypilot: {cloud: aws, accelerators: T4}\n", 1},
        {"recipe: R.R\ndistributed: {dp_size: 4, tp_size: 2}\n", 8},
        {"recipe: R.R\ndistributed: {dp_size: none, tp_size: 2}\n", 0},
        {"recipe: R.R\ndistributed: {dp_size: 9000000000000000000, tp_size: 9}\n", 0},
        {"fsdp: {dp_size: 16}\nstep_scheduler: {}\n", 16},
        {"recipe: R.R\nseparate_meshes: true\ndistributed: {dp_size: 4}\n"
         "teacher_distributed: {dp_size: 2, tp_size: 2}\n",
         8},
    };
    struct read_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = read_recipe(*state, cases[i].text, &options);
        assert_int_equal(facts_int(o.readings.items[0].facts, P_world_size, 0), cases[i].gpus);
    }
}

static void comments_show_a_launch_command(void **state)
{
    static const struct {
        const char *text;
        int64_t gpus;
    } cases[] = {
        {"# automodel x.yaml --nproc-per-node 8\n", 8},
        {"  # torchrun --nproc_per_node=4 --nnodes=2 x.py\n", 8},
        {"#   --nproc-per-node 8\n# and --nproc-per-node 8 again\n", 8},
        {"# --nproc-per-node 8\n# --nproc-per-node 4\n", 0},
        {"x: --nproc-per-node 8\n", 0},
        {"# Adjust --nproc-per-node to your machine\n", 0},
        {"# --nproc-per-node 99999999999999999999\n", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(automodel_documented_gpus(str_of(cases[i].text)), cases[i].gpus);
}

static void a_separate_teacher_is_checked_too(void **state)
{
    struct read_options options = {.gpus = 12};
    struct outcome o = read_recipe(*state,
                                   "recipe: KnowledgeDistillationRecipeForVLM\n"
                                   "separate_meshes: true\n"
                                   "distributed: {dp_size: 4, tp_size: 2}\n"
                                   "teacher_distributed: {dp_size: 2, cp_size: 2, tp_sise: 1}\n",
                                   &options);
    assert_int_equal(o.readings.n, 2);
    const struct facts *student = o.readings.items[0].facts, *teacher = o.readings.items[1].facts;
    assert_int_equal(facts_int(student, P_student_mesh_size, 0), 8);
    assert_int_equal(facts_int(student, P_teacher_mesh_size, 0), 4);
    assert_str(facts_str(teacher, P_recipe_kind), "teacher");
    assert_int_equal(facts_int(teacher, P_context_parallel_size, 0), 2);
    assert_int_equal(errors(&o), 1);
    assert_int_equal(finding(&o, "unknown-key")->at.line, 4);
}

static void diffusion_sections_are_the_mesh(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(
        *state, "fsdp: {tp_size: 2, cp_size: 4, cp_ring_degree: 2}\nstep_scheduler: {}\n",
        &options);
    const struct facts *f = o.readings.items[0].facts;
    assert_str(facts_str(f, P_strategy), "fsdp2");
    assert_int_equal(facts_int(f, P_tensor_model_parallel_size, 0), 2);
    assert_int_equal(facts_int(f, P_cp_ring_degree, 0), 2);
    assert_int_equal(facts_get(f, P_tensor_model_parallel_size)->node->line, 1);
    o = read_recipe(*state, "ddp: {}\nstep_scheduler: {}\n", &options);
    assert_str(facts_str(o.readings.items[0].facts, P_strategy), "ddp");
    o = read_recipe(*state, "fsdp: {pp_size: $PP}\nstep_scheduler: {}\n", &options);
    assert_str(fact_text(*state, o.readings.items[0].facts, "pp"), "unknown");
}

static void classes_tell_what_a_model_offers(void **state)
{
    struct setting set[] = {{.name = STR("model.architecture"),
                             .value = {.kind = VALUE_STRING, .s = {"Qwen3MoeForCausalLM", 19}}}};
    struct read_options options = {.set = set, .n_set = 1};
    struct outcome o = read_recipe(*state, "recipe: FinetuneRecipeForVLM\n", &options);
    const struct facts *f = o.readings.items[0].facts;
    assert_str(fact_text(*state, f, "automodel_moe"), "true");
    assert_str(fact_text(*state, f, "automodel_has_tp_plan"), "false");
    assert_str(fact_text(*state, f, "automodel_is_custom_model"), "true");
    assert_str(fact_text(*state, f, "automodel_supports_sdpa"), "unknown");

    set[0].value.s = STR("MixtralForCausalLM");
    o = read_recipe(*state, "recipe: FinetuneRecipeForVLM\n", &options);
    f = o.readings.items[0].facts;
    assert_str(fact_text(*state, f, "automodel_moe"), "false");
    assert_str(fact_text(*state, f, "automodel_has_tp_plan"), "unknown");

    o = read_recipe(*state, "recipe: FinetuneRecipeForVLM\nmodel: {force_hf: true}\n", &options);
    assert_str(fact_text(*state, o.readings.items[0].facts, "automodel_moe"), "unknown");
}

static void a_described_class_has_what_is_said(void **state)
{
    struct setting set[] = {
        {.name = STR("model.architecture"),
         .value = {.kind = VALUE_STRING, .s = {"MineForCausalLM", 15}}},
        {.name = STR("automodel.is_custom_model"), .value = {.kind = VALUE_BOOL, .b = true}},
        {.name = STR("model.is_moe"), .value = {.kind = VALUE_BOOL, .b = true}},
    };
    struct read_options options = {.set = set, .n_set = 3};
    struct outcome o = read_recipe(*state, "recipe: FinetuneRecipeForVLM\n", &options);
    const struct facts *f = o.readings.items[0].facts;
    assert_str(fact_text(*state, f, "automodel_moe"), "true");
    assert_str(fact_text(*state, f, "automodel_has_backend"), "true");
    assert_str(fact_text(*state, f, "automodel_has_tp_plan"), "false");
    assert_str(fact_text(*state, f, "model_is_hybrid"), "false");
}

static void a_model_id_gives_its_shape_and_the_recipe_overrides_it(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(*state,
                                   "recipe: TrainFinetuneRecipeForNextTokenPrediction\n"
                                   "model:\n"
                                   "  pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\n"
                                   "  num_hidden_layers: 2\n",
                                   &options);
    const struct facts *f = o.readings.items[0].facts;
    assert_str(facts_str(f, P_model_architecture), "Qwen3MoeForCausalLM");
    assert_int_equal(facts_int(f, P_num_moe_experts, 0), 128);
    assert_int_equal(facts_int(f, P_num_layers, 0), 2);
    assert_int_equal(facts_get(f, P_num_layers)->node->line, 4);
}

static void packs_are_the_rows(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(*state,
                                   "recipe: TrainFinetuneRecipeForNextTokenPrediction\n"
                                   "dataset: {seq_length: 512}\n"
                                   "packed_sequence: {packed_sequence_size: 4096}\n",
                                   &options);
    assert_int_equal(facts_int(o.readings.items[0].facts, P_seq_length, 0), 4096);
    o = read_recipe(*state,
                    "recipe: TrainFinetuneRecipeForNextTokenPrediction\n"
                    "dataset: {seq_len: 512}\n"
                    "packed_sequence: {packed_sequence_size: 0}\n",
                    &options);
    assert_int_equal(facts_int(o.readings.items[0].facts, P_seq_length, 0), 512);
}

static void a_schedule_file_must_be_there(void **state)
{
    struct read_options options = {0};
    static const char *const names[] = {SOURCE_DIR "/CMakeLists.txt", "no/such/file.csv",
                                        "/no/such/file.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str text =
            arena_printf(*state,
                         "recipe: FinetuneRecipeForVLM\n"
                         "distributed: {pp_size: 2, pipeline: {pp_schedule_csv: %s}}\n",
                         names[i]);
        struct outcome o = read_recipe(*state, text.p, &options);
        assert_int_equal(finding(&o, "schedule-file-missing") != NULL, i > 0);
    }
}

static void other_documents_are_no_recipes(void **state)
{
    static const struct {
        const char *text;
        bool recipe;
    } cases[] = {
        {"recipe: X\ndistributed: {}\n", true},
        {"moeplan: 1\nframework: automodel\nmodel: x\ndistributed: {}\n", false},
        {"model_type: llama\nnum_hidden_layers: 2\n", false},
        {"- recipe\n- distributed\n", false},
        {"seed: 1\n", false},
    };
    const struct reader *reader = reader_find(STR("automodel"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct node_list docs = {0};
        diags_init(&diags, *state);
        uint32_t source = source_add(&diags.sources, STR("x.yaml"), str_of(cases[i].text));
        assert_true(doc_load_yaml(*state, &diags, source, &docs));
        int score = reader->detect(str_of(cases[i].text), docs.items[0]);
        assert_int_equal(score >= READER_SURE, cases[i].recipe);
    }
}

static void text_that_is_no_mapping_is_an_error(void **state)
{
    struct read_options options = {0};
    struct outcome o = read_recipe(*state, "- a\n- b\n", &options);
    assert_int_equal(o.readings.n, 0);
    assert_non_null(finding(&o, "recipe-syntax"));
}

static void changes_leave_the_document_alone(void **state)
{
    struct diags diags;
    struct node_list docs = {0};
    const char *text = "a: {b: {c: 1}}\nd: 2\n";
    diags_init(&diags, *state);
    uint32_t source = source_add(&diags.sources, STR("x.yaml"), str_of(text));
    assert_true(doc_load_yaml(*state, &diags, source, &docs));
    const struct node *root = docs.items[0], *value = node_get(root, STR("d"));
    const struct node *changed =
        automodel_with(*state, root, STR("a.b.c"), node_get_key(root, STR("d")), value);
    changed = automodel_with(*state, changed, STR("x.y"), node_get_key(root, STR("d")), value);
    assert_str(node_at(changed, STR("a.b.c"))->text, "2");
    assert_str(node_at(changed, STR("x.y"))->text, "2");
    assert_str(node_at(root, STR("a.b.c"))->text, "1");
    assert_null(node_at(root, STR("x.y")));
}

static void endless_paths_change_nothing(void **state)
{
    struct buf path = buf_new(*state);
    for (int i = 0; i < 100000; i++)
        buf_add(&path, STR("a."));
    struct node word = {.kind = NODE_SCALAR, .text = STR("x")}, map = {.kind = NODE_MAP};
    assert_ptr_equal(automodel_with(*state, &map, buf_str(&path), &word, &word), &map);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_become_what_the_mesh_takes),
    cmocka_unit_test(the_last_of_equal_keys_counts),
    cmocka_unit_test(sections_refuse_unknown_keys),
    cmocka_unit_test(misspelt_sections_are_noticed),
    cmocka_unit_test(slips_are_noticed_where_anything_is_taken),
    cmocka_unit_test(values_of_no_type_of_the_key_are_noticed),
    cmocka_unit_test(what_is_not_read_is_not_checked),
    cmocka_unit_test(recipe_classes_have_kinds),
    cmocka_unit_test(kinds_follow_what_is_made),
    cmocka_unit_test(import_paths_need_a_module),
    cmocka_unit_test(variables_are_put_in),
    cmocka_unit_test(without_an_environment_variables_are_unknown),
    cmocka_unit_test(ci_is_a_second_configuration),
    cmocka_unit_test(given_gpus_mean_the_body),
    cmocka_unit_test(recipes_state_their_gpus),
    cmocka_unit_test(comments_show_a_launch_command),
    cmocka_unit_test(a_separate_teacher_is_checked_too),
    cmocka_unit_test(diffusion_sections_are_the_mesh),
    cmocka_unit_test(classes_tell_what_a_model_offers),
    cmocka_unit_test(a_described_class_has_what_is_said),
    cmocka_unit_test(a_model_id_gives_its_shape_and_the_recipe_overrides_it),
    cmocka_unit_test(packs_are_the_rows),
    cmocka_unit_test(a_schedule_file_must_be_there),
    cmocka_unit_test(other_documents_are_no_recipes),
    cmocka_unit_test(paths_of_the_document_are_found),
    cmocka_unit_test(text_that_is_no_mapping_is_an_error),
    cmocka_unit_test(changes_leave_the_document_alone),
    cmocka_unit_test(endless_paths_change_nothing),
};
UNIT_MAIN(tests)
