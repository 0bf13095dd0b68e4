/* SPDX-License-Identifier: Apache-2.0 */
/* The checkout of a framework that a file lies in: its scripts and tests are for its own release.
 */
#ifndef MOEPLAN_FACTS_CHECKOUT_H
#define MOEPLAN_FACTS_CHECKOUT_H

#include "doc/node.h"
#include "facts/param.h"

/* Whether a Python file at the root of the checkout around a source's file has what a dotted path
   names: a module, or a name in one that it mentions. */
bool checkout_has(struct arena *a, const struct diags *diags, uint32_t source,
                  enum framework framework, struct str path);
/* Whether NAME.py beside a source's file mentions a word. */
bool checkout_has_beside(struct arena *a, const struct diags *diags, uint32_t source,
                         struct str name, struct str word);

/* The text of a file of the checkout around a source's file, by its path in there; empty: none. */
struct str checkout_text(struct arena *a, const struct diags *diags, uint32_t source,
                         enum framework framework, struct str path);
/* Where the word begins in a text of Python; its length: nowhere. */
size_t checkout_find(struct str text, struct str word);
/* The folder that a source's file lies in; empty where it is no file. */
struct str checkout_folder(struct arena *a, const struct diags *diags, uint32_t source);
/* Whether the checkout around a source's file is of before the oldest release that is known. */
bool checkout_is_older(struct arena *a, const struct diags *diags, uint32_t source,
                       enum framework framework);
/* Whether the checkout around a source's file lacks a check: its text, "FILE.py: words", is not in
   that file of the framework's own, reworded neither. */
bool checkout_lacks(struct arena *a, const struct diags *diags, uint32_t source,
                    enum framework framework, struct str check);
/* Whether a checkout of Bridge around a source's file has a recipe of that name. */
bool checkout_has_recipe(struct arena *a, const struct diags *diags, uint32_t source,
                         struct str name);
/* The known release that the checkout around a source's file has: the oldest one for what is older,
   "main" for what is newer; empty where there is no checkout, or the source is no file. */
struct str checkout_release(struct arena *a, const struct diags *diags, uint32_t source,
                            enum framework framework);

#endif
