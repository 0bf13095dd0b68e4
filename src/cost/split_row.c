/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/split_row.h"

#include <math.h>

static double beside(const struct split_row *s, int chunk)
{
    return (chunk == 0 ? s->first : 0) + (chunk == s->chunks - 1 ? s->last : 0);
}

static int least(const struct split_row *s, int chunk)
{
    return chunk > 0 && chunk < s->chunks - 1;
}

/* What the chunks behind one have at least. */
static int layers_behind(const struct split_row *s, int chunk)
{
    return chunk < s->chunks - 2 ? s->chunks - 2 - chunk : 0;
}

/* What a chunk has, layer by layer. */
struct filling {
    double seconds, bytes;
};

/* Whether a chunk takes a further layer within a time; then it has it. */
static bool takes(const struct split_row *s, int chunk, int layer, double within,
                  struct filling *has)
{
    double seconds = has->seconds + s->ends[layer + 1] - s->ends[layer], bytes = 0;
    if (seconds > within) return false;
    if (s->rooms) {
        const struct split_room *room = &s->rooms[chunk % s->ranks];
        bytes = has->bytes + room->each[s->kinds[layer]];
        if (bytes * s->chunks > room->left * s->ranks) return false;
    }
    *has = (struct filling){seconds, bytes};
    return true;
}

/* Layers that a chunk from layer `from` on has room for within a time; those behind have theirs. */
static int reach(const struct split_row *s, int chunk, int from, double within)
{
    struct filling has = {beside(s, chunk), 0};
    int n = 0, end = s->layers - layers_behind(s, chunk);
    while (from + n < end && takes(s, chunk, from + n, within, &has))
        n++;
    return n;
}

/* Before which layer each chunk begins at the earliest, if all from it on are within a time; the
   chunks in front of it that have to have one have room for theirs. False: the first chunk begins
   behind the first layer. */
static bool find_earliest(const struct split_row *s, double within, int *earliest)
{
    int at = s->layers;
    for (int i = s->chunks - 1; i >= 0; i--) {
        struct filling has = {beside(s, i), 0};
        int n = 0, begin = i > 1 ? i - 1 : 0;
        while (at - n > begin && takes(s, i, at - n - 1, within, &has))
            n++;
        if (n < least(s, i)) return false;
        earliest[i] = at -= n;
    }
    return at == 0;
}

/* The shortest time within which all chunks can be, to a part in ten thousand, and how early they
   begin then. False: there is none. */
static bool find_longest(const struct split_row *s, double *longest, int *earliest)
{
    static const double near = 1e-4;
    double all = s->ends[s->layers] + s->first + s->last, low = all / s->chunks, high = low;
    if (!find_earliest(s, all, earliest)) return false;
    while (!find_earliest(s, high, earliest))
        low = high, high *= 1.25;
    while (high - low > near * high) {
        double middle = (low + high) / 2;
        *(find_earliest(s, middle, earliest) ? &high : &low) = middle;
    }
    *longest = high;
    return find_earliest(s, high, earliest);
}

bool split_row(const struct split_row *s, uint16_t *decoders)
{
    int earliest[LAYOUT_MAX_CHUNKS + 1], at = 0;
    double longest, all = s->ends[s->layers] + s->first + s->last;
    if (!find_longest(s, &longest, earliest)) return false;
    earliest[s->chunks] = s->layers;
    for (int i = 0; i < s->chunks; i++) {
        int n = reach(s, i, at, longest), low = earliest[i + 1] - at;
        double level = all * (i + 1) / s->chunks - s->first;
        if (low < least(s, i)) low = least(s, i);
        while (n > low && fabs(s->ends[at + n - 1] - level) <= fabs(s->ends[at + n] - level))
            n--;
        decoders[i] = (uint16_t)n;
        at += n;
    }
    return at == s->layers;
}
