/* SPDX-License-Identifier: Apache-2.0 */
/* The configurations of one recipe, and the number of GPUs that its own data states for each.
   AutoModel never writes the world size down: it comes from the launcher. */
#include "base/num.h"
#include "facts/automodel.h"

/* An integer at a path; `otherwise` when there is none. */
static int64_t int_at(const struct node *root, const char *path, int64_t otherwise)
{
    const struct node *n = node_at(root, str_of(path));
    int64_t i;
    return n && n->kind == NODE_SCALAR && num_parse_int(n->text, &i) ? i : otherwise;
}

/* A product of positive sizes; 0 when one is not, or on overflow. */
static int64_t product(const int64_t *factors, size_t n)
{
    int64_t p = 1;
    for (size_t i = 0; i < n; i++)
        if (factors[i] <= 0 || __builtin_mul_overflow(p, factors[i], &p)) return 0;
    return p;
}

/* dp · tp · cp · pp of a section that states its dp_size; 0 when it does not. */
static int64_t mesh_size(const struct node *section)
{
    const int64_t sizes[] = {int_at(section, "dp_size", 0), int_at(section, "tp_size", 1),
                             int_at(section, "cp_size", 1), int_at(section, "pp_size", 1)};
    return product(sizes, sizeof sizes / sizeof *sizes);
}

/* ---- GPUs that the body states ---- */

/* "H100:8" is 8 a node, whatever is no number is 1. */
static int64_t accelerators(const struct node *skypilot)
{
    const struct node *n = node_get(skypilot, STR("accelerators"));
    int64_t count;
    size_t colon = n ? str_find(n->text, ':') : 0;
    bool counted =
        n && colon < n->text.n && num_parse_int(str_slice(n->text, colon + 1, n->text.n), &count);
    return int_at(skypilot, "gpus_per_node", counted ? count : 1);
}

struct stated {
    int64_t gpus;
    const struct node *node;
    const char *how;
};

static struct stated by_skypilot(const struct node *recipe)
{
    const struct node *skypilot = node_get(recipe, STR("skypilot"));
    if (!skypilot || skypilot->kind != NODE_MAP) return (struct stated){0};
    const int64_t sizes[] = {int_at(skypilot, "num_nodes", 1), accelerators(skypilot)};
    return (struct stated){product(sizes, 2), skypilot, "skypilot nodes times accelerators"};
}

static bool is_separate(const struct node *recipe)
{
    const struct node *n = node_get(recipe, STR("separate_meshes"));
    return n && str_eq_nocase(n->text, STR("true"));
}

static struct stated by_meshes(const struct node *recipe)
{
    const struct node *teacher = node_get(recipe, STR("teacher_distributed"));
    int64_t student = mesh_size(node_get(recipe, STR("distributed"))), gpus;
    int64_t other = mesh_size(teacher);
    bool both = is_separate(recipe) && student && other;
    if (!both || __builtin_add_overflow(student, other, &gpus)) return (struct stated){0};
    return (struct stated){gpus, teacher, "the student's and the teacher's sizes"};
}

static struct stated by_dp_size(const struct node *recipe)
{
    static const char *const sections[] = {"distributed", "fsdp"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const struct node *section = node_get(recipe, str_of(sections[i]));
        int64_t gpus = mesh_size(section);
        if (gpus && !is_separate(recipe))
            return (struct stated){gpus, node_get(section, STR("dp_size")),
                                   "dp_size times tp, cp and pp"};
    }
    return (struct stated){0};
}

static struct stated body_gpus(const struct node *recipe)
{
    struct stated s = by_skypilot(recipe);
    if (!s.gpus) s = by_meshes(recipe);
    return s.gpus ? s : by_dp_size(recipe);
}

/* ---- the ci: configuration ---- */

/* What the ci: section sets in the recipe, besides the dotted overrides of `nightly`
   (tests/ci_tests/utils/generate_ci_tests.py:120). */
