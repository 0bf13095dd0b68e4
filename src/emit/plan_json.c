/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan_json.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/units.h"
#include "emit/emit.h"
#include "facts/model.h"
#include "facts/platform.h"

void tree_print(struct buf *out, cJSON *tree)
{
    char *text = cJSON_PrintUnformatted(tree);
    buf_add(out, str_of(text));
    cJSON_free(text);
    cJSON_Delete(tree);
}

void tree_print_members(struct buf *out, cJSON *tree)
{
    size_t open = out->n;
    tree_print(out, tree);
    out->p[open] = ',';
    out->n--;
}

static cJSON *tree_str(struct arena *a, struct str s)
{
    return cJSON_CreateString(str_dup(a, s).p);
}

static cJSON *tree_int(struct arena *a, int64_t i)
{
    if (i <= (int64_t)1 << 53 && i >= -((int64_t)1 << 53)) return cJSON_CreateNumber((double)i);
    return cJSON_CreateRaw(arena_printf(a, "%" PRId64, i).p);
}

static cJSON *tree_value(struct arena *a, struct value v);

static cJSON *tree_list(struct arena *a, const struct value_list *list)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < list->n; i++)
        cJSON_AddItemToArray(array, tree_value(a, list->items[i]));
    return array;
}

static cJSON *tree_map(struct arena *a, const struct value_map *map)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < map->n; i++)
        cJSON_AddItemToObject(object, value_text(a, map->keys[i]).p, tree_value(a, map->values[i]));
    return object;
}

/* A double keeps its point, so that it reads back as one. */
static cJSON *tree_double(struct arena *a, double d)
{
    if (!isfinite(d)) return cJSON_CreateNull();
    return cJSON_CreateRaw(emit_scalar(a, value_double(d)).p);
}

/* Unknown and errors are null. Integers beyond 2^53 keep all their digits. */
static cJSON *tree_value(struct arena *a, struct value v)
{
    switch (v.kind) {
    case VALUE_UNKNOWN:
    case VALUE_ERROR:
    case VALUE_NULL: return cJSON_CreateNull();
    case VALUE_BOOL: return cJSON_CreateBool(v.b);
    case VALUE_INT: return tree_int(a, v.i);
    case VALUE_UINT: return tree_int(a, (int64_t)v.u);
    case VALUE_DOUBLE: return tree_double(a, v.d);
    case VALUE_STRING: return tree_str(a, v.s);
    case VALUE_LIST: return tree_list(a, v.list);
    case VALUE_MAP: return tree_map(a, v.map);
    }
    return cJSON_CreateNull();
}

static cJSON *tree_model(struct arena *a, const struct model_input *m)
{
    if (m->id.n) return tree_str(a, m->id);
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < m->fields.n; i++) {
        const char *name = param_table[m->fields.items[i].param].name.p;
        cJSON_AddItemToObject(object, strcmp(name, "model_name") == 0 ? "name" : name,
                              tree_value(a, m->fields.items[i].value));
    }
    return object;
}

/* Sizes that readers of a plan look for even where they are a framework's default. */
static void add_sizes(struct arena *a, const struct facts *f, cJSON *plan)
{
    static const char *const symbols[] = {"gpus", "tp",  "pp",  "cp", "ep",
                                          "etp",  "mbs", "gbs", "seq"};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        struct value v = facts_get(f, symbols[i])->value;
        if (v.kind == VALUE_INT) cJSON_AddItemToObject(plan, symbols[i], tree_value(a, v));
    }
}

cJSON *tree_plan(struct arena *a, const struct facts *f)
{
    cJSON *plan = cJSON_CreateObject();
    cJSON_AddNumberToObject(plan, "moeplan", 1);
    cJSON_AddStringToObject(plan, "framework", framework_name(f->framework));
    if (f->model) cJSON_AddItemToObject(plan, "model", tree_model(a, f->model));
    if (f->platform) cJSON_AddItemToObject(plan, "platform", tree_str(a, f->platform->id));
    add_sizes(a, f, plan);
    int *params;
    size_t n = emit_params(a, f, &params);
    for (size_t i = 0; i < n; i++) {
        const struct param *p = &param_table[params[i]];
        const char *name = p->symbol.n ? p->symbol.p : p->name.p;
        if (p->scope == SCOPE_MODEL || cJSON_HasObjectItem(plan, name)) continue;
        cJSON_AddItemToObject(plan, name, tree_value(a, f->items[params[i]].value));
    }
    return plan;
}

