/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/documents.h"

#include <math.h>

#include "base/num.h"

enum { SAMPLES = 400, MOST_PERCENTILES = 16 };

static const double most_tokens = 1e12;

static void add(struct arena *a, struct documents *d, double length, double count)
{
    *VEC_PUSH(a, &d->classes) = (struct document_class){length, count};
}

/* ---- words ---- */

/* 2000, 2k, 1.5m */
static bool read_length(struct str text, double *out)
{
    static const struct {
        char letter;
        double factor;
    } units[] = {{'k', 1e3}, {'K', 1e3}, {'m', 1e6}, {'M', 1e6}};
    double factor = 1;
    text = str_trim(text);
    for (size_t i = 0; i < sizeof units / sizeof *units && text.n; i++)
        if (text.p[text.n - 1] == units[i].letter) {
            factor = units[i].factor;
            text.n--;
            break;
        }
    if (!num_parse_double(text, out)) return false;
    *out *= factor;
    return *out >= 1 && *out <= most_tokens;
}

/* Lengths that fall off exponentially: quantiles at the middles of equal shares. */
static void add_exponential(struct arena *a, struct documents *d, double mean)
{
    for (int i = 0; i < SAMPLES; i++)
        add(a, d, fmax(1, -mean * log(1 - (i + 0.5) / SAMPLES)), 1);
    d->spread_assumed = true;
}

struct percentile {
    double z, log_length;
};

/* The logarithm of the length at a normal quantile: straight lines between the percentiles, the
   outer ones prolonged. */
static double log_length_at(const struct percentile *p, size_t n, double z)
{
    size_t i = 1;
    while (i + 1 < n && z > p[i].z)
        i++;
    double slope = (p[i].log_length - p[i - 1].log_length) / (p[i].z - p[i - 1].z);
    return p[i].log_length + slope * (z - p[i].z);
}

static bool rises(const struct percentile *p, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (p[i].z <= p[i - 1].z || p[i].log_length < p[i - 1].log_length) return false;
    return n >= 2;
}

static void add_percentiles(struct arena *a, struct documents *d, const struct percentile *p,
                            size_t n)
{
    for (int i = 0; i < SAMPLES; i++) {
        double z = num_normal_quantile((i + 0.5) / SAMPLES);
        add(a, d, fmax(1, exp(log_length_at(p, n, z))), 1);
    }
}

/* "p90=4000" */
static bool read_percentile(struct str word, struct percentile *out)
{
    size_t equals = str_find(word, '=');
    double percent, length;
    if (!str_starts(word, STR("p")) || !num_parse_double(str_slice(word, 1, equals), &percent) ||
        !read_length(str_slice(word, equals + 1, word.n), &length) || percent <= 0 ||
        percent >= 100)
        return false;
    *out = (struct percentile){num_normal_quantile(percent / 100), log(length)};
    return true;
}

bool documents_read_words(struct arena *a, struct str text, struct documents *out, struct str *why)
{
    struct percentile list[MOST_PERCENTILES];
    struct str rest = text, word;
    size_t n = 0;
    double mean = 0;
    bool good = true;
    *out = (struct documents){.packed = true};
    while (good && str_split(&rest, ',', &word)) {
        word = str_trim(word);
        if (str_is(word, "unpacked"))
            out->packed = false;
        else if (str_starts(word, STR("mean=")))
            good = read_length(str_slice(word, 5, word.n), &mean);
        else
            good = n < MOST_PERCENTILES && read_percentile(word, &list[n++]);
    }
    *why =
        arena_printf(a,
                     "documents must be such as mean=2000, p50=900,p90=4000,p99=16000 (rising) or "
                     "a file of lengths, with unpacked for one a sequence, not \"%.*s\"",
                     STR_ARG(text));
    if (!good || (mean > 0) == (n > 0) || (n && !rises(list, n))) return false;
    if (mean > 0)
        add_exponential(a, out, mean);
    else
        add_percentiles(a, out, list, n);
    return true;
}

/* ---- a histogram ---- */

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
}

/* The next word of a line; empty at its end. */
static struct str next_word(struct str *line)
{
    size_t from = 0;
    while (from < line->n && is_gap(line->p[from]))
        from++;
    size_t to = from;
    while (to < line->n && !is_gap(line->p[to]))
        to++;
    struct str word = str_slice(*line, from, to);
    *line = str_slice(*line, to, line->n);
    return word;
}

static bool read_row(struct str line, double *length, double *count)
{
    struct str first = next_word(&line), second = next_word(&line);
    *count = 1;
    return read_length(first, length) &&
           (!second.n ||
            (num_parse_double(second, count) && *count >= 0 && *count <= most_tokens)) &&
           !next_word(&line).n;
}

bool documents_read_histogram(struct arena *a, struct str text, struct documents *out,
                              struct str *why)
{
    struct str rest = text, line;
    double total = 0;
    *out = (struct documents){.packed = true};
    for (int number = 1; str_split(&rest, '\n', &line); number++) {
        double length, count;
        line = str_trim(str_slice(line, 0, str_find(line, '#')));
        if (!line.n) continue;
        if (read_row(line, &length, &count)) {
            add(a, out, length, count);
            total += count;
            continue;
        }
        if (!out->classes.n && number == 1) continue; /* a heading */
        *why = arena_printf(a, "line %d of the documents is no LENGTH or LENGTH COUNT", number);
        return false;
    }
    *why = STR("the file holds no documents");
    return total > 0;
}

/* ---- moments ---- */

struct document_moments documents_moments(const struct documents *d, double seq)
{
    double n = 0, sum = 0, squares = 0, fourths = 0, whole = 0;
    for (size_t i = 0; i < d->classes.n; i++) {
        const struct document_class *c = &d->classes.items[i];
        double length = fmin(c->length, seq);
        n += c->count;
        sum += c->count * length;
        squares += c->count * length * length;
        fourths += c->count * pow(length, 4);
        whole += c->count * c->length;
    }
    double mean_square = squares / n;
    struct document_moments m = {.mean = sum / n, .cut = 1 - sum / whole};
    if (!d->packed) {
        m.attended = seq;
        m.padding = 1 - m.mean / seq;
        return m;
    }
    m.attended = squares / sum;
    m.spread = sqrt(fmax(0, fourths / n - mean_square * mean_square)) / mean_square;
    return m;
}