static const struct {
    const char *from, *to;
} ci_keys[] = {
    {"max_steps", "step_scheduler.max_steps"},
    {"local_batch_size", "step_scheduler.local_batch_size"},
    {"ep_size", "distributed.ep_size"},
};

static const struct node *ci_recipe(struct arena *a, const struct node *recipe,
                                    const struct node *ci)
{
    const struct node *nightly = node_get(ci, STR("nightly"));
    for (size_t i = 0; i < sizeof ci_keys / sizeof *ci_keys; i++) {
        const struct node *key = node_get_key(ci, str_of(ci_keys[i].from));
        if (key)
            recipe = automodel_with(a, recipe, str_of(ci_keys[i].to), key,
                                    node_get(ci, str_of(ci_keys[i].from)));
    }
    for (size_t i = 0; nightly && nightly->kind == NODE_MAP && i < nightly->n; i++)
        recipe =
            automodel_with(a, recipe, nightly->keys[i]->text, nightly->keys[i], nightly->items[i]);
    return recipe;
}

/* GPUs of a CI node: stated, or by the cluster's name. */
static int64_t ci_gpus_per_node(const struct node *ci)
{
    const struct node *tag = node_get(ci, STR("cluster_tag"));
    int64_t by_tag = tag && str_is(tag->text, "gb200")  ? 4
                     : tag && str_is(tag->text, "gb10") ? 1
                                                        : 8;
    return int_at(ci, "nproc_per_node", by_tag);
}

static void add_ci(struct arena *a, const struct node *recipe, struct automodel_variants *out)
{
    const struct node *ci = node_get(recipe, STR("ci"));
    if (!ci || ci->kind != NODE_MAP) return;
    const int64_t sizes[] = {int_at(ci, "nodes", 0), ci_gpus_per_node(ci)};
    int64_t gpus = product(sizes, 2);
    if (!gpus) return;
    struct automodel_variant *v = VEC_PUSH(a, out);
    v->recipe = ci_recipe(a, recipe, ci);
    v->label = arena_printf(a, "the ci: configuration on %lld GPUs", (long long)gpus);
    v->gpus = gpus;
    v->gpus_guessed = !node_get(ci, STR("nproc_per_node")) && !node_get(ci, STR("cluster_tag"));
    v->gpus_node = node_get(ci, STR("nodes"));
    v->gpus_written = arena_printf(a, "ci.nodes times %lld GPUs", (long long)sizes[1]);
}

/* ---- the teacher ---- */

/* A teacher with GPUs of its own is distributed by the same grammar and the same checks. */
static void add_teacher(struct arena *a, const struct node *recipe, struct automodel_variants *out)
{
    const struct node *teacher = node_get(recipe, STR("teacher_distributed"));
    if (!is_separate(recipe) || !teacher || teacher->kind != NODE_MAP) return;
    struct automodel_variant *v = VEC_PUSH(a, out);
    const struct node *key = node_get_key(recipe, STR("teacher_distributed"));
    v->recipe = automodel_with(a, recipe, STR("distributed"), key, teacher);
    v->label = STR("the teacher's mesh");
    v->kind = STR("teacher");
    v->gpus = mesh_size(teacher);
    v->gpus_node = teacher;
    v->gpus_written = STR("the teacher's own sizes");
}

void automodel_variants(struct arena *a, const struct node *recipe, int64_t gpus,
                        struct automodel_variants *out)
{
    struct automodel_variant *body = VEC_PUSH(a, out);
    body->recipe = recipe;
    if (!gpus) {
        struct stated s = body_gpus(recipe);
        body->gpus = s.gpus;
        body->gpus_node = s.node;
        body->gpus_written = str_of(s.how);
        add_ci(a, recipe, out);
    }
    if (out->n > 1) out->items[0].label = STR("the recipe as written");
    add_teacher(a, recipe, out);
}
