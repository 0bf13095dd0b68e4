/* SPDX-License-Identifier: Apache-2.0 */
/* estimate: recipe -> facts -> configuration -> memory and time -> screen or JSON. */
#include "flow/estimate.h"
#include "base/io.h"
#include "cmd/documents.h"
#include "cmd/load.h"
#include "cmd/member.h"
#include "cmd/refused.h"
#include "cmd/vary.h"
#include "cmd/wishes.h"
#include "emit/bill.h"
#include "emit/plan_json.h"
#include "emit/report.h"
#include "emit/screen.h"
#include "facts/param_ids.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static struct bill bill_for(const struct bill_wish *wish, const struct estimate *e)
{
    return wish_bill(wish, e->facts->platform, &e->config.knobs, &e->time);
}

static void result_json(struct tree *t, cJSON *to, const struct rule_set *rules,
                        const struct estimate *e, const struct bill_wish *wish)
{
    estimate_json(t, to, rules, e->facts, &e->config, &e->memory, &e->time, &e->evidence);
    refusal_json(t, to, &e->refusal);
    if (!bill_wanted(wish)) return;
    struct bill bill = bill_for(wish, e);
    bill_json(t, to, &bill);
}

/* ---- the command ---- */

static void show_changes(struct cmd_context *c, const struct rule_set *rules,
                         const struct estimate *e)
{
    struct memory_change changes[WHATIF_CHANGES];
    if (e->memory.fits == FITS_YES) return;
    int n = estimate_changes(c->keep, rules, e, c->scratch, changes);
    screen_changes(c->keep, &e->config, changes, n, &c->out);
}

static void show_terms(const struct estimate_terms *terms, int width, struct buf *out)
{
    buf_add_char(out, '\n');
    screen_terms(&terms->memory, "memory, every term", true, width, out);
    buf_add_char(out, '\n');
    screen_terms(&terms->time, "time, every term", false, width, out);
}

static void show_text(struct cmd_context *c, const struct service *service,
                      const struct estimate *e)
{
    refused_text(c, c->arguments[0], &e->refusal, &c->out);
    screen_model(&e->config.model, &c->out);
    screen_notes(e->facts->model, &c->out);
    screen_machine(c->keep, &e->config, &c->out);
    screen_program(e->facts, &c->out);
    screen_assumed(e->facts, &c->out);
    screen_platform_notes(c->keep, e->facts->platform, &c->out);
    buf_add_char(&c->out, '\n');
    screen_plan(c->keep, &e->config, &c->out);
    buf_add_char(&c->out, '\n');
    screen_memory(&e->memory, &c->out);
    screen_modules(&e->config, &e->memory, &c->out);
    show_changes(c, service->rules, e);
    buf_add_char(&c->out, '\n');
    screen_time(&e->time, &c->out);
    screen_evidence(&e->evidence, &c->out);
    if (!bill_wanted(service->wish)) return;
    struct bill bill = bill_for(service->wish, e);
    buf_add_char(&c->out, '\n');
    bill_screen(&bill, &c->out);
}

/* One document of JSON, whatever the file holds: its first configuration, and in it the others. */
struct json_answer {
    struct tree tree;
    bool open;
    cJSON *others; /* NULL: there are none yet */
};

static cJSON *answer_next(struct json_answer *x, struct arena *a)
{
    if (!x->open) {
        tree_open(&x->tree, a);
        x->open = true;
        return x->tree.root;
    }
    if (!x->others) x->others = tree_list(&x->tree, x->tree.root, "other_configurations");
    return tree_object(&x->tree, x->others, NULL);
}

static int estimate_one(struct cmd_context *c, const struct service *service,
                        const struct reading *reading, struct json_answer *json)
{
    struct estimate *e = ARENA_NEW(c->keep, struct estimate);
    struct estimate_terms terms;
    bool explain = option_given(c, "explain");
    struct str label = reading->label; /* which of several it is; empty: it is the only one */
    if (!estimate_reading(c->keep, service->rules, reading, c->scratch, e, explain ? &terms : NULL))
        return STATUS_CANNOT;
    if (json) {
        cJSON *to = answer_next(json, c->keep);
        if (label.n) tree_str(&json->tree, to, "configuration", label);
        result_json(&json->tree, to, service->rules, e, service->wish);
    } else {
        if (c->out.n > 0) buf_add_char(&c->out, '\n');
        if (label.n > 0) buf_printf(&c->out, "%.*s\n", STR_ARG(label));
        show_text(c, service, e);
        if (explain) show_terms(&terms, c->view.width, &c->out);
    }
    return refused_status(e->refusal.errors, (int)e->memory.fits);
}

