# SPDX-License-Identifier: Apache-2.0
"""Robust least squares in logarithms: Gauss-Newton from a prior, with slopes by differences."""
import math

STEP = 0.01


def solve(a, b):
    """x of a x = b, a positive definite; Gauss with pivots."""
    n = len(b)
    a = [row[:] + [x] for row, x in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[p] = a[p], a[i]
        for k in range(i + 1, n):
            f = a[k][i] / a[i][i]
            if f:
                for j in range(i, n + 1):
                    a[k][j] -= f * a[i][j]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def inverse_diagonal(a):
    n = len(a)
    return [solve(a, [1.0 if j == i else 0.0 for j in range(n)])[i] for i in range(n)]


class Problem:
    """Coefficients as logs over their start. predict(keys -> value) gives a log prediction for each row, None where there is none.
    sd: of each coefficient's log. noise: of a row's log; beyond `bend` of it a row pulls with constant strength, and beyond `lost`
    of it less and less: no law explains it."""

    def __init__(self, start, sd, measured, weights, predict, noise=0.05, bend=1.0, lost=math.inf):
        self.keys = sorted(start, key=str)
        self.start, self.sd = start, sd
        self.measured, self.weights = measured, weights
        self.predict, self.noise, self.bend, self.lost = predict, noise, bend, lost
        self.theta = [0.0] * len(self.keys)
        self.held = set()   # coefficients that stay where they are

    def values(self, theta=None):
        theta = self.theta if theta is None else theta
        return {k: self.start[k] * math.exp(t) for k, t in zip(self.keys, theta)}

    def slopes(self):
        self.base = self.predict(self.values())
        self.rows = [i for i, x in enumerate(self.base) if x is not None]
        self.jacobian = []
        for j in range(len(self.keys)):
            moved = list(self.theta)
            moved[j] += STEP
            there = self.predict(self.values(moved))
            self.jacobian.append([(there[i] - self.base[i]) / STEP for i in self.rows])

    def step(self, use=None, damp=0.8, most=0.5):
        """One step; `use` says which rows count. Gives the normal matrix."""
        k = len(self.keys)
        pull = []
        for i in self.rows:
            e = self.measured[i] - self.base[i]
            w = self.weights[i] / self.noise ** 2 / max(1.0, abs(e) / (self.bend * self.noise)) / (1 + (e / (self.lost * self.noise)) ** 2)
            pull.append((e, w if use is None or use[i] else 0.0))
        a = [[0.0] * k for _ in range(k)]
        g = [0.0] * k
        for p in range(k):
            jp = [x * w for x, (_, w) in zip(self.jacobian[p], pull)]
            for q in range(p, k):
                a[p][q] = a[q][p] = sum(x * y for x, y in zip(jp, self.jacobian[q]) if x and y)
            sd = self.sd[self.keys[p]]
            a[p][p] += 1 / sd ** 2 + (1e12 if p in self.held else 0.0)
            g[p] = sum(x * e for x, (e, _) in zip(jp, pull)) - self.theta[p] / sd ** 2
        d = solve(a, g)
        self.theta = [t + max(-most, min(most, damp * x)) for t, x in zip(self.theta, d)]
        return a

    def felt(self, j):
        return sum(abs(x) > 1e-3 for x in self.jacobian[j])


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else float('nan')


def bound_of_next(values, part):
    """Below which another value lies with that probability, if it is one of their kind: one of n + 1 places as good as any."""
    return sorted(values)[min(len(values), math.ceil(part * (len(values) + 1))) - 1]


def spread(errors):
    """Median and p90 of the size of log errors, as text in per cent."""
    sizes = [math.expm1(abs(e)) for e in errors]
    return f'{100 * quantile(sizes, 0.5):5.1f} /{100 * quantile(sizes, 0.9):5.1f}'
