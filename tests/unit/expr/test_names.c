/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over bound names: slots, look-ups, types, messages, traces, and programs as C text.
 */
#include "unit/unit.h"

#include "base/buf.h"
#include "base/edit.h"
#include "expr/expr.h"

enum { EP, EXPERTS, TP, VPP, SP, DISPATCHER, MODULES, RATIO, LATENT, GONE, RAW, ENV, SLOTS };

static const struct {
    const char *path;
    enum expr_type type;
} names[SLOTS] = {
    [EP] = {"plan.ep", EXPR_INT},
    [EXPERTS] = {"plan.num_moe_experts", EXPR_INT},
    [TP] = {"plan.tp", EXPR_INT},
    [VPP] = {"plan.vpp", EXPR_INT},
    [SP] = {"plan.sequence_parallel", EXPR_BOOL},
    [DISPATCHER] = {"plan.dispatcher", EXPR_STRING},
    [MODULES] = {"plan.modules", EXPR_LIST},
    [RATIO] = {"plan.ratio", EXPR_DOUBLE},
    [LATENT] = {"plan.latent", EXPR_MAP},
    [GONE] = {"plan.gone", EXPR_INT},
    [RAW] = {"raw", EXPR_LOOKUP},
    [ENV] = {"env", EXPR_LOOKUP},
};

static bool resolve(void *context, struct str path, struct expr_ref *out)
{
    (void)context;
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (!str_is(path, names[i].path)) continue;
        *out = (struct expr_ref){i, names[i].type};
        return true;
    }
    return false;
}

static struct str nearest(void *context, struct arena *a, struct str path)
{
    (void)context, (void)a;
    struct edit_nearest best = {.word = path};
    for (size_t i = 0; i < SLOTS; i++)
        edit_offer(&best, str_of(names[i].path));
    return best.best;
}

static const struct expr_names bound = {.resolve = resolve, .nearest = nearest};

static struct value get(void *context, uint32_t slot)
{
    static const struct value modules[] = {
        {.kind = VALUE_STRING, .s = {"moe_act", 7}},
        {.kind = VALUE_STRING, .s = {"mlp", 3}},
    };
    static const struct value_list list = {2, modules};
    static const struct value key = {.kind = VALUE_STRING, .s = {"rank", 4}};
    static const struct value rank = {.kind = VALUE_INT, .i = 512};
    static const struct value_map map = {1, &key, &rank};
    (void)context;
    switch (slot) {
    case EP: return value_int(48);
    case EXPERTS: return value_int(256);
    case TP: return value_int(2);
    case VPP: return value_null();
    case SP: return value_bool(false);
    case DISPATCHER: return value_string(STR("alltoall"));
    case MODULES: return (struct value){.kind = VALUE_LIST, .list = &list};
    case RATIO: return value_double(1.5);
    case LATENT: return (struct value){.kind = VALUE_MAP, .map = &map};
    default: return value_unknown();
    }
}

static struct value has(void *context, uint32_t slot)
{
    (void)context;
    return value_bool(slot == EP);
}

static struct value index_of(void *context, uint32_t slot, struct str key)
{
    (void)context;
    if (slot == ENV && str_is(key, "CUDA_DEVICE_MAX_CONNECTIONS")) return value_string(STR("1"));
    if (slot == RAW && str_is(key, "--num-experts")) return value_int(256);
    return slot == ENV ? value_unknown() : value_error(STR("no such key"));
}

static struct value contains(void *context, uint32_t slot, struct str key)
{
    return value_bool(index_of(context, slot, key).kind > VALUE_ERROR);
}

static const struct expr_scope scope = {
    .get = get, .has = has, .index = index_of, .contains = contains};

static const struct expr *compile(struct arena *a, struct diags *diags, const char *text)
{
    diags_init(diags, a);
    uint32_t width = (uint32_t)strlen(text);
    return expr_compile(a, diags, str_of(text), (struct span){1, 4, 10, 4, 10 + width}, &bound);
}

