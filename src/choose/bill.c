/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/bill.h"

#include <math.h>

#include "plan/documents.h"

const struct bill_source bill_sources[BILL_SOURCES] = {
    [BILL_INTERRUPTIONS] =
        {"interruptions",
         "a GPU and day",
         "Llama 3 405B: 466 in 54 days on 16,384 H100 (arXiv 2407.21783, 3.3.4); Meta's research "
         "clusters: 2.34 and 6.50 failures in 1,000 node days of 8 A100 (arXiv 2410.21680)",
         {5.27e-4, 2.9e-4, 8.1e-4}},
    [BILL_LOST] =
        {"time lost by each",
         "minutes",
         "Llama 3 405B: more than 90 % of the time effective, at most 17 minutes for each of the "
         "466; MegaScale: found within 10 minutes, back within 15 (arXiv 2402.15627, 6.3)",
         {15, 8, 30}},
    [BILL_PAUSES] = {"checkpoints",
                     "part of the time",
                     "BLOOM: 40 s of saving every 3 hours (BigScience's training chronicles); none "
                     "where they are written in the background",
                     {0.004, 0, 0.02}},
};

/* ---- intervals ---- */

/* Of a product of independent factors: distances of the logarithms add up as squares. */
static double far_end(double value, double end, double other_value, double other_end)
{
    return hypot(log(end / value), log(other_end / other_value));
}

static struct figure product(struct figure x, struct figure y)
{
    double value = x.value * y.value;
    return (struct figure){value, value * exp(-far_end(x.value, x.low, y.value, y.low)),
                           value * exp(far_end(x.value, x.high, y.value, y.high))};
}

static struct figure inverse(struct figure x)
{
    return (struct figure){1 / x.value, 1 / x.high, 1 / x.low};
}

static struct figure scaled(struct figure x, double by)
{
    return (struct figure){x.value * by, x.low * by, x.high * by};
}

/* ---- goodput ---- */

struct figure bill_goodput(double gpus)
{
    const struct figure lost = product(bill_sources[BILL_INTERRUPTIONS].figure,
                                       scaled(bill_sources[BILL_LOST].figure, gpus / (24 * 60)));
    const struct figure pauses = bill_sources[BILL_PAUSES].figure;
    return (struct figure){(1 - pauses.value) / (1 + lost.value),
                           (1 - pauses.high) / (1 + lost.high), (1 - pauses.low) / (1 + lost.low)};
}

/* ---- the bill ---- */

bool bill_wanted(const struct bill_wish *w)
{
    return w->tokens > 0 || w->steps > 0 || w->epochs > 0;
}

static double steps_of(const struct bill_wish *w, double tokens_per_step)
{
    if (w->steps > 0) return w->steps;
    double tokens = w->tokens > 0 ? w->tokens : w->epochs * w->dataset_tokens;
    return ceil(tokens / tokens_per_step);
}

/* Whether a figure keeps below a limit; 0: there is none. */
static enum deadline within(struct figure f, double limit)
{
    if (limit <= 0) return DEADLINE_NONE;
    if (f.high <= limit) return DEADLINE_MET;
    return f.value <= limit ? DEADLINE_UNSURE : DEADLINE_MISSED;
}

struct bill bill_of(const struct bill_wish *w, const struct knobs *k, const struct time_estimate *t,
                    double power_w)
{
    struct bill b = {.gpus = (double)k->gpus,
                     .tokens_per_step = (double)k->gbs * k->seq * (1 - documents_padding(k)),
                     .goodput_stated = w->goodput > 0,
                     .price = w->price,
                     .power_w = power_w,
                     .deadline_days = w->deadline_days,
                     .budget = w->budget};
    const struct figure step = {t->step, t->low, t->high};
    b.steps = steps_of(w, b.tokens_per_step);
    b.tokens = b.steps * b.tokens_per_step;
    b.goodput = b.goodput_stated ? (struct figure){w->goodput, w->goodput, w->goodput}
                                 : bill_goodput((double)k->gpus);
    b.days = scaled(product(step, inverse(b.goodput)), b.steps / 86400);
    b.gpu_hours = scaled(b.days, 24 * (double)k->gpus);
    b.tokens_per_day = scaled(inverse(b.days), b.tokens);
    b.cost = scaled(b.gpu_hours, w->price);
    b.energy_kwh = scaled(b.gpu_hours, power_w / 1000);
    b.deadline = within(b.days, b.deadline_days);
    b.affordable = within(b.cost, b.budget);
    return b;
}

const char *bill_word(enum deadline d)
{
    static const char *const words[] = {NULL, "met", "unsure", "missed"};
    return words[d];
}
