/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/plan_json.h"

#include "base/num.h"
#include "base/units.h"
#include "emit/documents.h"
#include "emit/emit.h"
#include "facts/model.h"
#include "facts/platform.h"
#include "flow/convert.h"
#include "plan/peft.h"

void plan_json(struct tree *t, cJSON *to, const struct rule_set *rules, const struct facts *f)
{
    tree_value(t, to, "plan", plan_value(t->arena, rules, f));
}

void plan_json_alone(struct arena *a, const struct rule_set *rules, const struct facts *f,
                     struct arena *scratch, struct buf *out)
{
    struct tree t;
    tree_open(&t, a);
    tree_members(&t, t.root, plan_value(a, rules, convert_own(a, rules, f, true, scratch)).map);
    tree_print(&t, out);
}

void assumed_json(struct tree *t, cJSON *to, const struct facts *f)
{
    tree_value(t, to, "assumed",
               f ? emit_assumed(t->arena, f) : value_map_of(t->arena, NULL, NULL, 0));
}

static void add_derived(struct tree *t, cJSON *to, const struct config *c,
                        const struct time_estimate *time)
{
    struct param_counts counts = model_params(&c->model);
    cJSON *object = tree_object(t, to, "derived");
    tree_int(t, object, "dp", knobs_dp(&c->knobs));
    tree_int(t, object, "edp", knobs_edp(&c->knobs));
    tree_int(t, object, "num_microbatches", knobs_microbatches(&c->knobs));
    tree_number(t, object, "bubble_fraction", time->bubble_fraction);
    tree_int(t, object, "total_params", counts.total);
    tree_int(t, object, "active_params", counts.active);
    tree_int(t, object, "trained_params", config_trained_params(c));
}

enum { STAGE_PARTS = 10 };

/* `last`: the parts of the stage before, of which most have the same. */
static void write_stage(struct json_writer *w, int number, const struct stage_memory *s,
                        struct json_figure last[STAGE_PARTS])
{
    const struct {
        const char *name;
        double bytes;
    } parts[STAGE_PARTS] = {{"params_gib", s->params},
                            {"grads_gib", s->grads},
                            {"optimizer_gib", s->optimizer},
                            {"activations_gib", s->activations},
                            {"logits_gib", s->logits},
                            {"buffers_gib", s->buffers},
                            {"graphs_gib", s->graphs},
                            {"total_gib", s->total},
                            {"low_gib", s->low},
                            {"high_gib", s->high}};
    json_open(w, NULL, '{');
    json_int(w, "stage", number);
    for (size_t i = 0; i < STAGE_PARTS; i++)
        json_figure(w, parts[i].name, parts[i].bytes / GIB, &last[i]);
    json_str(w, "phase", (struct str){&s->phase, 1});
    json_close(w, '}');
}

/* Most of an answer's numbers: text at once, which takes a third of what a tree of them does. */
static struct str stages_json(struct arena *a, const struct memory_estimate *m)
{
    struct buf out = buf_new(a);
    struct json_writer w = json_writer_new(&out);
    struct json_figure last[STAGE_PARTS] = {0};
    json_open(&w, NULL, '[');
    for (int i = 0; i < m->n_stages; i++)
        write_stage(&w, i, &m->stages[i], last);
    json_close(&w, ']');
    return buf_str(&out);
}

static void add_memory(struct tree *t, cJSON *to, const struct memory_estimate *m)
{
    cJSON *object = tree_object(t, to, "memory");
    tree_number(t, object, "peak_gib", m->peak / GIB);
    tree_number(t, object, "peak_low_gib", m->peak_low / GIB);
    tree_number(t, object, "peak_high_gib", m->peak_high / GIB);
    tree_number(t, object, "reserved_gib", m->reserved / GIB);
    tree_number(t, object, "capacity_gib", m->capacity / GIB);
    tree_text(t, object, "fits", memory_fits((int)m->fits));
    tree_json(t, object, "stages", stages_json(t->arena, m).p);
}

void figures_json(struct tree *t, cJSON *to, const struct time_estimate *e)
{
    tree_number(t, to, "step_s", e->step);
    tree_number(t, to, "step_low_s", e->low);
    tree_number(t, to, "step_high_s", e->high);
    tree_number(t, to, "tokens_per_s_per_gpu", e->tokens_per_s_per_gpu);
    tree_number(t, to, "model_tflops_per_gpu", e->model_flops_per_gpu / 1e12);
    tree_number(t, to, "mfu", e->mfu);
}

static void add_time(struct tree *t, cJSON *to, const struct time_estimate *e)
{
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"compute_s", e->compute},
                 {"recompute_s", e->recompute},
                 {"ep_exposed_s", e->ep_exposed},
                 {"tp_exposed_s", e->tp_exposed},
                 {"cp_exposed_s", e->cp_exposed},
                 {"pp_exposed_s", e->pp_exposed},
                 {"dp_exposed_s", e->dp_exposed},
                 {"bubble_s", e->bubble},
                 {"host_s", e->host},
                 {"optimizer_s", e->optimizer}};
    cJSON *object = tree_object(t, to, "time");
    figures_json(t, object, e);
    cJSON *breakdown = tree_object(t, object, "breakdown");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tree_number(t, breakdown, parts[i].name, parts[i].seconds);
}

static void add_evidence(struct tree *t, cJSON *to, const struct evidence *e)
{
    static const char *const grades[] = {"modelled", "interpolated", "measured"};
    cJSON *object = tree_object(t, to, "evidence");
    tree_text(t, object, "class", grades[e->grade]);
    cJSON *nearest = tree_list(t, object, "nearest");
    for (size_t i = 0; i < e->n; i++) {
        cJSON *run = tree_object(t, nearest, NULL);
        tree_str(t, run, "id", e->nearest[i].id);
        tree_number(t, run, "distance", e->nearest[i].distance);
        tree_str(t, run, "source", e->nearest[i].source);
    }
}

void estimate_json(struct tree *t, cJSON *to, const struct rule_set *rules, const struct facts *f,
                   const struct config *c, const struct memory_estimate *memory,
                   const struct time_estimate *time, const struct evidence *evidence)
{
    plan_json(t, to, rules, f);
    assumed_json(t, to, f);
    add_derived(t, to, c, time);
    add_memory(t, to, memory);
    add_time(t, to, time);
    documents_json(t, to, c);
    add_evidence(t, to, evidence);
}

void refusal_json(struct tree *t, cJSON *to, const struct refusal *r)
{
    if (!r->errors) {
        tree_value(t, to, "refused", value_null());
        return;
    }
    cJSON *object = tree_object(t, to, "refused");
    tree_int(t, object, "errors", (int64_t)r->errors);
    tree_str(t, object, "rule", r->rule);
    tree_str(t, object, "message", r->message);
}

void refusal_json_member(struct json_writer *w, const struct refusal *r)
{
    if (!r->errors) {
        json_null(w, "refused");
        return;
    }
    json_open(w, "refused", '{');
    json_int(w, "errors", (int64_t)r->errors);
    json_str(w, "rule", r->rule);
    json_str(w, "message", r->message);
    json_close(w, '}');
}
