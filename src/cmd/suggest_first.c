/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: the verdict, what was asked, memory, one table over all frameworks, the three
   reasons that say most, and what can be asked next: at most 40 lines of 80 columns. */
#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "cmd/suggest_show.h"
#include "emit/emit.h"
#include "emit/screen.h"
#include "plan/framework.h"

enum { MOST_ROWS = 4, REASONS = 3, LEFT_GUIDES = 2, MOST_LINES = 40 };

/* How near two steps are that the estimate cannot tell apart. */
static const double TIE = 0.02;

/* "tp1 pp2x8 ep64 mbs1": sizes of 1 that plans seldom have otherwise are left out. */
static struct str layout_words(struct arena *a, const struct config *c)
{
    const struct knobs *k = &c->knobs;
    struct buf b = buf_new(a);
    buf_printf(&b, "tp%d pp%d", k->tp, k->pp);
    if (k->vpp > 1) buf_printf(&b, "x%d", k->vpp);
    if (k->cp > 1) buf_printf(&b, " cp%d", k->cp);
    if (c->model.experts > 0) buf_printf(&b, " ep%d", k->ep);
    if (k->etp > 1) buf_printf(&b, " etp%d", k->etp);
    buf_printf(&b, " mbs%d", k->mbs);
    if (k->fsdp && config_traits(c)->chooses_fsdp) buf_add(&b, STR(" FSDP"));
    return buf_str(&b);
}

/* "fits, 27.9 of 182.0 GiB to spare" */
static struct str room_words(struct arena *a, const struct offer *o)
{
    const struct contender *c = &o->plan->costs;
    double all = o->plan->config.machine.capacity_bytes;
    if (c->fits == FITS_YES)
        return arena_printf(a, MARK_GOOD "fits" MARK_END ", %.1f of %.1f GiB to spare",
                            (all - c->peak) / GIB, all / GIB);
    return arena_printf(a, MARK_WARNING "may not fit" MARK_END ": %.1f to %.1f of %.1f GiB",
                        c->peak_low / GIB, c->peak_high / GIB, all / GIB);
}

void suggest_verdict(struct arena *a, const struct offer *o, struct buf *out)
{
    const struct contender *c = &o->plan->costs;
    struct evidence evidence;
    struct str layout = layout_words(a, &o->plan->config), room = room_words(a, o);
    evidence_find(&o->plan->config, &evidence);
    if (o->rank > 1) buf_printf(out, "layout %zu: ", o->rank);
    buf_printf(out, MARK_HEADING "%s %.*s" MARK_END ": %.*s\n", framework_full_name(o->framework),
               STR_ARG(layout), STR_ARG(room));
    buf_printf(out,
               "step %.2f s (%.2f to %.2f), " MARK_HEADING "%.*s tokens/s/GPU" MARK_END
               "; evidence: %s\n",
               c->step_s, c->low_s, c->high_s, STR_ARG(num_grouped(a, llround(offer_tokens(o)))),
               screen_grade(&evidence));
}

/* ---- the table ---- */

/* "+12 %": its step beside that of the first, of whatever framework. */
static struct str difference(struct arena *a, const struct offer *first, const struct offer *o)
{
    double slower = 100 * (o->plan->costs.step_s / first->plan->costs.step_s - 1);
    if (o == first) return STR("");
    return arena_printf(a, "%+.0f %%", fabs(slower) < 0.5 ? 0 : slower);
}

/* In a word, why a layout is not the first. */
static const char *word_against(const struct ask *ask, const struct offer *first,
                                const struct offer *o)
{
    double ratio = o->plan->costs.step_s / first->plan->costs.step_s;
    if (o == first) return "";
    if (o->answer->tight > first->answer->tight) return "may not fit";
    if (ratio >= 1 && str_is(ask->goal, "memory")) return "more memory";
    if (ratio > 1 + TIE) return "slower";
    if (ratio > 1 - TIE) return "a tie";
    return o->plan->held_back.n ? "below" : "more memory";
}

/* Those that the table shows: the first ones, as many as the question wants where it wants more
   than usual, the best of each framework, the fastest and the one that is taken. */
static bool is_shown(const struct ask *ask, const struct offers *all, const struct offer *o,
                     const struct offer *taken)
{
    size_t rows = ask->top > SUGGEST_TOP ? (size_t)ask->top : MOST_ROWS;
    return o->rank <= rows || o->plan == o->answer->plans || o == offers_fastest(all) || o == taken;
}

static const struct table_column columns[] = {
    {"#", true, 0}, {"framework", false, 0}, {"layout", false, 0},    {"GiB", true, 0},
    {"s", true, 0}, {"tokens/s", true, 3},   {"difference", true, 2}, {"why not", false, 0},
};

