/* SPDX-License-Identifier: Apache-2.0 */
/* What a framework's own file has to say of a plan, so that reading it back gives the same one. */
#ifndef MOEPLAN_FLOW_SAID_H
#define MOEPLAN_FLOW_SAID_H

#include "facts/facts.h"
#include "rules/rule.h"

/* Numbers of the parameters that an output has to write for the facts' framework: those it has a
   spelling for and whose value is known and differs from its default. Knobs first in the knobs'
   order, then the model's, then the others. */
size_t said_params(struct arena *a, const struct rule_set *rules, const struct facts *f, int **out);
/* The same for overrides of a recipe, which may set anything: also what recipes differ in, whatever
   its value. */
size_t said_overrides(struct arena *a, const struct rule_set *rules, const struct facts *f,
                      int **out);
/* Whether a plan file of the framework that does not speak of the parameter means another value, or
   is timed with another one, than the framework's default. */
bool said_by_silence(const struct rule_set *rules, enum framework framework, int param);
/* Marks what a plan file written from the facts of another one has to say for that reason, their
   framework's defaults included; nothing where the facts are a plan's, which leaves it open too. */
void said_mark_open(const struct rule_set *rules, const struct facts *f, bool *marks);
/* Whether the parameter is a size of the layout or the batch, which readers of a plan look for even
   where it is a framework's default. */
bool said_is_size(int param);
/* Those. */
enum { SAID_SIZES = 7 };
extern const int said_sizes[SAID_SIZES];
/* What an output writes of a parameter: where nothing stands, what the framework takes instead. */
struct value said_value(const struct facts *f, int param);
/* Whether the framework's own files can say the fact's value: a current flag, or a key. */
bool said_at_all(const struct facts *f, int param);
/* The flag that says the fact's value: a switch for a boolean, the constant's for a constant, else
   the storing one. NULL when there is none, or the value would be read as flags. */
const struct param_flag *said_flag(const struct facts *f, int param);
/* Whether argparse takes the value for a flag, unless it stands behind "--flag=": a word that
   begins with a dash. */
bool said_like_flag(struct value v);

#endif
