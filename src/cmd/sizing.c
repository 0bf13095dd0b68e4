/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sizing.h"

#include "cmd/member.h"

/* What lists the sizes, the platforms and the batches; empty: one platform, one batch. */
struct lists {
    struct str gpus, platforms, batches;
};

static bool is_list(struct str text)
{
    return str_find(text, ',') < text.n || str_find_str(text, STR("..")) < text.n;
}

/* ---- reading ---- */

static bool read_sizes(struct arena *a, struct str text, struct sizing_ask *out, struct str *why)
{
    if (!text.n || str_is(text, "min")) {
        *VEC_PUSH(a, &out->gpus) = 0;
        return true;
    }
    *why = arena_printf(a, SIZES_WANTED, SIZING_MOST, STR_ARG(text));
    if (!range_read(a, text, SIZING_MOST, &out->gpus)) return false;
    *why = arena_printf(a, "gpus must be at most %d", SUGGEST_MOST_GPUS);
    for (size_t i = 0; i < out->gpus.n; i++)
        if (out->gpus.items[i] > SUGGEST_MOST_GPUS) return false;
    return true;
}

static bool read_batches(struct arena *a, struct str text, struct sizing_ask *out, struct str *why)
{
    struct int_list ends = {0};
    *why = STR("gbs-range must be two numbers of sequences such as 1024..8192");
    if (!text.n) return true;
    if (!range_read(a, text, SIZING_MOST, &ends) || str_find(text, ',') < text.n) return false;
    out->gbs_low = ends.items[0];
    out->gbs_high = ends.items[ends.n - 1];
    *why = STR("gbs and gbs-range exclude each other");
    return !out->asks->gbs;
}

static bool read_platforms(struct arena *a, struct diags *diags, struct platform_cache *cache,
                           struct str list, struct sizing_ask *out)
{
    VEC(const struct platform *) all = {0};
    struct str one;
    while (str_split(&list, ',', &one)) {
        const struct platform *p =
            platform_load(cache, diags, str_dup(a, str_trim(one)), (struct span){0});
        if (!p) return false;
        *VEC_PUSH(a, &all) = p;
    }
    out->platforms = all.items;
    out->n_platforms = all.n;
    return true;
}

static bool read_lists(struct arena *a, const struct lists *lists, struct sizing_ask *out,
                       struct str *why)
{
    return read_sizes(a, lists->gpus, out, why) && read_batches(a, lists->batches, out, why);
}

static bool too_many(struct arena *a, const struct sizing_ask *ask, struct str *why)
{
    *why = arena_printf(a, "these are %zu questions; at most %d are answered at once",
                        ask->n_asks * ask->gpus.n * ask->n_platforms, SIZING_MOST);
    return ask->n_asks * ask->gpus.n * ask->n_platforms > SIZING_MOST;
}

/* ---- the command ---- */

static struct lists given_lists(const struct cmd_context *c)
{
    return (struct lists){option_value(c, "gpus"), option_value(c, "platform"),
                          option_value(c, "gbs-range")};
}

static bool lists_wanted(const struct lists *l)
{
    return is_list(l->gpus) || str_find(l->platforms, ',') < l->platforms.n || l->batches.n;
}

bool sizing_wanted(const struct cmd_context *c)
{
    struct lists lists = given_lists(c);
    struct str task = option_value(c, "task");
    return lists_wanted(&lists) || str_find(task, ',') < task.n ||
           str_is(option_value(c, "format"), "csv");
}

static bool read_command(struct cmd_context *c, struct sizing_ask *out)
{
    struct lists lists = given_lists(c);
    struct platform_cache *cache = ARENA_NEW(c->keep, struct platform_cache);
    struct str why;
    cache->arena = c->keep;
    if (!read_lists(c->keep, &lists, out, &why))
        return cmd_usage_error(c, "--%.*s", STR_ARG(why)), false;
    if (!read_platforms(c->keep, &c->diags, cache, lists.platforms, out)) return false;
    if (too_many(c->keep, out, &why)) return cmd_usage_error(c, "%.*s", STR_ARG(why)), false;
    return true;
}

static void show_json(struct cmd_context *c, const struct rule_set *rules, const struct sizing *s)
{
    struct tree t;
    tree_open(&t, c->keep);
    sizing_json(&t, rules, s);
    tree_print(&t, &c->out);
    buf_add_char(&c->out, '\n');
}

static bool any_plan(const struct sizing *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].plan && !s->rows[i].ask.late) return true;
    return false;
}

int sizing_run(struct cmd_context *c, const struct rule_set *rules, const struct ask *asks,
               size_t n)
{
    struct sizing_ask sizes = {.asks = asks, .n_asks = n};
    struct sizing found;
    struct str format = option_value(c, "format");
    if (format.n && !str_is_any(format, "text|json|csv"))
        return cmd_usage_error(
            c,
            "several sizes, platforms or tasks are a table: --format text, json or "
            "csv, not %.*s",
            STR_ARG(format));
    if (!read_command(c, &sizes) ||
        !sizing_answer(c->keep, c->scratch, &c->diags, rules, &sizes, &found))
        return STATUS_CANNOT;
    if (str_is(format, "json"))
        show_json(c, rules, &found);
    else if (str_is(format, "csv"))
        sizing_csv(&found, &c->out);
    else
        sizing_text(&sizes, &found, c->view.width, &c->out);
    return any_plan(&found) ? STATUS_OK : STATUS_NO;
}

/* ---- requests ---- */

/* A number as it is written, a string, or a list of either. */
static struct str member_list(struct arena *a, const struct node *map, const char *name)
{
    const struct node *node = node_get(map, str_of(name));
    struct buf all = buf_new(a);
    if (node && node->kind == NODE_SCALAR) return node->text;
    for (size_t i = 0; node && node->kind == NODE_LIST && i < node->n; i++)
        buf_printf(&all, "%s%.*s", i ? "," : "", STR_ARG(node->items[i]->text));
    return buf_str(&all);
}

bool sizing_requested(const struct node *root, const struct node *options)
{
    const struct node *gpus = node_get(root, STR("gpus")),
                      *platform = node_get(root, STR("platform"));
    bool several = gpus && (gpus->kind == NODE_LIST || is_list(gpus->text));
    bool machines = platform && (platform->kind == NODE_LIST ||
                                 str_find(platform->text, ',') < platform->text.n);
    return several || machines || node_get(options, STR("gbs_range"));
}

void sizing_answer_request(const struct batch_request *request, const struct ask *ask)
{
    struct arena *a = request->arena;
    const struct node *root = request->root, *options = node_get(root, STR("options"));
    struct lists lists = {member_list(a, root, "gpus"), member_list(a, root, "platform"),
                          member_list(a, options, "gbs_range")};
    struct sizing_ask sizes = {.asks = ask, .n_asks = 1};
    struct sizing found;
    struct tree t;
    struct str why;
    if (!read_lists(a, &lists, &sizes, &why)) {
        batch_error(request, why);
        return;
    }
    bool read = read_platforms(a, request->diags, request->platforms, lists.platforms, &sizes);
    if (read && too_many(a, &sizes, &why)) {
        batch_error(request, why);
        return;
    }
    if (!read || !sizing_answer(a, request->scratch, request->diags, request->service->rules,
                                &sizes, &found)) {
        batch_error(request, request->diags->n ? member_finding(request, &request->diags->items[0])
                                               : STR("the question is incomplete"));
        return;
    }
    tree_open(&t, a);
    sizing_json(&t, request->service->rules, &found);
    tree_print_members(&t, request->out);
}