static void add_row(struct table *t, const struct ask *ask, const struct offers *all,
                    const struct offer *o, bool several)
{
    const struct contender *c = &o->plan->costs;
    struct arena *a = t->arena;
    table_printf(t, "%zu", o->rank);
    table_add(t, several ? str_of(framework_name(o->framework)) : STR(""));
    table_add(t, layout_words(a, &o->plan->config));
    table_printf(t, "%.1f", c->peak / GIB);
    table_printf(t, "%.2f", c->step_s);
    table_add(t, num_grouped(a, llround(offer_tokens(o))));
    table_add(t, difference(a, all->items, o));
    table_add(t, str_of(word_against(ask, all->items, o)));
}

/* The layout that is faster than the first by more than a tie; NULL: there is none. */
static const struct offer *faster_than_first(const struct offers *all)
{
    const struct offer *fastest = offers_fastest(all);
    double ratio = fastest->plan->costs.step_s / all->items->plan->costs.step_s;
    return ratio > 1 - TIE ? NULL : fastest;
}

/* What the order rests on where it is not the step time. */
static void add_held_back(const struct ask *ask, const struct offers *all, struct buf *out)
{
    const struct offer *first = all->items, *fastest = faster_than_first(all);
    if (!fastest) return;
    double faster = 100 * (1 - fastest->plan->costs.step_s / first->plan->costs.step_s);
    struct str why = fastest->plan->held_back;
    buf_printf(out, "  layout %zu is %.0f %% faster: ", fastest->rank, faster);
    if (!why.n)
        why = str_is(ask->goal, "memory") ? STR("the goal is memory")
                                          : STR("the guides prefer the first");
    buf_printf(out, "%.*s\n", LINE_ARG(out->arena, why));
}

/* The first of the rows above that reads the same; NULL: there is none. */
static const struct offer *namesake(struct arena *a, const struct ask *ask,
                                    const struct offers *all, const struct offer *o,
                                    const struct offer *taken)
{
    struct str layout = layout_words(a, &o->plan->config);
    for (const struct offer *e = all->items; e < o; e++)
        if (e->framework == o->framework && is_shown(ask, all, e, taken) &&
            str_eq(layout_words(a, &e->plan->config), layout))
            return e;
    return NULL;
}

/* Two rows of one layout are told apart by their switches; of the fastest that is said already. */
static void add_namesakes(struct arena *a, const struct ask *ask, const struct offers *all,
                          const struct offer *taken, struct buf *out)
{
    for (size_t i = 1; i < all->n; i++) {
        const struct offer *o = &all->items[i];
        if (!is_shown(ask, all, o, taken) || o == faster_than_first(all)) continue;
        const struct offer *e = namesake(a, ask, all, o, taken);
        if (!e) continue;
        buf_printf(out, "  layout %zu is %zu with ", o->rank, e->rank);
        screen_difference(a, &e->plan->config.knobs, &o->plan->config.knobs, out);
        buf_add_char(out, '\n');
    }
}

static void add_table(struct arena *a, const struct ask *ask, const struct offers *all,
                      const struct offer *taken, int width, struct buf *out)
{
    struct table t = table_new(a, columns, sizeof columns / sizeof *columns);
    bool several = false;
    for (size_t i = 1; i < all->n; i++)
        several = several || all->items[i].framework != all->items[0].framework;
    for (size_t i = 0; i < all->n; i++) {
        if (is_shown(ask, all, &all->items[i], taken))
            add_row(&t, ask, all, &all->items[i], several);
    }
    buf_add(out, STR("\n" MARK_HEADING "layouts" MARK_END ": peak GiB of a GPU, s a step, tokens/s "
                     "of a GPU, difference of the step\n"));
    table_print(&t, width, out);
    add_held_back(ask, all, out);
    add_namesakes(a, ask, all, taken, out);
}

/* ---- why ---- */

/* The `wanted` reasons that say most: guides that are left, first those that no plan can follow,
   then neighbours, then guides that are kept. Gives how many there are. */
static size_t pick_reasons(const struct reason_list *all, size_t wanted, bool *picked)
{
    static const struct {
        enum reason_kind kind;
        bool left; /* a guide is: these take not all places */
    } order[] = {{REASON_BARRED, true},
                 {REASON_LEAVES, true},
                 {REASON_NEIGHBOURS, false},
                 {REASON_FOLLOWS, false}};
    size_t n = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        bool leaves = order[k].left && wanted > LEFT_GUIDES;
        size_t most = leaves ? LEFT_GUIDES : wanted;
        for (size_t i = 0; i < all->n && n < most; i++) {
            if (all->items[i].kind != order[k].kind || picked[i]) continue;
            picked[i] = true;
            n++;
        }
    }
    return n;
}

