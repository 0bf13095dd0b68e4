/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a model that Megatron-LM's flags have no word for: outputs name the catalogue's model in
   their head (`# moeplan: model=ID`), and who reads them takes these facts from it. */
#ifndef MOEPLAN_FACTS_UNSAID_H
#define MOEPLAN_FACTS_UNSAID_H

#include "facts/facts.h"
#include "facts/model.h"

/* The parameters that no flag can say. */
extern const int unsaid_params[];
extern const size_t unsaid_param_count;

/* Whether the facts know more of the parameter than that it is not there. */
bool unsaid_is_known(const struct facts *f, int param);
/* Sets what no flag can say from a model, where nobody has. */
void unsaid_apply(struct facts *f, const struct model_input *m);

#endif