static void names_have_values(void **state)
{
    static const struct {
        const char *text, *value;
        enum expr_type type;
    } cases[] = {
        {"plan.num_moe_experts % plan.ep == 0", "false", EXPR_BOOL},
        {"plan.num_moe_experts / 2", "128", EXPR_INT},
        {"plan.vpp == null", "true", EXPR_BOOL},
        {"orValue(plan.vpp, 1) * plan.tp", "2", EXPR_INT},
        {"double(plan.tp) * plan.ratio", "3", EXPR_DOUBLE},
        {"has(plan.ep) && !has(plan.tp)", "true", EXPR_BOOL},
        {"plan.dispatcher in [\"alltoall\", \"flex\"]", "true", EXPR_BOOL},
        {"\"mlp\" in plan.modules", "true", EXPR_BOOL},
        {"plan.modules[0]", "moe_act", EXPR_DYN},
        {"plan.modules.exists(m, m == \"mlp\")", "true", EXPR_BOOL},
        {"plan.latent.rank", "512", EXPR_DYN},
        {"has(plan.latent.rank) && !has(plan.latent.other)", "true", EXPR_BOOL},
        {"raw[\"--num-experts\"]", "256", EXPR_DYN},
        {"\"--num-experts\" in raw && !(\"--ep\" in raw)", "true", EXPR_BOOL},
        {"env.CUDA_DEVICE_MAX_CONNECTIONS == env[\"CUDA_DEVICE_MAX_CONNECTIONS\"]", "true",
         EXPR_BOOL},
        {"has(env.CUDA_DEVICE_MAX_CONNECTIONS)", "true", EXPR_BOOL},
        {"env.OTHER == \"1\"", "unknown", EXPR_BOOL},
        {"plan.gone > 1", "unknown", EXPR_BOOL},
        {"plan.gone > 1 && plan.sequence_parallel", "false", EXPR_BOOL},
        {"plan.sequence_parallel ? plan.tp : null", "null", EXPR_INT},
        {"plan.tp > 1 ? [1] : plan.modules", "[1]", EXPR_LIST},
        {"[plan.tp].map(plan, plan + 1)", "[3]", EXPR_LIST},
        {"math.greatest(plan.tp, plan.ep)", "48", EXPR_INT},
        {"raw[\"--none\"] == 1", "error: no such key", EXPR_BOOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        const struct expr *e = compile(*state, &diags, cases[i].text);
        assert_non_null(e);
        struct value v = expr_eval(e, *state, &scope);
        assert_string_equal(value_text(*state, v).p, cases[i].value);
        assert_int_equal(expr_result_type(e), cases[i].type);
        assert_str(expr_text(e), cases[i].text);
    }
}

static void mistakes_are_found_when_compiling(void **state)
{
    static const struct {
        const char *text, *message, *help;
        uint32_t column, end_column;
    } cases[] = {
        {"plan.epp > 1", "unknown name plan.epp", "did you mean plan.ep?", 10, 18},
        {"1 + has(plan.tpp)", "unknown name plan.tpp", "did you mean plan.tp?", 18, 26},
        {"[1].sise()", "unknown function sise", "did you mean size?", 14, 18},
        {"plan.tp / 2.0", "write double(plan.tp)", NULL, 10, 23},
        {"1 + (plan.dispatcher + 1)", "write string(1)", NULL, 14, 35},
        {"plan.tp == \"2\"", "no such overload: int == string", NULL, 10, 24},
        {"plan.tp < null", "write orValue(null, …)", NULL, 10, 24},
        {"1 < plan.tp < 4", "comparisons do not chain", NULL, 10, 25},
        {"plan.tp && true", "plan.tp is int, a bool is needed", NULL, 10, 17},
        {"plan.ratio % 2.0", "the remainder is for integers only", NULL, 10, 26},
        {"plan.tp.x", "plan.tp is int and has no fields", NULL, 10, 19},
        {"plan.tp[0]", "plan.tp is int and has no items", NULL, 10, 20},
        {"plan.modules[\"a\"]", "the index of a list must be an int", NULL, 23, 26},
        {"raw == 1", "raw is no value: write raw[\"key\"]", NULL, 10, 13},
        {"raw[1]", "the key must be a string", NULL, 14, 15},
        {"1 in env", "the key must be a string", NULL, 10, 11},
        {"plan.tp.all(x, true)", "plan.tp is int, a list or a map is needed", NULL, 10, 17},
        {"[1].all(x, x2 > 1)", "unknown name x2", NULL, 21, 23},
        {"size(plan.tp)", "size() takes string or list or map here, plan.tp is int", NULL, 15, 22},
        {"-plan.dispatcher", "no such overload: -string", NULL, 10, 26},
        {"{1.5: 2}", "the key of a map must be", NULL, 11, 14},
        {"1 in plan.tp", "no such overload: int in int", NULL, 10, 22},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        assert_null(compile(*state, &diags, cases[i].text));
        const struct diag *d = &diags.items[0];
        struct str part = str_of(cases[i].message);
        if (str_find_str(d->message, part) == d->message.n)
            fail_msg("%s: %.*s", cases[i].text, STR_ARG(d->message));
        if (cases[i].help) assert_str(d->help, cases[i].help);
        assert_int_equal(d->at.column, cases[i].column);
        assert_int_equal(d->at.end_column, cases[i].end_column);
    }
}

static void places_in_quotes_and_blocks(void **state)
{
    struct diags diags;
    struct str text = STR("true &&\n x");
    diags_init(&diags, *state);
    expr_compile(*state, &diags, STR("tp"), (struct span){1, 4, 10, 4, 14}, &bound);
    assert_int_equal(diags.items[0].at.column, 11);
    assert_int_equal(diags.items[0].at.end_column, 13);
    expr_compile(*state, &diags, STR("'é' == 'é' + tp"), (struct span){1, 4, 10, 4, 25}, &bound);
    assert_int_equal(diags.items[1].at.column, 23); /* columns count characters */
    assert_int_equal(diags.items[1].at.end_column, 25);
    expr_compile(*state, &diags, text, (struct span){1, 4, 10, 5, 3}, &bound);
    assert_int_equal(diags.items[2].at.column, 10);
    assert_int_equal(diags.items[2].at.end_line, 5);
    assert_str(diags.items[2].notes.items[0], "at character 10 of: true &&\n x");
}

static void long_texts_are_refused(void **state)
{
    struct diags diags;
    struct buf text = buf_new(*state);
    buf_add_n(&text, ' ', 64 * 1024 - 1);
    buf_add_char(&text, '1');
    assert_non_null(compile(*state, &diags, buf_str(&text).p));
    buf_add_char(&text, '1');
    assert_null(compile(*state, &diags, buf_str(&text).p));
    assert_str(diags.items[0].message, "the expression is too long");
}

static void slots_are_listed_once_in_order(void **state)
{
    static const uint32_t expected[] = {EXPERTS, EP, RAW, TP};
    const uint32_t *slots;
    struct diags diags;
    const struct expr *e = compile(*state, &diags,
                                   "plan.num_moe_experts % plan.ep == 0 || \"x\" in raw || "
                                   "(plan.ep > 1 && has(plan.tp))");
    assert_int_equal(expr_slots(e, &slots), 4);
    assert_memory_equal(slots, expected, sizeof expected);
}

static void traces_put_values_in(void **state)
{
    static const struct {
        const char *text, *lines[3];
    } cases[] = {
        {"plan.num_moe_experts % plan.ep == 0", {"256 % 48 = 16"}},
        {"plan.tp * (plan.ep + 1) <= plan.num_moe_experts / 4",
         {"98 <= 64 is false", "2 * (48 + 1) = 98", "256 / 4 = 64"}},
        {"plan.ep <= 8", {"48 <= 8 is false"}},
        {"plan.tp == 2 && (plan.ep == 8 || plan.ep == 16)",
         {"48 == 8 is false", "48 == 16 is false"}},
        {"!(plan.tp > 1 && !plan.sequence_parallel)",
         {"2 > 1 is true", "plan.sequence_parallel is false"}},
        {"plan.dispatcher in [\"flex\"]", {"\"alltoall\" in [flex] is false"}},
        {"[2, 5, 8].all(d, 16 % d == 0)", {"16 % 5 = 1"}},
        {"plan.tp > 1 ? plan.ep - 40 < 0 : true", {"48 - 40 = 8"}},
        {"ceilDiv(plan.ep, 5) == plan.tp", {"10 == 2 is false", "ceilDiv(48, 5) = 10"}},
        {"plan.ep - (plan.tp - 1)", {"48 - (2 - 1) = 47"}},
        {"isPowerOfTwo(plan.ep)", {"isPowerOfTwo(48) is false"}},
        {"plan.gone == 1", {NULL}},
        {"false", {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        struct str lines[3];
        const struct expr *e = compile(*state, &diags, cases[i].text);
        assert_non_null(e);
        size_t n = expr_trace(e, *state, &scope, lines, 3), k = 0;
        for (; k < 3 && cases[i].lines[k]; k++) {
            assert_true(k < n);
            assert_str(lines[k], cases[i].lines[k]);
        }
        assert_int_equal(n, k);
    }
}

static void programs_become_c_text(void **state)
{
    struct diags diags;
    struct buf out = buf_new(*state);
    expr_write_c(compile(*state, &diags, "plan.tp > 1 || size([\"a\"]) == 1"), &out, "rule_1");
    struct str text = buf_str(&out);
    static const char *const parts[] = {
        "static const struct expr_node rule_1_nodes[] = {",
        "static const uint32_t rule_1_args[] = {",
        "static const struct value rule_1_constants[] = {",
        "static const uint32_t rule_1_slots[] = {2};",
        "static const struct expr rule_1 = {{\"plan.tp > 1 ||",
        ", 31}, rule_1_nodes, rule_1_args, rule_1_constants, rule_1_slots, ",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(str_find_str(text, str_of(parts[i])) < text.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_values),
        cmocka_unit_test(mistakes_are_found_when_compiling),
        cmocka_unit_test(places_in_quotes_and_blocks),
        cmocka_unit_test(long_texts_are_refused),
        cmocka_unit_test(slots_are_listed_once_in_order),
        cmocka_unit_test(traces_put_values_in),
        cmocka_unit_test(programs_become_c_text),
    };
    return cmocka_run_group_tests(tests, unit_open_arena, unit_close_arena);
}
