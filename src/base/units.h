/* SPDX-License-Identifier: Apache-2.0 */
/* Units that figures are told in. */
#ifndef MOEPLAN_BASE_UNITS_H
#define MOEPLAN_BASE_UNITS_H

#define GIB 1073741824.0 /* bytes */

#endif
