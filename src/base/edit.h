/* SPDX-License-Identifier: Apache-2.0 */
/* Did you mean: how far apart two words are. */
#ifndef MOEPLAN_BASE_EDIT_H
#define MOEPLAN_BASE_EDIT_H

#include "base/arena.h"

/* Insertions, deletions, changes and swaps of neighbours that turn a into b; words above 64 bytes
   are far (SIZE_MAX). */
size_t edit_distance(struct str a, struct str b);
static inline size_t edit_length_difference(struct str a, struct str b)
{
    return a.n > b.n ? a.n - b.n : b.n - a.n;
}
/* Whether one word is most likely a slip of the other: up to `most` changes away, and with the same
   numbers, as names that differ in these are different things (GPU_0, GPU_1; Llama2Tokenizer,
   Llama3Tokenizer). The first takes lengths that are no further apart. */
bool edit_is_slip_of_length(struct str a, struct str b, size_t most);
static inline bool edit_is_slip(struct str a, struct str b, size_t most)
{
    /* of most words too much */
    return edit_length_difference(a, b) <= most && edit_is_slip_of_length(a, b, most);
}
/* Whether a word is one of a list but for one slip, or its case. */
bool edit_among(struct str word, const struct str *list, size_t n);

/* Collects the nearest of many words: start zeroed with `word` set, offer each, then read best (n
   bytes 0: none near enough). A third of the letters may be wrong, but a long word must begin or
   end as the candidate does; else the word may be whole parts of the candidate from its beginning
   on (gpu_memory of gpu_memory_gib). */
struct edit_nearest {
    struct str word, best;
    size_t distance;
};
void edit_offer(struct edit_nearest *n, struct str candidate);
/* Slips at both ends of a long word at once are too much: cheap to tell, and most candidates go
   here. */
static inline bool edit_share_an_end(struct str a, struct str b)
{
    enum { END = 4 };
    return a.n <= 2 * END || b.n <= 2 * END || memcmp(a.p, b.p, END) == 0 ||
           memcmp(a.p + a.n - END, b.p + b.n - END, END) == 0;
}
/* Slips that a word may have: a third of its letters may be wrong. */
static inline size_t edit_most_slips(struct str word)
{
    return word.n < 6 ? 1 : word.n / 3;
}
/* Whether a part of a name ends before the character. */
static inline bool edit_ends_part(char next)
{
    return next == '_' || next == '-' || next == '.';
}
/* Whether a candidate may be taken: of a long list only these need be offered. */
static inline bool edit_may_be_near(struct str word, struct str candidate)
{
    if (candidate.n > word.n && edit_ends_part(candidate.p[word.n])) return true;
    return edit_length_difference(word, candidate) <= edit_most_slips(word) &&
           edit_share_an_end(word, candidate);
}
/* "; did you mean x or y?" for a word that is none of "x|y|z": those that begin with it, else the
   nearest; empty when none is near. */
struct str edit_near(struct arena *a, struct str word, const char *words);
/* The index of a word in a list that ends with NULL; -1, with the nearest in *nearest, when it is
   none of them. */
int edit_index(struct str word, const char *const *known, struct str *nearest);

#endif