static void add_why(struct arena *a, const struct reason_list *all, size_t wanted, struct buf *out)
{
    bool *picked = ARENA_ARRAY(a, bool, all->n + 1);
    size_t n = pick_reasons(all, wanted, picked);
    buf_add(out, STR("\n" MARK_HEADING "why" MARK_END));
    if (n == wanted && wanted < REASONS)
        buf_add(out, STR(MARK_FAINT " (no room for more here: --why has it)" MARK_END));
    buf_add_char(out, '\n');
    for (size_t i = 0; i < all->n; i++) {
        struct str text = all->items[i].text, thought;
        if (!picked[i]) continue;
        str_split(&text, ';', &thought);
        buf_printf(out, "  %-8s" MARK_HANG "%.*s\n", reason_phase(all->items[i].phase),
                   LINE_ARG(a, thought));
    }
}

/* ---- next ---- */

static void add_next(const struct offers *all, const struct offer *taken, struct buf *out)
{
    size_t other = taken->rank == 1 ? 2 : 1;
    buf_add(out, STR("\n" MARK_HEADING "next" MARK_END ": add to this command\n"));
    buf_printf(out,
               MARK_CODE "  --take %zu --format %s -o FILE" MARK_END "  layout %zu as a file\n",
               taken->rank, emitter_of(taken->framework)->format, taken->rank);
    if (other <= all->n)
        buf_printf(out, MARK_CODE "  --take %zu" MARK_END "                 layout %zu instead\n",
                   other, other);
    buf_add(out, STR(MARK_CODE "  --save-dir DIR" MARK_END
                               "           its plan, launch file, reasons, JSON and CSV\n"));
    buf_add(out, STR(MARK_CODE "  --why --next --verify" MARK_END
                               "    reasons, what to try, how to check; " MARK_CODE
                               "--full" MARK_END " all of it\n"));
}

/* Whether more is assumed than what the question says so of itself. */
static bool assumes_more(const struct ask *ask, const struct facts *f)
{
    size_t n = 0;
    for (int i = 0; i < (int)param_count; i++)
        n += facts_get(f, i)->origin == ORIGIN_ASSUMED && fact_is_known(facts_get(f, i));
    return n > (size_t)ask->seq_assumed + ask->gbs_assumed;
}

/* Its name, with which the text begins; the nearest may be another model's. */
static void add_recipe(const struct answer *answer, struct buf *out)
{
    struct str text = answer->playbook, name;
    const char *how = answer->playbook_far ? "nearest public recipe" : "public recipe";
    if (text.n && str_split(&text, ' ', &name)) buf_printf(out, "%s: %.*s\n", how, STR_ARG(name));
}

static size_t lines_of(struct arena *a, struct str marked, struct view view)
{
    return str_count(page_render(a, marked, view), '\n');
}

/* As many reasons as leave the screen its height, one at least. */
static struct str reasons_that_fit(struct arena *a, const struct offer *taken, size_t other_lines,
                                   struct view view)
{
    struct reason_list because = reason_plan(a, taken->answer, taken->plan);
    for (size_t wanted = REASONS;; wanted--) {
        struct buf why = buf_new(a);
        add_why(a, &because, wanted, &why);
        if (wanted == 1 || !view.width) return buf_str(&why);
        if (other_lines + lines_of(a, buf_str(&why), view) <= MOST_LINES) return buf_str(&why);
    }
}

void suggest_first(struct arena *a, const struct ask *ask, const struct offers *all,
                   const struct offer *taken, struct view view, struct str below, struct buf *out)
{
    struct memory_estimate m;
    suggest_verdict(a, taken, out);
    buf_add_char(out, '\n');
    suggest_question(a, ask, taken->answer, out);
    if (assumes_more(ask, taken->plan->facts)) screen_assumed(taken->plan->facts, out);
    screen_plan_line(a, &taken->plan->config, out);
    suggest_numerics(ask, taken->answer, &taken->plan->config, out);
    add_recipe(taken->answer, out);
    suggest_bill(ask, taken->plan, out);
    if (memory_estimate(&taken->plan->config, &m, NULL)) {
        buf_add_char(out, '\n');
        screen_stages_that_matter(&m, out);
    }
    add_table(a, ask, all, taken, view.width, out);
    struct buf next = buf_new(a);
    add_next(all, taken, &next);
    buf_add(&next, below);
    size_t others = lines_of(a, buf_str(out), view) + lines_of(a, buf_str(&next), view);
    buf_add(out, reasons_that_fit(a, taken, others, view));
    buf_add(out, buf_str(&next));
}
