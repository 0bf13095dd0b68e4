/* SPDX-License-Identifier: Apache-2.0 */
/* NeMo AutoModel recipes. Values read as the framework's loader reads them: PyYAML's scalars, then
   Python literals in strings, then the coercions of each key. */
#include "base/buf.h"
#include "base/io.h"
#include "base/reach.h"
#include "facts/automodel.h"
#include "facts/bridge.h"
#include "facts/param_ids.h"
#include "facts/program_kind.h"
#include "facts/words.h"

/* A section alone may be anybody's: taken where the format is said. */
enum { PART = 10 };

/* A tokenizer's vocabulary has every word as a key, and numbers behind them. */
static bool has_section(const struct node *doc)
{
    for (size_t i = 0; i < doc->n; i++)
        if (doc->items[i]->kind == NODE_MAP) return true;
    return false;
}

/* Whether a section that others have too, under the same name, is no AutoModel's: most of its keys
   are not, and the model has no class. A size such as tp_size is everybody's word. */
static bool is_of_other(const struct node *doc)
{
    const struct node *distributed = node_get(doc, STR("distributed"));
    const struct node *model = node_get(doc, STR("model"));
    bool class = model && model->kind == NODE_MAP && node_get(model, STR("_target_"));
    if (class || !distributed || distributed->kind != NODE_MAP || !distributed->n) return false;
    size_t own = 0;
    for (size_t i = 0; i < distributed->n; i++)
        own += automodel_section_has(STR("distributed"), distributed->keys[i]->text);
    bool sections = node_get(doc, STR("step_scheduler")) || node_get(doc, STR("recipe"));
    return 2 * own < distributed->n && !sections;
}

static int detect(struct str text, const struct node *doc)
{
    static const struct {
        const char *first, *second; /* sections */
        int score;
    } signs[] = {
        {"recipe", "distributed", 95},
        {"recipe", "step_scheduler", 95},
        {"recipe", "recipe_args", 95},
        {"recipe", "model", 80},
        {"distributed", "model", 85},
        {"distributed", "step_scheduler", 85},
        {"distributed", "recipe_args", 85},
        {"step_scheduler", "model", 70},
        {"fsdp", "step_scheduler", 75},
        {"ddp", "step_scheduler", 75},
        {"step_scheduler", "dataset", 70},
        {"distributed", "distributed", PART},
        {"step_scheduler", "step_scheduler", PART},
    };
    (void)text;
    int best = 0;
    if (!doc || doc->kind != NODE_MAP || node_get(doc, STR("moeplan")) || bridge_target(doc).n)
        return 0;
    if (program_kind_laid_over(doc)) return 0; /* a part of what another program puts together */
    const struct node *recipe = node_get(doc, STR("recipe"));
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (signs[i].score <= best) continue;
        const struct node *first = node_get(doc, str_of(signs[i].first));
        bool both = first && node_get(doc, str_of(signs[i].second));
        if (both && first == recipe && bridge_is_arguments(recipe)) continue;
        if (both) best = signs[i].score;
    }
    return best && has_section(doc) && !is_of_other(doc) ? best : 0;
}

struct walk {
    struct facts *f;
    struct buf path;
};

static void set_from(struct facts *f, struct str key, const struct node *node)
{
    int param = param_find_key(FRAMEWORK_AUTOMODEL, key, NULL);
    if (param < 0) return;
    struct value written =
        f->raw.n ? facts_raw(f, key) : node_value(f->arena, node, SCALAR_AUTOMODEL);
    automodel_check_type(f, param, key, written, node);
    facts_set(f, param, automodel_coerce(f->arena, param, key, written), ORIGIN_FILE, node,
              param_table[param].in[FRAMEWORK_AUTOMODEL]->key);
}

/* Goes down to a part; the caller goes back up to where the path was. */
static struct str step(struct walk *w, struct str part)
{
    if (w->path.n) buf_add_char(&w->path, '.');
    buf_add(&w->path, part);
    struct str path = buf_str(&w->path);
    facts_note_path(w->f, path);
    return path;
}

/* Parts of a list are no parameters; rules may ask for them all the same. */
static void note_below(struct walk *w, const struct node *node)
{
    enum { MOST = 32 };
    size_t before = w->path.n;
    if (node->n > MOST) facts_note_any_path(w->f);
    for (size_t i = 0; i < node->n && i < MOST; i++) {
        bool map = node->kind == NODE_MAP;
        step(w, map ? node->keys[i]->text : arena_printf(w->f->arena, "%zu", i));
        note_below(w, node->items[i]);
        w->path.n = before;
    }
}

/* Mappings are parameters too (distributed.pipeline), and so are what they hold. */
static void set_below(struct walk *w, const struct node *map)
{
    for (size_t i = 0; i < map->n; i++) {
        size_t before = w->path.n;
        const struct node *item = map->items[i];
        if (node_is_shadowed(map, i)) continue;
        set_from(w->f, step(w, map->keys[i]->text), item);
        if (item->kind == NODE_MAP) set_below(w, item);
        if (item->kind == NODE_LIST) note_below(w, item);
        w->path.n = before;
    }
}

static void set_derived(struct facts *f, int param, struct value v)
{
    facts_set(f, param, v, ORIGIN_DERIVED, NULL, (struct str){"", 0});
}

/* The sizes of the two meshes of a distillation with separate GPUs; unknown where one is not
   stated. */
