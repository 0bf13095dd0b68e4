/* SPDX-License-Identifier: Apache-2.0 */
/* No figure of ours is printed that is none: what a user writes is ranged before anything is
   computed from it, so a NaN or an infinity at the way out is our mistake. */
#ifndef MOEPLAN_BASE_FINITE_H
#define MOEPLAN_BASE_FINITE_H

#include <stdarg.h>

/* The number, which must be finite. */
double finite_check(double x);
/* Asserts that every floating-point argument of a printf format is finite; `args` stays as it is.
 */
void finite_arguments(const char *format, va_list args);

#endif
