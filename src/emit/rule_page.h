/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a rule, in Markdown that reads well in a terminal: what it means, what the framework
   says itself, a wrong and a right configuration with the finding, and where it is from. */
#ifndef MOEPLAN_EMIT_RULE_PAGE_H
#define MOEPLAN_EMIT_RULE_PAGE_H

#include "base/buf.h"
#include "rules/rule.h"

/* The whole page. Examples run with the overrides of `set`; `scratch` is used and not kept. */
void rule_page(const struct rule *r, const struct rule_set *set, struct arena *scratch,
               struct buf *out);
/* The rule on one configuration: applicable or not and by which condition, the numbers, the
   verdict. Facts with overrides applied; `label` says which configuration it is. */
void rule_page_verdict(const struct rule *r, const struct facts *f, struct str label,
                       struct arena *scratch, struct buf *out);

#endif