static cJSON *tree_derived(struct arena *a, const struct config *c,
                           const struct time_estimate *time)
{
    struct param_counts counts = model_params(&c->model);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "dp", tree_int(a, knobs_dp(&c->knobs)));
    cJSON_AddItemToObject(object, "edp", tree_int(a, knobs_edp(&c->knobs)));
    cJSON_AddItemToObject(object, "num_microbatches", tree_int(a, knobs_microbatches(&c->knobs)));
    cJSON_AddNumberToObject(object, "bubble_fraction", time->bubble_fraction);
    cJSON_AddItemToObject(object, "total_params", tree_int(a, counts.total));
    cJSON_AddItemToObject(object, "active_params", tree_int(a, counts.active));
    return object;
}

static cJSON *tree_stage(int number, const struct stage_memory *s)
{
    const struct {
        const char *name;
        double bytes;
    } parts[] = {{"params_gib", s->params},
                 {"grads_gib", s->grads},
                 {"optimizer_gib", s->optimizer},
                 {"activations_gib", s->activations},
                 {"logits_gib", s->logits},
                 {"buffers_gib", s->buffers},
                 {"graphs_gib", s->graphs},
                 {"total_gib", s->total},
                 {"low_gib", s->low},
                 {"high_gib", s->high}};
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "stage", number);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cJSON_AddNumberToObject(object, parts[i].name, parts[i].bytes / GIB);
    cJSON_AddStringToObject(object, "phase", (const char[]){s->phase, '\0'});
    return object;
}

static cJSON *tree_memory(const struct memory_estimate *m)
{
    static const char *const verdicts[] = {"yes", "tight", "no"};
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "peak_gib", m->peak / GIB);
    cJSON_AddNumberToObject(object, "peak_low_gib", m->peak_low / GIB);
    cJSON_AddNumberToObject(object, "peak_high_gib", m->peak_high / GIB);
    cJSON_AddNumberToObject(object, "reserved_gib", m->reserved / GIB);
    cJSON_AddNumberToObject(object, "capacity_gib", m->capacity / GIB);
    cJSON_AddStringToObject(object, "fits", verdicts[m->fits]);
    cJSON *stages = cJSON_AddArrayToObject(object, "stages");
    for (int i = 0; i < m->n_stages; i++)
        cJSON_AddItemToArray(stages, tree_stage(i, &m->stages[i]));
    return object;
}

static cJSON *tree_time(const struct time_estimate *t)
{
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"compute_s", t->compute},
                 {"recompute_s", t->recompute},
                 {"ep_exposed_s", t->ep_exposed},
                 {"tp_exposed_s", t->tp_exposed},
                 {"cp_exposed_s", t->cp_exposed},
                 {"pp_exposed_s", t->pp_exposed},
                 {"dp_exposed_s", t->dp_exposed},
                 {"bubble_s", t->bubble},
                 {"host_s", t->host},
                 {"optimizer_s", t->optimizer}};
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "step_s", t->step);
    cJSON_AddNumberToObject(object, "step_low_s", t->low);
    cJSON_AddNumberToObject(object, "step_high_s", t->high);
    cJSON_AddNumberToObject(object, "tokens_per_s_per_gpu", t->tokens_per_s_per_gpu);
    cJSON_AddNumberToObject(object, "model_tflops_per_gpu", t->model_flops_per_gpu / 1e12);
    cJSON_AddNumberToObject(object, "mfu", t->mfu);
    cJSON *breakdown = cJSON_AddObjectToObject(object, "breakdown");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cJSON_AddNumberToObject(breakdown, parts[i].name, parts[i].seconds);
    return object;
}

static cJSON *tree_evidence(struct arena *a, const struct evidence *e)
{
    static const char *const grades[] = {"modelled", "interpolated", "measured"};
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "class", grades[e->grade]);
    cJSON *nearest = cJSON_AddArrayToObject(object, "nearest");
    for (size_t i = 0; i < e->n; i++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToObject(run, "id", tree_str(a, e->nearest[i].id));
        cJSON_AddNumberToObject(run, "distance", e->nearest[i].distance);
        cJSON_AddItemToObject(run, "source", tree_str(a, e->nearest[i].source));
        cJSON_AddItemToArray(nearest, run);
    }
    return object;
}

cJSON *tree_estimate(struct arena *a, const struct facts *f, const struct config *c,
                     const struct memory_estimate *memory, const struct time_estimate *time,
                     const struct evidence *evidence)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "plan", tree_plan(a, f));
    cJSON_AddItemToObject(object, "derived", tree_derived(a, c, time));
    cJSON_AddItemToObject(object, "memory", tree_memory(memory));
    cJSON_AddItemToObject(object, "time", tree_time(time));
    cJSON_AddItemToObject(object, "evidence", tree_evidence(a, evidence));
    return object;
}
