/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of documents, by hand. */
#include "facts/documents.h"

#include <math.h>

#include "unit/unit.h"

static struct documents words(struct arena *a, const char *text)
{
    struct documents d;
    struct str why;
    if (!documents_read_words(a, str_of(text), &d, &why)) fail_msg("%s", why.p);
    return d;
}

static struct documents histogram(struct arena *a, const char *text)
{
    struct documents d;
    struct str why;
    if (!documents_read_histogram(a, str_of(text), &d, &why)) fail_msg("%s", why.p);
    return d;
}

/* Three of 1,000 tokens and one of 3,000: squares of 3 x 1e6 + 9e6 over 6,000 tokens; fourths of
   3e12 + 81e12 over four are 21e12, less (3e6)^2. */
static void moments_are_those_of_the_classes(void **state)
{
    struct documents d = histogram(*state, "length,count\n1000,3\n3000 1 # one\n\n");
    struct document_moments m = documents_moments(&d, 4096);
    assert_true(m.mean == 1500 && m.attended == 2000 && m.padding == 0 && m.cut == 0);
    assert_true(fabs(m.spread - sqrt(12e12) / 3e6) < 1e-12);
    d.packed = false;
    assert_true(fabs(documents_moments(&d, 6000).padding - 0.75) < 1e-12);
}

/* A sequence of 2,000 cuts 1,000 of 6,000 tokens off. */
static void what_is_longer_is_cut(void **state)
{
    struct documents d = histogram(*state, "1000\n1000\n1000\n3000\n");
    struct document_moments m = documents_moments(&d, 2000);
    assert_true(m.mean == 1250 && m.attended == 7e6 / 5000);
    assert_true(fabs(m.cut - 1000.0 / 6000) < 1e-12);
}

/* Of exponential lengths squares are twice the mean's square, fourths 24 times its fourth: spread
   sqrt(20) / 2; 400 quantiles hold most of it. */
static void a_mean_alone_is_exponential(void **state)
{
    struct documents d = words(*state, "mean=2k");
    struct document_moments m = documents_moments(&d, 1e9);
    assert_true(d.spread_assumed && d.packed);
    assert_true(fabs(m.mean / 2000 - 1) < 0.01 && fabs(m.attended / 4000 - 1) < 0.02);
    assert_true(fabs(m.spread / 2.236 - 1) < 0.1);
}

/* p50 and p84.134 are a deviation apart: a lognormal of sigma log(2), whose mean is
   exp(sigma^2 / 2) medians and whose mean of squares over mean is exp(3 / 2 sigma^2) of them. */
static void percentiles_are_kept(void **state)
{
    struct documents d = words(*state, "p50=1000,p84.134=2000");
    double sigma = log(2);
    struct document_moments m = documents_moments(&d, 1e9);
    assert_false(d.spread_assumed);
    assert_true(fabs(m.mean / (1000 * exp(sigma * sigma / 2)) - 1) < 0.01);
    assert_true(fabs(m.attended / (1000 * exp(1.5 * sigma * sigma)) - 1) < 0.02);
    d = words(*state, "p10=100,p50=1000,p90=1000");
    for (size_t i = 0; i < d.classes.n; i++) /* flat above the middle, steep below */
        assert_true(d.classes.items[i].length < 1001 &&
                    (i < d.classes.n / 2 || d.classes.items[i].length > 999));
}

/* Every token of a padded sequence has its row of the causal mask, in all sequences alike. */
static void padding_is_computed_too(void **state)
{
    struct documents d = words(*state, "p50=1000,p84.134=2000,unpacked");
    struct document_moments m = documents_moments(&d, 1e6);
    assert_false(d.packed);
    assert_true(m.attended == 1e6 && m.spread == 0 && m.cut == 0);
    assert_true(fabs(m.padding - (1 - m.mean / 1e6)) < 1e-12 && m.mean < 2000);
}

static void what_makes_no_sense_is_refused(void **state)
{
    static const char *const bad[] = {"mean=0",
                                      "mean",
                                      "p50=100",
                                      "p50=100,p90=50",
                                      "p90=100,p50=90",
                                      "x",
                                      "p0=1,p50=2",
                                      "mean=2,p50=1,p90=2",
                                      "",
                                      "p50=,p90=3"};
    static const char *const files[] = {"",          "# nothing\n", "head\nhead\n", "100 x\n",
                                        "100 1 1\n", "100 0\n",     "100 -1\n"};
    struct documents d;
    struct str why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (documents_read_words(*state, str_of(bad[i]), &d, &why)) fail_msg("%s", bad[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (documents_read_histogram(*state, str_of(files[i]), &d, &why)) fail_msg("%s", files[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(moments_are_those_of_the_classes),
    cmocka_unit_test(what_is_longer_is_cut),
    cmocka_unit_test(a_mean_alone_is_exponential),
    cmocka_unit_test(percentiles_are_kept),
    cmocka_unit_test(padding_is_computed_too),
    cmocka_unit_test(what_makes_no_sense_is_refused),
};

UNIT_MAIN(tests)