static int estimate_all(struct cmd_context *c, const struct service *service,
                        const struct readings *all, bool json)
{
    struct json_answer answer = {0};
    int worst = STATUS_OK;
    for (size_t i = 0; i < all->n; i++) {
        int status = estimate_one(c, service, &all->items[i], json ? &answer : NULL);
        if (status > worst) worst = status;
    }
    if (!answer.open) return worst;
    tree_print(&answer.tree, &c->out);
    buf_add_char(&c->out, '\n');
    return worst;
}

/* --documents, settings by another name: what they are follows from the recipe's sequence. False
   with a usage error. */
static bool set_documents(struct cmd_context *c, struct read_options *o, struct str path,
                          struct str text)
{
    enum { USUAL_SEQUENCE = 4096 };
    struct documents documents;
    struct recipe recipe;
    struct diags quiet;
    bool given;
    if (!documents_given(c, &given, &documents)) return false;
    if (!given) return true;
    diags_init(&quiet, c->keep);
    int64_t seq = 0;
    if (estimate_read(c->keep, &quiet, path, text, option_value(c, "as"), o, &recipe))
        seq = facts_int(recipe.readings.items[0].facts, P_seq_length, 0);
    struct setting *all = ARENA_ARRAY(c->keep, struct setting, o->n_set + DOCUMENT_SETTINGS);
    for (size_t i = 0; i < o->n_set; i++)
        all[i] = o->set[i];
    documents_settings(&documents, seq > 0 ? seq : USUAL_SEQUENCE, all + o->n_set);
    o->set = all;
    o->n_set += DOCUMENT_SETTINGS;
    return true;
}

static int estimate_file(struct cmd_context *c, const struct service *service,
                         struct read_options *options, enum format format)
{
    struct str text, error, path = str_dup(c->keep, c->arguments[0]), as = option_value(c, "as");
    struct recipe recipe;
    if (!io_read(c->keep, path.p, &text, &error)) return load_failed(c, path, error);
    if (!set_documents(c, options, path, text)) return STATUS_CANNOT;
    if (option_given(c, "sweep") || format == FORMAT_CSV) return vary_run(c, service, path, text);
    if (!estimate_read(c->keep, &c->diags, path, text, as, service->options, &recipe) ||
        !recipe_settings_used(c, service->options))
        return STATUS_CANNOT;
    return estimate_all(c, service, &recipe.readings, format == FORMAT_JSON);
}

/* ---- batches ---- */

static void answer_diags(const struct batch_request *r)
{
    diags_sort(r->diags);
    struct str first = STR("the request cannot be answered");
    for (size_t i = 0; i < r->diags->n; i++)
        if (r->diags->items[i].severity == SEVERITY_ERROR) {
            first = r->diags->items[i].message;
            break;
        }
    batch_error(r, first);
    struct file_report report = {.status = FILE_INVALID, .diags = r->diags};
    report_json_members(&report, r->out);
}

/* The plan of the request as a text of its own, or the text it carries. */
static bool request_text(const struct batch_request *r, struct str *text, struct str *as)
{
    const struct node *plan = node_get(r->root, STR("plan"));
    if (plan && plan->kind == NODE_MAP) {
        *text = str_slice(source_get(&r->diags->sources, plan->source)->text, plan->from, plan->to);
        *as = STR("plan");
        return true;
    }
    *text = member_text(r->root, "text");
    *as = member_text(r->root, "as");
    return node_get(r->root, STR("text")) != NULL;
}

