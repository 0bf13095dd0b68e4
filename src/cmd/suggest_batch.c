/* SPDX-License-Identifier: Apache-2.0 */
/* suggest as an answer to a request. */
#include "cmd/beside.h"
#include "cmd/documents.h"
#include "cmd/member.h"
#include "cmd/sizing.h"
#include "cmd/wishes.h"
#include "facts/param_ids.h"

static const struct member request_members[] = {
    {"id", MEMBER_ANY, P_NONE},
    {"model", MEMBER_ANY, P_NONE},
    {"gpus", MEMBER_NUMBER, P_world_size},
    {"platform", MEMBER_TEXT, P_NONE},
    {"options", MEMBER_MAP, P_NONE},
    {0},
};

/* The same of a question for several sizes or platforms. */
static const struct member table_members[] = {
    {"id", MEMBER_ANY, P_NONE},      {"model", MEMBER_ANY, P_NONE},
    {"gpus", MEMBER_ANY, P_NONE},    {"platform", MEMBER_TEXTS, P_NONE},
    {"options", MEMBER_MAP, P_NONE}, {0},
};

static const struct member option_members[] = {
    {"gbs", MEMBER_NUMBER, P_global_batch_size},
    {"gbs_range", MEMBER_TEXT, P_NONE},
    {"seq", MEMBER_NUMBER, P_seq_length},
    {"mbs", MEMBER_NUMBER, P_micro_batch_size},
    {"top", MEMBER_NUMBER, P_NONE},
    {"goal", MEMBER_TEXT, P_NONE},
    {"numerics", MEMBER_TEXT, P_NONE},
    {"task", MEMBER_TEXT, P_NONE},
    {"lora_rank", MEMBER_NUMBER, P_peft_dim},
    {"lora_targets", MEMBER_TEXT, P_NONE},
    {"precision", MEMBER_TEXT, P_NONE},
    {"framework", MEMBER_TEXT, P_NONE},
    {"framework_version", MEMBER_TEXT, P_NONE},
    {"reserve_memory", MEMBER_ANY, P_NONE},
    {"documents", MEMBER_TEXT, P_NONE},
    {"like", MEMBER_TEXT, P_NONE},
    {"rollout", MEMBER_TEXT, P_NONE},
    {"pin", MEMBER_ANY, P_NONE},
    {"forbid", MEMBER_TEXTS, P_NONE},
    WISH_MEMBERS,
    {"no_playbook", MEMBER_FLAG, P_NONE},
    {"exhaustive", MEMBER_FLAG, P_NONE},
    {0},
};

static bool request_pins(const struct batch_request *request, const struct node *options,
                         struct ask *ask, struct str *why)
{
    struct arena *a = request->arena;
    const struct node *pins = node_get(options, STR("pin"));
    struct str list = member_text(options, "pin");
    if (!pins) return true;
    if (pins->kind != NODE_MAP && !(pins->kind == NODE_SCALAR && pins->quoted)) {
        *why = STR("options.pin must be a string such as tp=2,pp=4, or an object");
        return node_value(a, pins, SCALAR_JSON).kind == VALUE_NULL;
    }
    if (list.n && !ask_pins(a, ask, list, why)) return false;
    for (size_t i = 0; i < pins->n; i++) {
        struct setting pin = {.name = pins->keys[i]->text,
                              .value = node_value(a, pins->items[i], SCALAR_JSON)};
        if (!ask_pin(a, ask, pin, why)) return false;
    }
    return true;
}

/* A pin by another name. */
static bool request_reserve(const struct batch_request *request, const struct node *options,
                            struct ask *ask, struct str *why)
{
    const struct node *node = node_get(options, STR("reserve_memory"));
    struct setting pin = {.name = param_name(P_reserve_memory_gib)};
    if (!node) return true;
    pin.value = node_value(request->arena, node, SCALAR_JSON);
    return pin.value.kind == VALUE_NULL || ask_pin(request->arena, ask, pin, why);
}

/* Pins by another name; of the sequence that is asked for. */
static bool request_documents(const struct batch_request *request, const struct node *options,
                              struct ask *ask, struct str *why)
{
    enum { USUAL_SEQUENCE = 4096 };
    struct str text = member_text(options, "documents");
    struct documents documents;
    struct setting pins[DOCUMENT_SETTINGS];
    bool good = true;
    if (!text.n) return true;
    if (!documents_ask(request->arena, text, &documents, why)) return false;
    documents_settings(&documents, ask->seq ? ask->seq : USUAL_SEQUENCE, pins);
    for (int i = 0; good && i < DOCUMENT_SETTINGS; i++)
        good = ask_pin(request->arena, ask, pins[i], why);
    return good;
}

/* One expression, or a list of them. */
static void request_forbid(const struct batch_request *request, const struct node *options,
                           struct ask *ask)
{
    const struct node *node = node_get(options, STR("forbid"));
    size_t n = node && node->kind == NODE_LIST ? node->n : 1;
    struct str one = member_text(options, "forbid");
    ask->forbid = ARENA_ARRAY(request->arena, struct str, n);
    if (one.n) ask->forbid[ask->n_forbid++] = one;
    for (size_t i = 0; node && i < node->n; i++)
        ask->forbid[ask->n_forbid++] = node->items[i]->text;
}