static struct value mesh_size(struct facts *f, const char *section)
{
    static const char *const sizes[] = {"dp_size", "tp_size", "cp_size", "pp_size"};
    int64_t product = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct str key = arena_printf(f->arena, "%s.%s", section, sizes[i]);
        struct value v = facts_has_raw(f, key) ? facts_raw(f, key) : value_null();
        if (v.kind == VALUE_NULL && i > 0) v = value_int(1);
        if (v.kind != VALUE_INT || __builtin_mul_overflow(product, v.i, &product))
            return value_unknown();
    }
    return value_int(product);
}

/* With packing a training row is a pack, however long a sample may be. */
static void set_row_length(struct facts *f)
{
    static const int packs[] = {P_packed_sequence_size, P_pack_size};
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        const struct fact *pack = facts_get(f, packs[i]);
        if (pack->value.kind == VALUE_INT && pack->value.i > 0)
            facts_set(f, P_seq_length, pack->value, ORIGIN_FILE, pack->node, pack->written);
    }
}

/* A section peft trains adapters alone, whatever the recipe class. */
static void set_task(struct facts *f)
{
    const struct node *peft = node_get(f->document, STR("peft"));
    if (!peft || peft->kind != NODE_MAP) return;
    bool dora = facts_bool(f, P_peft_use_dora, false);
    facts_set(f, P_task, value_string(STR("peft")), ORIGIN_FILE, peft, STR("peft"));
    facts_set(f, P_peft_scheme, value_string(dora ? STR("dora") : STR("lora")), ORIGIN_FILE, peft,
              STR("peft.use_dora"));
}

/* Whether a file that the text names is missing. One outside of the text's reach is not opened, but
   asked for: AutoModel stops without it. */
static bool is_missing(const struct facts *f, struct str name)
{
    struct str path, real, text = source_get(&f->diags->sources, f->source)->path;
    struct reach reach = reach_of_file(f->arena, text);
    enum reach_verdict verdict = reach_find(f->arena, &reach, name, &path, &real);
    if (verdict == REACH_FOUND) return !io_is_file(real.p);
    return verdict == REACH_NOTHING || (name.p[0] == '/' && !io_is_file(str_dup(f->arena, name).p));
}

/* A schedule file replaces the named schedule and is opened when the model is split. */
static void check_schedule_file(struct facts *f)
{
    struct str path = facts_str(f, P_pp_schedule_csv);
    const struct node *node = facts_get(f, P_pp_schedule_csv)->node;
    if (!path.n || !node || facts_int(f, P_pipeline_model_parallel_size, 1) < 2) return;
    if (!is_missing(f, path)) return;
    struct diag *d = diag_add(f->diags, SEVERITY_ERROR, "schedule-file-missing",
                              node_span(f->diags, node), "there is no file %.*s", STR_ARG(path));
    diag_note(f->diags, d,
              "looked for from the folder of this file, and from the root of its repository");
    d->parameter = param_name(P_pp_schedule_csv);
}

static struct facts *read_variant(struct arena *a, struct diags *diags, uint32_t source,
                                  const struct automodel_variant *v,
                                  const struct read_options *options)
{
    struct facts *f =
        reader_facts(a, diags, source, FRAMEWORK_AUTOMODEL, STR("automodel"), STR(""), options);
    read_options_env(f, options); /* the loader puts variables into the values */
    struct str kind = v->kind.n ? v->kind : automodel_kind(f, v->recipe);
    f->document = automodel_normalise(f, v->recipe, kind);
    set_derived(f, P_recipe_kind, value_string(kind));
    facts_begin_paths(f);
    set_below(&(struct walk){f, buf_new(a)}, f->document);
    set_row_length(f);
    set_task(f);
    set_derived(f, P_student_mesh_size, mesh_size(f, "distributed"));
    set_derived(f, P_teacher_mesh_size, mesh_size(f, "teacher_distributed"));
    if (v->gpus)
        facts_set(f, P_world_size, value_int(v->gpus), ORIGIN_FILE, v->gpus_node, v->gpus_written);
    f->world_guessed = v->gpus_guessed;
    int64_t documented = automodel_documented_gpus(source_get(&diags->sources, source)->text);
    if (documented && !v->kind.n) set_derived(f, P_documented_gpus, value_int(documented));
    automodel_check_targets(f, v->recipe);
    words_check(f, v->recipe);
    automodel_check_sections(f, kind);
    check_schedule_file(f);
    if (!v->kind.n) automodel_model_facts(f);
    return f;
}

static bool read(struct arena *a, struct diags *diags, uint32_t source, const struct node *doc,
                 const struct read_options *options, struct readings *out)
{
    struct automodel_variants variants = {0};
    if (!doc || doc->kind != NODE_MAP) {
        struct span at = {.source = source};
        diag_add(diags, SEVERITY_ERROR, "recipe-syntax", doc ? node_span(diags, doc) : at,
                 "an AutoModel recipe is a mapping of sections");
        return false;
    }
    automodel_variants(a, doc, options->gpus, &variants);
    for (size_t i = 0; i < variants.n; i++) {
        const struct automodel_variant *v = &variants.items[i];
        struct reading *r = VEC_PUSH(a, out);
        r->facts = read_variant(a, diags, source, v, options);
        r->label = v->label;
    }
    return true;
}

const struct reader reader_automodel = {.name = "automodel", .detect = detect, .read = read};