static const struct member members[] = {
    {"id", MEMBER_ANY, P_NONE},
    {"plan", MEMBER_MAP, P_NONE},
    {"text", MEMBER_TEXT, P_NONE},
    {"as", MEMBER_TEXT, P_NONE},
    {"gpus", MEMBER_NUMBER, P_world_size},
    {"platform", MEMBER_TEXT, P_NONE},
    WISH_MEMBERS,
    {0},
};

/* The text to estimate, and the request's options over those of the command line; false with *why
   set. */
static bool read_request(const struct batch_request *request, struct read_options *options,
                         struct str *text, struct str *as, struct str *why)
{
    const struct node *root = request->root;
    if (!members_check(request, root, "", members, why)) return false;
    *why = STR("the request has neither plan nor text");
    if (!request_text(request, text, as)) return false;
    *why = STR("the request has both plan and text");
    if (member_text(root, "text").n && text->p != member_text(root, "text").p) return false;
    *why = arena_printf(request->arena, "no format \"%.*s\"", STR_ARG(*as));
    if (as->n > 0 && !reader_find(*as)) return false;
    int64_t gpus = member_number(request, root, "gpus");
    struct str platform = member_text(root, "platform");
    if (gpus) options->gpus = gpus;
    if (platform.n > 0) options->platform = platform;
    return true;
}

void estimate_answer(const struct batch_request *r)
{
    const struct rule_set *rules = r->service->rules;
    struct read_options options = batch_options(r);
    struct estimate *e = arena_room(r->arena, sizeof *e);
    struct bill_wish wish = *r->service->wish;
    struct recipe recipe;
    struct tree tree;
    struct str text, as, why;
    if (!read_request(r, &options, &text, &as, &why) || !wishes_asked(r, r->root, &wish, &why)) {
        batch_error(r, why);
        return;
    }
    if (!estimate_read(r->arena, r->diags, STR("request"), text, as, &options, &recipe) ||
        !estimate_reading(r->arena, rules, &recipe.readings.items[0], r->scratch, e, NULL)) {
        answer_diags(r);
        return;
    }
    why = settings_error(r->arena, &options);
    if (why.n) {
        batch_error(r, why);
        return;
    }
    tree_open(&tree, r->arena);
    result_json(&tree, tree.root, rules, e, &wish);
    tree_print_members(&tree, r->out);
}

static int run(struct cmd_context *c)
{
    struct read_options options;
    struct bill_wish wish = {0};
    struct service service = {.options = &options, .wish = &wish};
    int format;
    if (!option_choice(c, "format", &format) || !recipe_options(c, &options) ||
        !recipe_as(c, option_value(c, "as"), RECIPE_FORMATS) || !wishes_given(c, &wish) ||
        !cmd_load_rules(c, &service.rules))
        return STATUS_CANNOT;
    if (option_given(c, "batch")) return batch_run(c, estimate_answer, &service, 1);
    return estimate_file(c, &service, &options, (enum format)format);
}

static const struct option options[] = {
    RECIPE_OPTIONS(RECIPE_FORMATS),
    {"sweep", "NAME=VALUES",
     "what if, as a table: mbs=1,2,4 or seq=4096..65536 (doublings); repeatable: all combinations"},
    {"format", "text|json|csv", "how to print"},
    {"explain", NULL, "print every term with its numbers"},
    DOCUMENTS_OPTION,
    {"reserve-memory", "GIB", "memory of each GPU that something else holds: an inference engine"},
    WISH_OPTIONS,
    {0},
};

const struct command command_estimate = {
    .name = "estimate",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "plan.yaml\nlaunch.sh --gpus 64 --platform h100 --explain",
    .help = "Memory of every pipeline stage, step time and throughput of a plan or recipe",
    .details = "FILE is a plan file or any recipe that validate reads; - is standard input. What "
               "the file does not say\n"
               "comes from --gpus, --platform, --model and --set. Memory is what "
               "torch.cuda.max_memory_allocated\n"
               "would report; intervals are meant to hold 9 runs of 10. Exit 1 when the plan would "
               "be refused\n"
               "(it is estimated as if it ran) or does not fit.\n",
    .options = options,
    .loads_rules = true,
    .reads_batch = true,
    .run = run,
};
