/* SPDX-License-Identifier: Apache-2.0 */
#include "base/edit.h"

#include "base/buf.h"
#include "base/vec.h"

enum { LONGEST = 64, FAR = 1000, SHORTEST_PART = 3 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* The distance, or anything above `most` when it is larger: cells further than `most` from the
   diagonal cannot be on the way, and a row without a small cell ends the search. */
static size_t bounded_distance(struct str a, struct str b, size_t most)
{
    size_t row[3][LONGEST + 2]; /* the two rows before and the one being filled */
    for (size_t j = 0; j <= b.n; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        size_t from = i > most ? i - most : 1, to = i + most < b.n ? i + most : b.n, least = i;
        now[from - 1] = from > 1 ? FAR : i;
        for (size_t j = from; j <= to; j++) {
            size_t change = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            now[j] = min3(last[j] + 1, now[j - 1] + 1, change);
            bool swap = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            if (swap && before[j - 2] + 1 < now[j]) now[j] = before[j - 2] + 1;
            if (now[j] < least) least = now[j];
        }
        if (to < b.n) now[to + 1] = FAR;
        if (least > most) return FAR;
    }
    return row[a.n % 3][b.n];
}

size_t edit_distance(struct str a, struct str b)
{
    if (a.n > LONGEST || b.n > LONGEST) return SIZE_MAX;
    return bounded_distance(a, b, LONGEST);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether two words have the same digits in the same order. */
static bool same_numbers(struct str a, struct str b)
{
    for (size_t i = 0, k = 0;; i++, k++) {
        while (i < a.n && !is_digit(a.p[i]))
            i++;
        while (k < b.n && !is_digit(b.p[k]))
            k++;
        if (i == a.n || k == b.n) return i == a.n && k == b.n;
        if (a.p[i] != b.p[k]) return false;
    }
}

/* Letters that only one of the words has, counted with their number: each costs a change. */
static size_t least_distance(struct str a, struct str b)
{
    signed char count[64] = {0}; /* words are no longer than LONGEST, below the range's end */
    for (size_t i = 0; i < a.n; i++)
        count[(unsigned char)a.p[i] & 63]++;
    for (size_t i = 0; i < b.n; i++)
        count[(unsigned char)b.p[i] & 63]--;
    int only_a = 0, only_b = 0;
    for (size_t i = 0; i < sizeof count; i++) {
        only_a += count[i] > 0 ? count[i] : 0;
        only_b -= count[i] < 0 ? count[i] : 0;
    }
    return (size_t)(only_a > only_b ? only_a : only_b);
}

/* Whether all but at most two letters in a row are the same: what one letter too many, too few,
   wrong or swapped leaves. Most words go here. */
static bool may_be_one_slip(struct str a, struct str b)
{
    size_t least = a.n < b.n ? a.n : b.n, most = a.n < b.n ? b.n : a.n, front = 0, back = 0;
    while (front < least && a.p[front] == b.p[front])
        front++;
    while (back < least - front && a.p[a.n - 1 - back] == b.p[b.n - 1 - back])
        back++;
    return front + back + 2 >= most;
}

bool edit_is_slip_of_length(struct str a, struct str b, size_t most)
{
    if (!a.n || !b.n || a.n > LONGEST || b.n > LONGEST) return false;
    if (most == 1 && !may_be_one_slip(a, b)) return false;
    return bounded_distance(a, b, most) <= most && same_numbers(a, b);
}

bool edit_among(struct str word, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (edit_is_slip(word, list[i], 1) || str_eq_nocase(word, list[i])) return true;
    return false;
}

/* Whether the word is the beginning of the candidate, cut off between two of its parts: gpu_memory
   of gpu_memory_gib, fp8 of fp8_delayed. */
static bool is_beginning(struct str word, struct str candidate)
{
    if (word.n < SHORTEST_PART || word.n >= candidate.n || word.p[0] != candidate.p[0])
        return false;
    return edit_ends_part(candidate.p[word.n]) && str_starts(candidate, word);
}

/* Notes the candidate when it is at most so many slips away. Apart from edit_offer, which comes to
   this for few candidates and then needs no room for the rows. */
__attribute__((noinline)) static void offer_slip(struct edit_nearest *n, struct str candidate,
                                                 size_t most)
{
    if (!edit_share_an_end(n->word, candidate) || least_distance(n->word, candidate) > most) return;
    size_t d = bounded_distance(n->word, candidate, most);
    if (d > most) return;
    n->best = candidate;
    n->distance = d;
}

void edit_offer(struct edit_nearest *n, struct str candidate)
{
    if (n->word.n > LONGEST || candidate.n > LONGEST || (n->best.n && !n->distance)) return;
    size_t further = FAR + candidate.n; /* than any slip; of several the shortest */
    if (is_beginning(n->word, candidate) && (!n->best.n || further < n->distance)) {
        n->best = candidate;
        n->distance = further;
    }
    size_t most = edit_most_slips(n->word);
    if (n->best.n && n->distance <= most) most = n->distance - 1;
    if (edit_length_difference(n->word, candidate) <= most) offer_slip(n, candidate, most);
}

/* "x", "x or y", "x, y or z" */
static struct str joined(struct arena *a, const struct str *words, size_t n)
{
    struct buf out = buf_new(a);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%.*s", i == 0 ? "" : i + 1 < n ? ", " : " or ", STR_ARG(words[i]));
    return buf_str(&out);
}

struct str edit_near(struct arena *a, struct str word, const char *words)
{
    struct edit_nearest nearest = {.word = word};
    VEC(struct str) begin = {0};
    struct str rest = str_of(words), one;
    while (str_split(&rest, '|', &one)) {
        edit_offer(&nearest, one);
        if (word.n > 1 && str_starts(one, word)) *VEC_PUSH(a, &begin) = one;
    }
    struct str found = begin.n ? joined(a, begin.items, begin.n) : nearest.best;
    return found.n ? arena_printf(a, "; did you mean %.*s?", STR_ARG(found)) : STR("");
}

int edit_index(struct str word, const char *const *known, struct str *nearest)
{
    struct edit_nearest near = {.word = word};
    for (int i = 0; known[i]; i++) {
        if (str_is(word, known[i])) return i;
        edit_offer(&near, str_of(known[i]));
    }
    *nearest = near.best;
    return -1;
}
