/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/bill.h"

/* ---- text ---- */

struct str bill_number(struct arena *a, double x)
{
    static const char *const units[] = {"", " k", " M", " B", " T", " P"};
    size_t u = 0;
    while (x >= 999.5 && u + 1 < sizeof units / sizeof *units) {
        x /= 1000;
        u++;
    }
    int digits = x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
    return arena_printf(a, "%.*f%s", digits, x, units[u]);
}

/* "12.3 M (10.1 M to 15.0 M)"; without an interval the figure alone. */
static void add_figure(const char *name, struct figure f, struct buf *out)
{
    buf_printf(out, "  %-11s %.*s", name, STR_ARG(bill_number(out->arena, f.value)));
    if (f.low < f.high)
        buf_printf(out, " (%.*s to %.*s)", STR_ARG(bill_number(out->arena, f.low)),
                   STR_ARG(bill_number(out->arena, f.high)));
}

static void add_goodput(const struct bill *b, struct buf *out)
{
    add_figure("goodput", b->goodput, out);
    if (b->goodput_stated) {
        buf_add(out, STR(", as stated\n"));
        return;
    }
    buf_printf(
        out, " from the size: %.2g interruptions a day of %.0f minutes each, %.1f %% checkpoints\n",
        bill_sources[BILL_INTERRUPTIONS].figure.value * b->gpus,
        bill_sources[BILL_LOST].figure.value, 100 * bill_sources[BILL_PAUSES].figure.value);
}

static void add_limits(const struct bill *b, struct buf *out)
{
    static const char *const words[] = {
        NULL, "met", "met by the estimate, not by the far end of its interval", "missed"};
    if (b->deadline != DEADLINE_NONE)
        buf_printf(out, "  deadline    %.4g days: %s\n", b->deadline_days, words[b->deadline]);
    if (b->affordable != DEADLINE_NONE)
        buf_printf(out, "  budget      %.*s: %s\n", STR_ARG(bill_number(out->arena, b->budget)),
                   words[b->affordable]);
}

void bill_screen(const struct bill *b, struct buf *out)
{
    struct arena *a = out->arena;
    buf_printf(out, "to train %.*s tokens, %.*s steps of %.*s\n",
               STR_ARG(bill_number(a, b->tokens)), STR_ARG(bill_number(a, b->steps)),
               STR_ARG(bill_number(a, b->tokens_per_step)));
    add_figure("days", b->days, out);
    buf_printf(out, ", %.*s tokens a day\n", STR_ARG(bill_number(a, b->tokens_per_day.value)));
    add_figure("GPU hours", b->gpu_hours, out);
    buf_add_char(out, '\n');
    if (b->price > 0) {
        add_figure("cost", b->cost, out);
        buf_printf(out, " at %.6g a GPU hour\n", b->price);
    }
    if (b->power_w > 0) {
        add_figure("energy, kWh", b->energy_kwh, out);
        buf_printf(out, ", GPUs alone at their rated %.0f W\n", b->power_w);
    }
    add_goodput(b, out);
    add_limits(b, out);
}

/* ---- JSON ---- */

/* NAME, NAME_low, NAME_high; null where it is unknown. */
static void add_members(struct tree *t, cJSON *to, const char *name, const struct figure *f)
{
    const struct {
        const char *end;
        double value;
    } parts[] = {{"", f->value}, {"_low", f->low}, {"_high", f->high}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct str key = arena_printf(t->arena, "%s%s", name, parts[i].end);
        if (f->value > 0)
            tree_number(t, to, key.p, parts[i].value);
        else
            tree_value(t, to, key.p, value_null());
    }
}

void bill_json(struct tree *t, cJSON *to, const struct bill *b)
{
    cJSON *object = tree_object(t, to, "decision");
    tree_number(t, object, "tokens", b->tokens);
    tree_number(t, object, "steps", b->steps);
    add_members(t, object, "days", &b->days);
    add_members(t, object, "gpu_hours", &b->gpu_hours);
    add_members(t, object, "cost", &b->cost);
    add_members(t, object, "tokens_per_day", &b->tokens_per_day);
    add_members(t, object, "goodput", &b->goodput);
    add_members(t, object, "energy_kwh", &b->energy_kwh);
    if (b->deadline != DEADLINE_NONE) {
        tree_number(t, object, "deadline_days", b->deadline_days);
        tree_text(t, object, "deadline", bill_word(b->deadline));
    }
    if (b->affordable == DEADLINE_NONE) return;
    tree_number(t, object, "budget", b->budget);
    tree_text(t, object, "within_budget", bill_word(b->affordable));
}

void bill_cells(const struct bill *b, struct table *t)
{
    struct arena *a = t->arena;
    if (!b) {
        table_skip(t, 3);
        return;
    }
    table_printf(t, "%.*s (%.*s to %.*s)", STR_ARG(bill_number(a, b->days.value)),
                 STR_ARG(bill_number(a, b->days.low)), STR_ARG(bill_number(a, b->days.high)));
    table_add(t, bill_number(a, b->gpu_hours.value));
    table_add(t, b->price > 0 ? bill_number(a, b->cost.value) : STR("-"));
}
