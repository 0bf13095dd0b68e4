/* SPDX-License-Identifier: Apache-2.0 */
/* What documents do to attention, by hand. */
#include "plan/documents.h"

#include <math.h>

#include "cost/cost.h"
#include "unit/plan_text.h"

static void silence_is_one_document(void **state)
{
    const struct knobs k = {
        .gpus = 8, .tp = 1, .pp = 1, .cp = 2, .ep = 1, .mbs = 1, .gbs = 8, .seq = 4096};
    (void)state;
    assert_true(documents_attended(&k) == 4096 && documents_across_ranks(&k).excess == 0);
    assert_true(documents_padding(&k) == 0);
}

/* 64 sequences a step on 8 GPUs, of documents of 1,024 tokens. */
static struct knobs packed(int pp, int ep)
{
    return (struct knobs){.gpus = 8,
                          .tp = 1,
                          .pp = pp,
                          .cp = 1,
                          .ep = ep,
                          .mbs = 1,
                          .gbs = 64,
                          .seq = 4096,
                          .document_tokens = 1280,
                          .document_mean = 1024,
                          .document_spread = 0.5};
}

/* 4,096 tokens hold four documents of 1,024; of 8 expert ranks the fullest lies 1.4342
   deviations of 0.5 / 2 above the mean. Of four sequences a microbatch sixteen documents.
 */
static void the_slowest_of_many_is_waited_for(void **state)
{
    struct knobs k = packed(1, 8);
    (void)state;
    assert_true(documents_attended(&k) == 1280);
    assert_true(fabs(documents_across_ranks(&k).excess - 1.4342 * 0.5 / 2) < 1e-4);
    k.mbs = 4;
    assert_true(fabs(documents_across_ranks(&k).excess - 1.4342 * 0.5 / 4) < 1e-4);
    k.ep = 1; /* then 8 data-parallel ranks after the 8 sequences of a step */
    k.mbs = 1;
    assert_true(fabs(documents_across_ranks(&k).excess - 1.4342 * 0.5 / sqrt(32)) < 1e-4);
    k.document_spread = 100; /* never above what one long document has */
    assert_true(fabs(documents_across_ranks(&k).excess - (4096.0 / 1280 - 1)) < 1e-12);
    k.gpus = 1;
    assert_true(documents_across_ranks(&k).excess == 0);
}

/* Ramps of a pipeline are as long as the largest of its 64 / 4 microbatches: of 4 documents each,
   1.7688 deviations of 0.5 / 2 above the mean, where the step's four ranks of 64
   documents have theirs 1.0491 of 0.5 / 8 above. */
static void ramps_wait_for_the_largest_microbatch(void **state)
{
    struct knobs k = packed(2, 1);
    (void)state;
    double ranks = 1.0491 * 0.5 / 8, largest = 1.7688 * 0.5 / 2;
    assert_true(fabs(documents_across_ranks(&k).excess - ranks) < 1e-4);
    assert_true(fabs(documents_across_microbatches(&k).excess - ((1 + largest) / (1 + ranks) - 1)) <
                1e-4);
    assert_true(documents_across_microbatches(&k).ranks == 16);
    k.pp = 1;
    assert_true(documents_across_microbatches(&k).excess == 0);
}

/* Multiples of 2 x 4 add 3.5 tokens to each of 100 on average. */
static void context_parallelism_pads(void **state)
{
    const struct knobs k = {.cp = 4, .document_mean = 100, .padding = 0.2};
    (void)state;
    assert_true(fabs(documents_padding(&k) - (1 - 0.8 / 1.035)) < 1e-12);
}

static void estimate(struct arena *a, const char *documents, struct time_estimate *t,
                     struct memory_estimate *m)
{
    struct str body = arena_printf(a, "ep: 8\nuse_distributed_optimizer: true\n%s", documents);
    const struct config *c = plan_config(a, "megatron", body.p);
    assert_true(time_estimate(c, t, NULL) && memory_estimate(c, m, NULL));
}

/* Half of the keys: attention's FLOPs are halved with it, memory is not; a document of the whole
   sequence changes nothing. */
static void attention_ends_with_its_document(void **state)
{
    struct time_estimate whole, long_one, half, uneven;
    struct memory_estimate m, n;
    estimate(*state, "", &whole, &m);
    estimate(*state, "document_tokens: 9999\ndocument_mean: 4096\n", &long_one, &n);
    estimate(*state, "document_tokens: 2048\ndocument_mean: 2048\n", &half, &n);
    estimate(*state, "document_tokens: 2048\ndocument_mean: 2048\ndocument_spread: 1\n", &uneven,
             &n);
    assert_true(whole.step == long_one.step && m.peak == n.peak);
    assert_true(half.step < whole.step && half.step < uneven.step);
    struct arena *a = *state;
    const char *as_uneven = "ep: 8\nuse_distributed_optimizer: true\ndocument_tokens: 2048\n"
                            "document_mean: 2048\ndocument_spread: 1\n";
    assert_true(fabs(time_uneven_documents(plan_config(a, "megatron", as_uneven)) -
                     (uneven.step - half.step)) < 1e-12);
    double flops = whole.model_flops_per_gpu * whole.step,
           less = half.model_flops_per_gpu * half.step;
    /* 48 layers, 32 heads of 128, 3 passes, 2 products of 2 FLOPs, halved: a token sees 1,024 keys
       fewer; 64 sequences on 8 GPUs */
    double saved = 48.0 * 32 * 128 * 3 * 2 * 2 * 1024 * 64 * 4096 / 8;
    assert_true(fabs((flops - less) / saved - 1) < 1e-6);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(silence_is_one_document),
    cmocka_unit_test(the_slowest_of_many_is_waited_for),
    cmocka_unit_test(ramps_wait_for_the_largest_microbatch),
    cmocka_unit_test(context_parallelism_pads),
    cmocka_unit_test(attention_ends_with_its_document),
};

UNIT_MAIN(tests)
