/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/wish.h"

#include <math.h>

#include "base/num.h"

enum { TOKENS, STEPS, EPOCHS, DATASET, PRICE, GOODPUT, DEADLINE, BUDGET };
const char *const wish_names[WISHES] = {"tokens", "steps",   "epochs",   "dataset-tokens",
                                        "price",  "goodput", "deadline", "budget"};

static const double most = 1e18; /* of any of them: above, sums lose their last digits */

/* ---- numbers with units ---- */

struct unit {
    const char *word;
    double factor;
};
static const struct unit counts[] = {{"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}, {0}};
static const struct unit days[] = {{"d", 1}, {"h", 1.0 / 24}, {"w", 7}, {0}};
static const struct unit prices[] = {{"/h", 1}, {0}};
static const struct unit parts[] = {{"%", 0.01}, {0}};

/* A positive number, with one of the units behind it or none. */
static bool read_number(struct str text, const struct unit *units, double *out)
{
    text = str_trim(text);
    double factor = 1;
    for (const struct unit *u = units; u->word; u++) {
        struct str word = str_of(u->word);
        if (text.n <= word.n || !str_eq_nocase(str_slice(text, text.n - word.n, text.n), word))
            continue;
        text = str_slice(text, 0, text.n - word.n);
        factor = u->factor;
        break;
    }
    if (!num_parse_double(str_trim(text), out)) return false;
    *out *= factor;
    return *out > 0 && *out <= most;
}

/* "h100=2.1/h,gb200=4/h": whether every part has a name and a price; that of `platform` in *out. */
static bool read_prices(struct str list, const struct platform *p, double *out)
{
    struct str one;
    while (str_split(&list, ',', &one)) {
        size_t equals = str_find(one, '=');
        struct str name = str_trim(str_slice(one, 0, equals));
        double price;
        if (!name.n || !read_number(str_slice(one, equals + 1, one.n), prices, &price))
            return false;
        bool here = p && (str_eq_nocase(name, p->id) || str_eq_nocase(name, p->asked));
        if (here) *out = price;
    }
    return true;
}

/* ---- reading ---- */

static bool read_price(struct bill_wish *w, struct str text)
{
    double unused;
    if (str_find(text, '=') == text.n) return read_number(text, prices, &w->price);
    w->prices = text;
    return read_prices(text, NULL, &unused);
}

static bool read_one(struct bill_wish *w, size_t which, struct str text)
{
    switch (which) {
    case TOKENS: return read_number(text, counts, &w->tokens);
    case STEPS: return read_number(text, counts, &w->steps) && w->steps == floor(w->steps);
    case EPOCHS: return read_number(text, counts, &w->epochs);
    case DATASET: return read_number(text, counts, &w->dataset_tokens);
    case PRICE: return read_price(w, text);
    case GOODPUT: return read_number(text, parts, &w->goodput) && w->goodput <= 1;
    case DEADLINE: return read_number(text, days, &w->deadline_days);
    default: return read_number(text, counts, &w->budget);
    }
}

bool wish_read(struct arena *a, struct bill_wish *w, size_t which, const char *shown,
               struct str text, struct str *why)
{
    static const char *const wanted[WISHES] = {
        "a number of tokens such as 10T or 500B",
        "a number of steps such as 20000 or 20K",
        "a number of epochs such as 3",
        "a number of tokens such as 500B",
        "the price of a GPU hour such as 2.1/h, or h100=2.1/h,gb200=4/h",
        "a part of the time such as 0.9 or 90%",
        "a time such as 30d, 12h or 4w",
        "an amount of money such as 50K",
    };
    if (read_one(w, which, text)) return true;
    *why = arena_printf(a, "%s must be %s, not \"%.*s\"", shown, wanted[which], STR_ARG(text));
    return false;
}

bool wish_settle(const struct bill_wish *w, struct str *why)
{
    int amounts = (w->tokens > 0) + (w->steps > 0) + (w->epochs > 0);
    bool more =
        w->price > 0 || w->prices.n || w->goodput > 0 || w->deadline_days > 0 || w->budget > 0;
    *why = STR("tokens, steps and epochs say the same thing: give one of them");
    if (amounts > 1) return false;
    *why = STR("epochs and dataset-tokens go together");
    if ((w->epochs > 0) != (w->dataset_tokens > 0)) return false;
    *why = STR("budget needs a price");
    if (w->budget > 0 && w->price <= 0 && !w->prices.n) return false;
    *why = STR("price, goodput and deadline need tokens, steps or epochs: how much is trained");
    return amounts || !more;
}

/* ---- the bill ---- */

static double power_of(const struct platform *p)
{
    struct value v = p ? entry_value(p->entry, "gpu_power_w") : value_null();
    return v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_DOUBLE ? v.d : 0;
}

struct bill wish_bill(const struct bill_wish *w, const struct platform *p, const struct knobs *k,
                      const struct time_estimate *t)
{
    struct bill_wish here = *w;
    if (w->prices.n) read_prices(w->prices, p, &here.price);
    return bill_of(&here, k, t, power_of(p));
}
