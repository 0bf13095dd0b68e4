/* SPDX-License-Identifier: Apache-2.0 */
/* convert: recipe -> facts -> facts of the other framework -> its file. */
#include "flow/convert.h"
#include "base/quote.h"
#include "cmd/load.h"
#include "cmd/plan_out.h"
#include "facts/param_ids.h"

enum target { TO_MEGATRON, TO_BRIDGE, TO_AUTOMODEL, TO_PLAN };

static enum framework framework_of(enum target to, const struct facts *f)
{
    switch (to) {
    case TO_MEGATRON: return FRAMEWORK_MEGATRON;
    case TO_BRIDGE: return FRAMEWORK_BRIDGE;
    case TO_AUTOMODEL: return FRAMEWORK_AUTOMODEL;
    case TO_PLAN: return f->framework;
    }
    return f->framework;
}

struct comments {
    struct str *items;
    size_t n, cap;
};

static struct str loss_text(struct arena *a, const struct convert_loss *lost)
{
    return arena_printf(a, "not carried over: %.*s%s%.*s: %.*s", STR_ARG(lost->name),
                        lost->value.n ? " = " : "", STR_ARG(lost->value), STR_ARG(lost->why));
}

/* What the output is, and where it is to run: the files themselves do not say it. */
static void add_head(struct cmd_context *c, const struct facts *from, const struct facts *to,
                     struct comments *out)
{
    *VEC_PUSH(c->keep, out) = arena_printf(
        c->keep, "moeplan " MOEPLAN_VERSION ": %s configuration from %.*s (%.*s)",
        framework_name(to->framework), STR_ARG(c->arguments[0]), STR_ARG(from->format));
    int64_t gpus = facts_int(to, P_world_size, 0);
    if (gpus > 0)
        *VEC_PUSH(c->keep, out) = arena_printf(c->keep, "for %lld GPUs%s%.*s", (long long)gpus,
                                               to->platform ? " of " : "",
                                               STR_ARG(to->platform ? to->platform->id : STR("")));
}

/* What is lost and what means something else: on stderr, and as comments. */
static void tell(struct cmd_context *c, const struct conversion *x, struct comments *out)
{
    for (size_t i = 0; i < x->lost.n; i++) {
        struct str line = loss_text(c->keep, &x->lost.items[i]);
        *VEC_PUSH(c->keep, out) = line;
        buf_printf(&c->err, "%.*s\n", LINE_ARG(c->keep, line));
    }
    for (size_t i = 0; i < x->notes.n; i++) {
        *VEC_PUSH(c->keep, out) = arena_printf(c->keep, "note: %.*s", STR_ARG(x->notes.items[i]));
        buf_printf(&c->err, "note: %.*s\n", LINE_ARG(c->keep, x->notes.items[i]));
    }
}

static void write_form(const struct emit_input *in, enum target to, struct buf *out)
{
    if (to == TO_PLAN)
        emit_plan(in, out);
    else
        emitter_of(in->facts->framework)->write(in, out);
}

static void write_out(struct cmd_context *c, const struct rule_set *rules, enum target to,
                      const struct conversion *x, const struct comments *comments)
{
    struct emit_input in = {
        .rules = rules, .facts = x->facts, .comments = comments->items, .n_comments = comments->n};
    if (to == TO_PLAN)
        plan_out(c, &in);
    else
        write_form(&in, to, &c->out);
}

/* A configuration that one framework runs and the other refuses is said to be one: the output, as
   it would be here wherever it will lie, is read back and checked. */
static void check(struct cmd_context *c, const struct rule_set *rules, enum target to,
                  const struct facts *target)
{
    struct buf text = buf_new(c->keep);
    struct emit_input in = {.rules = rules, .facts = target};
    struct diags found;
    diags_init(&found, c->keep);
    write_form(&in, to, &text);
    convert_check(c->keep, c->scratch, &found, rules, target, to == TO_PLAN, buf_str(&text));
    for (size_t i = 0; i < found.n; i++) {
        const struct diag *d = &found.items[i];
        bool room = str_is(d->rule, "memory-exceeds-gpu"); /* no framework looks before it runs */
        if (d->severity == SEVERITY_ERROR)
            buf_printf(&c->err, "%s%s the result [%.*s]: %.*s\n",
                       room ? "no room for" : framework_name(target->framework),
                       room ? "" : " refuses", STR_ARG(d->rule), LINE_ARG(c->keep, d->message));
    }
}

static int run(struct cmd_context *c)
{
    struct read_options options;
    const struct rule_set *rules;
    struct conversion x;
    struct comments comments = {0};
    int to = TO_PLAN;
    if (!option_choice(c, "to", &to) || !recipe_options(c, &options) || !cmd_load_rules(c, &rules))
        return STATUS_CANNOT;
    const struct facts *from = load_recipe(c, c->arguments[0], option_value(c, "as"), &options);
    if (!from || !recipe_settings_used(c, &options)) return STATUS_CANNOT;
    convert_facts(c->keep, rules, from, framework_of((enum target)to, from), to != TO_PLAN,
                  c->scratch, &x);
    add_head(c, from, x.facts, &comments);
    tell(c, &x, &comments);
    write_out(c, rules, (enum target)to, &x, &comments);
    check(c, rules, (enum target)to, x.facts);
    return diags_count(&c->diags, SEVERITY_ERROR) ? STATUS_NO : STATUS_OK;
}

static const struct option options[] = {
    {"to", FRAMEWORK_WORDS "|plan",
     "flags, overrides, a recipe, or a plan file of the same framework"},
    RECIPE_OPTIONS(RECIPE_FORMATS),
    {0},
};

const struct command command_convert = {
    .name = "convert",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "launch.sh --to bridge -o overrides.txt",
    .help = "The same configuration in another framework's words",
    .details =
        "FILE is a plan file or any recipe that validate reads; - is standard input. What a\n"
        "framework does by default or by itself is written where the other would do otherwise.\n"
        "What cannot be carried over is named on stderr and as a comment, never dropped "
        "silently.\n",
    .options = options,
    .required = "to",
    .loads_rules = true,
    .writes_files = true,
    .run = run,
};
