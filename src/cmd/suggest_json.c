/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/suggest.h"

static cJSON *text(struct arena *a, struct str s)
{
    return cJSON_CreateString(str_dup(a, s).p);
}

static cJSON *reasons(struct arena *a, const struct reason *items, size_t n)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const struct reason *r = &items[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToObject(item, "rule", text(a, r->rule));
        cJSON_AddItemToObject(item, "guide", text(a, r->guide));
        cJSON_AddStringToObject(item, "phase", reason_phase(r->phase));
        cJSON_AddItemToObject(item, "text", text(a, r->text));
        cJSON_AddItemToObject(item, "source", text(a, r->source));
        cJSON_AddItemToArray(list, item);
    }
    return list;
}

static cJSON *plan_tree(struct arena *a, const struct answer_plan *plan, int rank)
{
    struct memory_estimate memory;
    struct time_estimate time;
    struct evidence evidence;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "rank", rank);
    cJSON_AddItemToObject(item, "plan", tree_plan(a, plan->facts));
    if (memory_estimate(&plan->config, &memory, NULL) &&
        time_estimate(&plan->config, &time, NULL)) {
        evidence_find(&plan->config, &evidence);
        cJSON_AddItemToObject(
            item, "estimate",
            tree_estimate(a, plan->facts, &plan->config, &memory, &time, &evidence));
    }
    cJSON_AddItemToObject(item, "because", reasons(a, plan->because.items, plan->because.n));
    cJSON_AddItemToObject(item, "why_not_first", text(a, plan->why_not_first));
    cJSON_AddItemToObject(item, "next", reasons(a, plan->next.items, plan->next.n));
    cJSON_AddItemToObject(item, "verify", reasons(a, plan->verify.items, plan->verify.n));
    cJSON_AddItemToObject(item, "pitfalls", reasons(a, plan->pitfalls.items, plan->pitfalls.n));
    cJSON_AddItemToObject(item, "notes", reasons(a, plan->notes.items, plan->notes.n));
    return item;
}

cJSON *suggest_tree(struct arena *a, const struct answer *answers, size_t n, double elapsed_ms)
{
    cJSON *tree = cJSON_CreateObject(), *plans = cJSON_AddArrayToObject(tree, "plans");
    size_t searched = 0, feasible = 0;
    int rank = 0;
    for (size_t i = 0; i < n; i++) {
        searched += answers[i].searched;
        feasible += answers[i].feasible;
        for (size_t p = 0; p < answers[i].n; p++)
            cJSON_AddItemToArray(plans, plan_tree(a, &answers[i].plans[p], ++rank));
    }
    cJSON_AddNumberToObject(tree, "searched", (double)searched);
    cJSON_AddNumberToObject(tree, "feasible", (double)feasible);
    cJSON_AddNumberToObject(tree, "elapsed_ms", elapsed_ms);
    return tree;
}
