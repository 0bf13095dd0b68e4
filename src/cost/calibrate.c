/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate.h"

#include <math.h>

#include "cost/coefficient.h"

/* An observation is linearised with a step of 2 % in a coefficient; a coefficient that moves it by
   less than 1e-4 is not felt. */
static const double step_log = 0.02, felt = 1e-4;

enum { ROUNDS = 12 };

double observation_predict(const struct observation *o, const struct machine *m)
{
    if (o->kind == OBSERVED_KERNEL) return measured_law(&o->kernel, m);
    struct memory_estimate memory;
    struct time_estimate time;
    struct config c = *o->config;
    c.machine = *m;
    if (o->kind == OBSERVED_STEP) return time_estimate(&c, &time, NULL) ? time.step : 0;
    return memory_estimate(&c, &memory, NULL) ? memory.peak : 0;
}

/* ---- the linear problem ---- */

/* What the rounds share: m observations, k coefficients that may move. Matrices by rows. */
struct problem {
    const struct machine *prior;
    struct observation *observations;
    size_t m, k;
    int *index;                  /* [k] into machine.coefficients */
    double *sd;                  /* [k] of the prior, in logs */
    double *theta;               /* [k] logs of new over old */
    double *jacobian, *kernel;   /* [m * k], [m * m] */
    double *residual, *weighted; /* [m] */
    double *base;                /* [m] log predictions */
};

static struct machine machine_at(const struct problem *p, const double *theta)
{
    struct machine m = *p->prior;
    for (size_t j = 0; j < p->k; j++)
        m.coefficients[p->index[j]].value *= exp(theta[j]);
    return m;
}

static double log_prediction(const struct observation *o, const struct machine *m)
{
    double x = observation_predict(o, m);
    return x > 0 && isfinite(x) ? log(x) : NAN;
}

/* A step's time says nothing of which part of it is off: the steps of one model set its pace, and
   only those of several move what models share. */
static bool may_move(const struct problem *p, size_t i, size_t j)
{
    bool pace = str_is(p->prior->coefficients[p->index[j]].name, "pace");
    bool paced = p->observations[i].kind == OBSERVED_STEP && p->prior->paced_model.n > 0;
    return paced == pace;
}

static void linearise(struct problem *p)
{
    struct machine at = machine_at(p, p->theta);
    for (size_t i = 0; i < p->m; i++)
        p->base[i] = log_prediction(&p->observations[i], &at);
    for (size_t j = 0; j < p->k; j++) {
        struct machine moved = at;
        moved.coefficients[p->index[j]].value *= exp(step_log);
        for (size_t i = 0; i < p->m; i++) {
            double slope = (log_prediction(&p->observations[i], &moved) - p->base[i]) / step_log;
            bool feels = isfinite(slope) && fabs(slope) > felt && may_move(p, i, j);
            p->jacobian[i * p->k + j] = feels ? slope : 0;
        }
    }
}

/* kernel = J P J' + S, the covariance of the observations before they were made. */
static void make_kernel(struct problem *p)
{
    for (size_t i = 0; i < p->m; i++) {
        for (size_t l = 0; l <= i; l++) {
            double sum = i == l ? p->observations[i].sd * p->observations[i].sd : 0;
            for (size_t j = 0; j < p->k; j++)
                sum += p->jacobian[i * p->k + j] * p->sd[j] * p->sd[j] * p->jacobian[l * p->k + j];
            p->kernel[i * p->m + l] = p->kernel[l * p->m + i] = sum;
        }
    }
}

/* Cholesky in place, the lower half; the noise on the diagonal keeps it positive. */
static void factor(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t l = 0; l < j; l++)
                sum -= a[i * n + l] * a[j * n + l];
            a[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / a[j * n + j];
        }
    }
}

static void solve(const double *a, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < i; l++)
            x[i] -= a[i * n + l] * x[l];
        x[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t l = i + 1; l < n; l++)
            x[i] -= a[l * n + i] * x[l];
        x[i] /= a[i * n + i];
    }
}

