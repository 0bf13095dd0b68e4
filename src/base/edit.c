/* SPDX-License-Identifier: Apache-2.0 */
#include "base/edit.h"

enum { LONGEST = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

size_t edit_distance(struct str a, struct str b)
{
    size_t row[3][LONGEST + 1]; /* the two rows before and the one being filled */
    if (a.n > LONGEST || b.n > LONGEST) return SIZE_MAX;
    for (size_t j = 0; j <= b.n; j++) row[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t change = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            now[j] = min3(last[j] + 1, now[j - 1] + 1, change);
            bool swap = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            if (swap && before[j - 2] + 1 < now[j]) now[j] = before[j - 2] + 1;
        }
    }
    return row[a.n % 3][b.n];
}

void edit_offer(struct edit_nearest *n, struct str candidate)
{
    size_t most = n->word.n / 3 < 1 ? 1 : n->word.n / 3; /* a third of the letters may be wrong */
    if (n->best.n && n->distance <= most) most = n->distance - 1;
    size_t longer = n->word.n > candidate.n ? n->word.n - candidate.n : candidate.n - n->word.n;
    if (longer > most || (n->best.n && !n->distance)) return; /* cannot be nearer */
    size_t d = edit_distance(n->word, candidate);
    if (d > most) return;
    n->best = candidate;
    n->distance = d;
}