/* What a question cannot do without, all that is absent at once. */
static bool check_needed(const struct batch_request *request, const struct ask *ask, bool table,
                         struct str *why)
{
    static const char *const needed[] = {"model", "gpus", "platform"};
    struct buf missing = buf_new(request->arena);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!node_get(request->root, str_of(needed[i])))
            buf_printf(&missing, "%s%s", missing.n ? ", " : "", needed[i]);
    struct str names = buf_str(&missing);
    if (names.n)
        *why = arena_printf(request->arena, "the request has no %.*s", STR_ARG(names));
    else
        *why = arena_printf(request->arena, "gpus must be between 1 and %d", SUGGEST_MOST_GPUS);
    return !names.n && (table || (ask->gpus >= 1 && ask->gpus <= SUGGEST_MOST_GPUS));
}

/* Why there is no answer. */
static struct str first_finding(const struct batch_request *request, const char *otherwise)
{
    return request->diags->n ? member_finding(request, &request->diags->items[0])
                             : str_of(otherwise);
}

static bool request_inputs(const struct batch_request *request, struct ask *ask, bool table,
                           struct str *why)
{
    const struct node *model = node_get(request->root, STR("model"));
    struct str platform = member_text(request->root, "platform");
    if (!table)
        ask->platform =
            platform_load(request->platforms, request->diags, platform, (struct span){0});
    if (table || ask->platform)
        ask->model = model->kind == NODE_SCALAR
                         ? model_load(request->arena, request->diags, model->text)
                         : model_read(request->arena, request->diags, model);
    if (ask->model) return true;
    *why = first_finding(request, "the model or the platform cannot be read");
    return false;
}

/* A recipe, before the question is settled. */
static bool request_like(const struct batch_request *request, const struct node *options,
                         struct ask *ask, bool table, struct beside *beside, struct str *why)
{
    struct str name = member_text(options, "like");
    *why = STR("options.like and options.rollout go with one size and one platform");
    if (table && (name.n || member_text(options, "rollout").n)) return false;
    if (beside_like(request->arena, request->scratch, request->diags, request->service->rules, name,
                    ask, beside, why))
        return true;
    if (!why->n) *why = first_finding(request, "the recipe cannot be read");
    return false;
}

static bool request_ask(const struct batch_request *request, struct ask *ask, bool table,
                        struct beside *beside, struct str *why)
{
    const struct node *options = node_get(request->root, STR("options"));
    if (!members_check(request, request->root, "", table ? table_members : request_members, why) ||
        !members_check(request, options, "options.", option_members, why))
        return false;
    *ask = (struct ask){.gpus = table ? 0 : member_number(request, request->root, "gpus"),
                        .gbs = member_number(request, options, "gbs"),
                        .seq = member_number(request, options, "seq"),
                        .mbs = member_number(request, options, "mbs"),
                        .top = member_number(request, options, "top"),
                        .version = member_text(options, "framework_version"),
                        .goal = member_text(options, "goal"),
                        .numerics = member_text(options, "numerics"),
                        .task = member_text(options, "task"),
                        .lora_rank = member_number(request, options, "lora_rank"),
                        .lora_targets = member_text(options, "lora_targets"),
                        .precision = member_text(options, "precision")};
    if (!ask->top) ask->top = 1;
    if (!check_needed(request, ask, table, why)) return false;
    ask->no_playbook = member_true(request, options, "no_playbook");
    ask->exhaustive = member_true(request, options, "exhaustive");
    request_forbid(request, options, ask);
    struct str framework = member_text(options, "framework");
    struct arena *a = request->arena;
    return (!framework.n || ask_in(a, ask, framework, why)) &&
           request_like(request, options, ask, table, beside, why) && ask_words(a, ask, why) &&
           request_pins(request, options, ask, why) &&
           request_reserve(request, options, ask, why) &&
           request_documents(request, options, ask, why) &&
           wishes_asked(request, options, &ask->wish, why) && ask_settle(a, ask, why) &&
           request_inputs(request, ask, table, why) &&
           beside_rollout(a, member_text(options, "rollout"), ask, beside, why);
}

void suggest_answer(const struct batch_request *request)
{
    const struct rule_set *rules = request->service->rules;
    double start = suggest_clock();
    struct ask ask;
    struct answers answers;
    struct tree tree;
    struct str why;
    bool table = sizing_requested(request->root, node_get(request->root, STR("options")));
    struct beside beside = {0};
    if (!request_ask(request, &ask, table, &beside, &why)) {
        batch_error(request, why);
        return;
    }
    if (table) {
        sizing_answer_request(request, &ask);
        return;
    }
    if (!beside_answer(request->arena, request->scratch, request->diags, rules, &ask, &answers,
                       &beside)) {
        batch_error(request, first_finding(request, "the question is incomplete"));
        return;
    }
    tree_open(&tree, request->arena);
    suggest_json(&tree, rules, &ask, &answers, suggest_clock() - start);
    beside_json(&tree, &beside);
    tree_print_members(&tree, request->out);
}