/* A coefficient stays within four standard deviations, and a part of a whole stays one. */
static double bounded(const struct problem *p, size_t j, double theta)
{
    const struct coefficient *c = &p->prior->coefficients[p->index[j]];
    double most = 4 * p->sd[j];
    if (c->high <= 1 && c->value <= 1) most = fmin(most, fmax(0, -log(c->value)));
    return fmax(-4 * p->sd[j], fmin(most, theta));
}

/* theta = P J' (J P J' + S)^-1 (y - f + J theta): one Gauss-Newton step from the prior. */
static void improve(struct problem *p)
{
    linearise(p);
    make_kernel(p);
    factor(p->kernel, p->m);
    for (size_t i = 0; i < p->m; i++) {
        double z = log(p->observations[i].measured) - p->base[i];
        for (size_t j = 0; j < p->k; j++)
            z += p->jacobian[i * p->k + j] * p->theta[j];
        p->weighted[i] = isfinite(z) ? z : 0;
    }
    solve(p->kernel, p->m, p->weighted);
    for (size_t j = 0; j < p->k; j++) {
        double sum = 0;
        for (size_t i = 0; i < p->m; i++)
            sum += p->jacobian[i * p->k + j] * p->weighted[i];
        double target = p->sd[j] * p->sd[j] * sum;
        p->theta[j] = bounded(p, j, p->theta[j] + 0.7 * (target - p->theta[j])); /* damped */
    }
}

/* ---- the answer ---- */

/* Share of the prior variance of coefficient j that the observations remove. */
static double share_learned(struct problem *p, size_t j)
{
    double sum = 0;
    for (size_t i = 0; i < p->m; i++)
        p->residual[i] = p->weighted[i] = p->jacobian[i * p->k + j];
    solve(p->kernel, p->m, p->weighted);
    for (size_t i = 0; i < p->m; i++)
        sum += p->residual[i] * p->weighted[i];
    return fmax(0, fmin(1, p->sd[j] * p->sd[j] * sum));
}

static int count_felt(const struct problem *p, size_t j)
{
    int n = 0;
    for (size_t i = 0; i < p->m; i++)
        n += p->jacobian[i * p->k + j] != 0;
    return n;
}

/* The 80 % interval narrows with what was learned. */
static struct fitted fitted_of(struct problem *p, size_t j)
{
    const struct coefficient *c = &p->prior->coefficients[p->index[j]];
    struct fitted f = {.coefficient = p->index[j], .learned = share_learned(p, j)};
    double half = 1.2816 * p->sd[j] * sqrt(1 - f.learned);
    f.value = c->value * exp(p->theta[j]);
    f.low = f.value * exp(-half);
    f.high = f.value * exp(half);
    f.n = count_felt(p, j);
    return f;
}

static void select_coefficients(struct arena *a, struct problem *p)
{
    const struct machine *m = p->prior;
    size_t most = (size_t)m->n_coefficients;
    p->index = ARENA_ARRAY(a, int, most);
    p->sd = ARENA_ARRAY(a, double, most);
    for (int i = 0; i < m->n_coefficients; i++) {
        const struct coefficient *c = &m->coefficients[i];
        double sd = coefficient_log_sd(c);
        if (c->value <= 0 || sd <= 0) continue;
        p->index[p->k] = i;
        p->sd[p->k++] = sd;
    }
}

void calibrate(struct arena *a, const struct machine *prior, struct observation *observations,
               size_t n, struct calibration *out)
{
    struct problem p = {.prior = prior, .observations = observations, .m = n};
    select_coefficients(a, &p);
    p.theta = ARENA_ARRAY(a, double, p.k);
    p.jacobian = ARENA_ARRAY(a, double, n *p.k);
    p.kernel = ARENA_ARRAY(a, double, n *n);
    p.residual = ARENA_ARRAY(a, double, n);
    p.weighted = ARENA_ARRAY(a, double, n);
    p.base = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        observations[i].before = observation_predict(&observations[i], prior);
    for (int round = 0; round < ROUNDS && n > 0; round++)
        improve(&p);
    *out = (struct calibration){ARENA_ARRAY(a, struct fitted, p.k), p.k};
    struct machine fitted = machine_at(&p, p.theta);
    for (size_t i = 0; i < n; i++)
        observations[i].after = observation_predict(&observations[i], &fitted);
    for (size_t j = 0; j < p.k; j++)
        out->items[j] = fitted_of(&p, j);
}
