/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/learn.h"

#include <math.h>

#include "cost/coefficient.h"

/* What lies further off than so many standard deviations is no matter of coefficients. */
static const double most_sds = 3;

/* What the model leaves out of all plans of one question alike, as the standard deviation of the
   step's logarithm, and what a cluster's coefficients differ by at least from those of the machines
   that they were measured on, however narrow their interval. These are judgements:
   tests/fake_cluster.py shows what becomes of them. */
static const double common_sd = 0.10, least_sd = 0.15;

struct learner {
    size_t n;
    double *mean;       /* [n] */
    double *covariance; /* [n * n] by rows: of what is believed now */
};

/* ---- what is believed before any run ---- */

static double log_step(const struct config *c)
{
    struct time_estimate time;
    return time_estimate(c, &time, NULL) && time.step > 0 ? log(time.step) : 0;
}

/* The logarithm by which a coefficient moved that was to move by so much: a part of a whole does
   not grow beyond it. */
static double move(struct coefficient *x, double by)
{
    double old = x->value, to = old * exp(by);
    bool part = x->high <= 1;
    x->value = part ? fmin(to, fmax(1, old)) : to;
    return log(x->value / old);
}

/* What one coefficient adds to the covariance of all plans: it is moved as far as it may be off
   both ways, so that what is hidden on one side and shows on the other counts by half. */
static void add_coefficient(struct learner *l, const struct levered *const *plans, int coefficient,
                            double sd, double *slopes)
{
    for (size_t i = 0; i < l->n; i++) {
        struct config more = plans[i]->config, less = more;
        double up = move(&more.machine.coefficients[coefficient], sd),
               down = move(&less.machine.coefficients[coefficient], -sd);
        slopes[i] = sd * (log_step(&more) - log_step(&less)) / (up - down);
    }
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->n; k++)
            l->covariance[i * l->n + k] += slopes[i] * slopes[k];
}

struct learner *learner_new(struct arena *a, const struct levered *const *plans, size_t n)
{
    struct learner *l = ARENA_NEW(a, struct learner);
    *l = (struct learner){n, ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n *n)};
    double *slopes = ARENA_ARRAY(a, double, n);
    const struct machine *m = &plans[0]->config.machine;
    for (size_t i = 0; i < n; i++)
        l->mean[i] = log(plans[i]->time.step);
    for (size_t i = 0; i < n * n; i++)
        l->covariance[i] = common_sd * common_sd;
    for (int i = 0; i < m->n_coefficients; i++) {
        if (m->coefficients[i].value > 0)
            add_coefficient(l, plans, i, fmax(least_sd, coefficient_log_sd(&m->coefficients[i])),
                            slopes);
    }
    return l;
}

/* ---- what runs say ---- */

/* One measurement of a normal distribution: every plan moves by what it has in common with the one
   that was run. What is further off than anything believed is that plan's own affair, a kernel that
   fell back, say: it is taken at its word and says little of the others. */
void learner_measure(struct learner *l, size_t plan, double step_s, double sd)
{
    double *row = &l->covariance[plan * l->n], apart = log(step_s) - l->mean[plan];
    double own = apart * apart / (most_sds * most_sds) - row[plan] - sd * sd;
    if (own > 0) row[plan] += own;
    double all = row[plan] + sd * sd, off = apart / all;
    for (size_t i = 0; i < l->n; i++)
        l->mean[i] += row[i] * off;
    for (size_t i = 0; i < l->n; i++) {
        if (i == plan) continue;
        double share = l->covariance[i * l->n + plan] / all;
        for (size_t k = 0; k < l->n; k++)
            l->covariance[i * l->n + k] -= share * row[k];
    }
    double left = 1 - row[plan] / all;
    for (size_t k = 0; k < l->n; k++)
        row[k] *= left;
}

void learner_assume(struct learner *l, size_t plan, double sd)
{
    learner_measure(l, plan, exp(l->mean[plan]), sd);
}

struct belief learner_belief(const struct learner *l, size_t plan)
{
    return (struct belief){l->mean[plan], sqrt(fmax(0, l->covariance[plan * l->n + plan]))};
}

double expected_improvement(double gain, double sd, double *chance)
{
    double z = gain / sd;
    *chance = 0.5 * erfc(-z / sqrt(2));
    return gain * *chance + sd * exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

double learner_improvement(const struct learner *l, size_t plan, size_t best, double *chance)
{
    double gain = l->mean[best] - l->mean[plan];
    double variance = l->covariance[plan * l->n + plan] + l->covariance[best * l->n + best] -
                      l->covariance[plan * l->n + best] - l->covariance[best * l->n + plan];
    return expected_improvement(gain, sqrt(fmax(variance, 1e-12)), chance);
}
