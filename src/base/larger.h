/* SPDX-License-Identifier: Apache-2.0 */
/* The larger and the smaller of two numbers: fmax and fmin without their care for what is no
   number, which costs a call. */
#ifndef MOEPLAN_BASE_LARGER_H
#define MOEPLAN_BASE_LARGER_H

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
