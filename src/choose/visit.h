/* SPDX-License-Identifier: Apache-2.0 */
/* A search under way: what its steps share. Layouts with their micro-batches, spots, are visited in
   the order of lower bounds of the step times of what may have room (order.c). A visit tries every
   number of virtual stages and every combination of switches, each first by a bound, then by its
   memory, its time and the rules, which are asked of what would be kept alone. Switches are taken
   in three parts:
   - what makes room (room.c): states of recomputation, and offload where none of these does
     short of whole layers (the guides' order, S1.4); after all spots, in a second pass, offload is
     tried where there is room without.
     Whether one has room whatever the other switches is asked once, of the leanest plan with it;
   - variants (variants.c, settled.c), which change the layers' times: dispatcher, graphs, overlap.
   One that is settled with a state, as good as it gets or too slow, is so with all that recompute
   more;
   - sides (kinds.h), beside the layers. */
#ifndef MOEPLAN_CHOOSE_VISIT_H
#define MOEPLAN_CHOOSE_VISIT_H

#include "choose/finalists.h"
#include "choose/kinds.h"
#include "choose/search.h"
#include "choose/spots.h"
#include "cost/memory.h"
#include "cost/sharding.h"
#include "cost/split.h"

/* The parts of a plan in which it is decided, and its wishes counted. */
enum part { PART_SPOT, PART_STAGES, PART_VARIANT, PART_STATE, PARTS };

/* The preferences about a part of a plan. */
struct wishes {
    struct preference *items;
    size_t n;
};

/* Sides of which it is known that they have room, as far as can be told without a division, on some
   stages of a class: bit i. */
struct open_sides {
    uint32_t visit, sides; /* visit: the number of the class's */
};

/* One combination of the switches that change a group's layers, but recomputation. */
struct variant {
    struct knobs knobs;
    double wish;               /* of PART_VARIANT */
    bool risky;                /* struct contender */
    double seconds;            /* of a step without pipeline, recomputed as in the base */
    struct time_rates **rates; /* [n_recompute] at each state; NULL: not yet */
    struct open_sides *open;   /* [n_offloads][n_recompute]; NULL: none yet */
};

/* What needs no trial on the present spot and stages, and on all that are near them (settled.c). Of
   a kind, whose groups have the same variants: a set of them for each offload and state of
   recomputation, [1 + n_offloads][n_recompute][words], the first of them whatever is offloaded. */
struct settled {
    size_t words, n, n_fast; /* of a set; of all */
    int n_recompute;
    uint64_t *sets, *near;
    bool any_near;       /* else near is empty */
    uint64_t *fast;      /* [n_recompute][words]: what may matter without offload */
    uint64_t *no_slower; /* [words] scratch of settled_is_fast */
};

/* What no variant of a group undercuts, of those with a risk or of those without. */
struct variants_least {
    bool any;
    struct time_rates rates; /* whatever is recomputed */
    double wish;
};

/* The ladders (room.c) beside the offloads of a group's kind; NULL: not asked for yet. */
struct present_ladders {
    const struct group *group;
    size_t kind;
    const struct ladder *of[KINDS_MOST_OFFLOADS];
};

/* States of recomputation that have, or have not, room on the present spot and stages: bit r.
   open: known of neither, and not denied on all of the class (room_is_denied_to_all). */
struct room {
    uint64_t roomy, cramped, open;
};
enum { UNKNOWN_EDGE = -1 };

/* What room_never found on a spot of a family, with one offload. */
struct known_never {
    struct known_never *next;
    size_t kind;
    int offload, mbs, least_vpp, most_vpp;
    uint64_t never;
};

/* What is known of spots that share all but the micro-batch. */
struct family {
    int least_mbs;       /* of all of them */
    int roomy, hopeless; /* the largest for which something may fit, the smallest for which nothing
                            does, as far as was asked: 0 and INT_MAX at first */
    double within;       /* bytes of the GPU for which it was asked that it is hopeless */
    struct known_never *never; /* of this GPU */
};

/* Times of layers that were worked out, and what they keep; they are asked for again and again, as
   plans differ in what is around the layers. */
enum { SEARCH_KNOWN_LAYERS = 512, SEARCH_KNOWN_MEMORY = 192, SEARCH_KNOWN_FLIGHTS = 32 };

struct known_layers {
    struct knobs key; /* time_layers_key */
    struct time_layers layers;
    uint32_t known; /* bit i: rates[i] are worked out */
    struct time_rates rates[TIME_WAYS_TO_HIDE];
};

/* Of plans without a risk, and of all. */
struct least_seconds {
    double safe, any;
};

/* What is known of a spot that waits for its visit. */
struct turn {
    const struct spot *spot;
    struct rank_params params;
    double around;
    struct least_seconds least[2]; /* of their step time, without and with virtual stages */
    uint64_t never[2]; /* of either, states of recomputation that have no room (room_never) */
    uint64_t first[2]; /* those that have none with the first offload that was asked */
    bool begun;        /* the most promising number of virtual stages of either was tried */
};

/* A spot that waits until no other has a smaller bound: of its step time, seconds, or once it has
   its turn, of the score of plans that may have room, in the first pass without offload, in the
   second beside the one that moves most. */
struct waiting {
    double bound;
    struct spot *spot;
    struct turn *turn; /* NULL: it is still to be asked what has room */
};

/* Families whose spots have their turn before all others, and of these the spots that are visited
   then. Of so many one is nearly the best, whose step bounds most others away: with a third a
   search of Mixtral takes a fifth more, of DeepSeek-V3 2 %; twice as many find nothing better. */
enum { SEARCH_EARLY = 20 };

/* The last division of layers by what they take: plans that differ elsewhere have the same. */
struct division {
    struct time_rates rates;
    int pp, vpp; /* 0: there is none yet */
    int64_t microbatches;
    bool possible;
    struct layout layout;
    int number;     /* knobs.layout */
    double seconds; /* spots_bound_of_split at these rates */
};

struct known_memory {
    struct knobs key;         /* memory_layers_key */
    struct saved_list *saved; /* [n_kinds] where nothing is recomputed; else NULL, or as it was */
    struct memory_work work;
};

/* One of the fastest plans, as it is kept and as it is shown. */
struct shown {
    struct knobs plan;
    struct contender costs;
    struct layout split;
};

struct search {
    const struct search_request *request;
    struct search_result *out;
    struct arena *arena;
    struct config c;      /* the configuration being looked at: the base with changing knobs */
    struct layout layout; /* its pipeline split */
    struct division division;
    struct wishes wishes[PARTS];
    struct spots spots;
    struct family *families;          /* [spots.n_families] */
    VEC(struct waiting) waiting;      /* a heap */
    struct spot *early[SEARCH_EARLY]; /* that had their turn first, the most promising before */
    int n_early;
    struct timing timing; /* for what does not depend on the layout */
    struct kinds kinds;
    unsigned usual_risks; /* move_risks of the base */
    bool whole_is_risky;  /* a captured iteration */
    /* of the spot being looked at */
    struct group *group;
    size_t kind; /* index */
    struct rank_params params;
    double around;           /* seconds of a step around its passes, at least */
    int least_vpp, most_vpp; /* virtual stages of the class being visited */
    uint32_t visit;          /* the number of that visit, from 1 on */
    struct room rooms[KINDS_MOST_OFFLOADS], near_rooms[KINDS_MOST_OFFLOADS]; /* of the class */
    struct present_ladders ladders;
    int edges[KINDS_MOST_OFFLOADS]; /* of stages before: from which state on there was room, in the
                                       ladder's order; or UNKNOWN_EDGE */
    int never_edge;                 /* the same of what room_never found last */
    bool lean_lacked;               /* the leanest plan that was asked for last had no room */
    double wish;                    /* of all parts of the present plan but PART_STATE */
    const struct time_layers *layers;
    const struct time_rates *rates;
    struct known_layers **known_layers; /* [SEARCH_KNOWN_LAYERS]; NULL: none yet */
    struct known_kernels *known_kernels;
    struct memory_coefficients memory_coefficients;
    struct memory_work *memory;
    struct memory_flights flights[SEARCH_KNOWN_FLIGHTS];
    struct known_memory **known_memory; /* [SEARCH_KNOWN_MEMORY], likewise */
    struct finalists finalists;
    struct shown shown[FINALISTS_FAST];
    size_t n_shown;
    bool tight, risky;  /* risky: of the variant being tried, false while it is open */
    bool offload_alone; /* the second pass, in which what is tried all offloads */
    bool last_resort;   /* the same where the best plan does without */
    double worth;       /* seconds that a step of what is kept takes at most there */
    bool any;           /* one plan that fits will do */
    bool has_found;
    struct knobs found; /* the last one that did */
};

static inline const struct kind *present_kind(const struct search *s)
{
    return &s->kinds.items.items[s->kind];
}

/* Whether it is searched for what fits into a part of the GPU's memory. */
static inline bool search_is_limited(const struct search *s)
{
    return s->c.machine.capacity_bytes < s->request->base->machine.capacity_bytes;
}

/* What a contender holds of a memory estimate. */
void contender_fill_memory(struct contender *o, const struct memory_estimate *m);

/* ---- present.c ---- */

/* What the preferences about a part say of the present knobs (prefer_sum). */
double search_wish(const struct search *s, enum part part);
/* Makes s->layers and s->rates those of the present knobs. */
void search_take_layers(struct search *s);
/* Makes s->memory what theirs keep; memory_divide does the rest. */
void search_take_memory(struct search *s);
/* Makes s->layout how the present layers are divided by what they take (split_by_time); false: they
   cannot be. */
bool search_divide_by_time(struct search *s);

/* ---- visit.c ---- */

/* Visits every spot, unless any plan will do and there is one. */
void visit_all(struct search *s);
/* Looks at the plans that are known from elsewhere. */
void visit_known(struct search *s);
/* Tries offload where there is room without: a faster variant may have room with it alone. Guides
   leave it for where recomputing modules is not enough (S1.3, S1.4): where the best plan neither
   offloads nor repeats whole layers, what offloads is never first, and has to be clearly faster
   than all others. */
void visit_with_offload(struct search *s);

/* ---- attempt.c ---- */

/* Whether any plan on the present spot matters that takes at least so many seconds, and these
   around its passes, with its virtual stages or up to so many. `least` may be NULL. */
bool search_any_matters(struct search *s, double around, const struct least_seconds *least,
                        int most_vpp, double wish);
/* Makes a spot the present one. */
void search_set_spot(struct search *s, const struct spot *spot, int vpp);
/* Whether a plan of the present layout that takes at least `step_s` would change anything. */
bool search_matters(const struct search *s, double step_s, double wish);
/* Seconds of a step around its passes at least, of all plans on the present spot that are wanted,
   which no other takes the place of. */
double search_around(struct search *s, int most_vpp);
/* Whether there is a reason to refuse; it is kept. */
bool search_note_rejection(struct search *s, const char *why);
/* Keeps the plan, if it is worth it and the rules let it. False: they refuse it. */
bool search_offer(struct search *s, struct contender *o);
/* Whether offload is to be tried on the present spot and stages: it is where recomputation short of
   whole layers makes no room, and where it is tried alone. */
bool search_needs_offload(struct search *s);
/* Tries every plan on them. `plain`: plans without offload matter too; where offload is tried
   alone, theirs are the times that none with it undercuts. */
void search_try_stages(struct search *s, const struct spot *spot, double wish, bool plain);

/* ---- room.c ---- */

/* Whether the present knobs have room as they are divided; *o gets their memory. */
bool room_is_there(struct search *s, struct contender *o);
/* The same, divided otherwise where that makes room; *moved: they were. */
bool room_is_found(struct search *s, struct contender *o, bool *moved);
/* Whether the present plan has no room however its layers are divided, with its virtual stages or
   any number from there to `most_vpp`: quick, and false where it is not known. */
bool room_is_denied(struct search *s, int most_vpp);
/* The same of all virtual stages of the class being visited. */
bool room_is_denied_to_all(struct search *s);
/* The states of recomputation, as bits, of which that is so with each of some offloads on the
   present spot, whatever the other switches, as far as those tell that were asked. *first: with the
   first of them alone. */
uint64_t room_never(struct search *s, const struct spot *spot, uint32_t offloads, int most_vpp,
                    uint64_t *first);
/* The states of recomputation, as bits, that keep no less on the GPU than one beside an offload:
   where that has no room, none of them has beside the same switches. */
uint64_t room_keeping_more(struct search *s, int recompute, int offload);
/* Nothing is known of the class of stages visited from here on but what has no room with the first
   of some offloads (room_never), */
void room_start(struct search *s, uint32_t offloads, uint64_t never);
/* nor of the present ones but what is so on all of the class. */
void room_forget(struct search *s);
/* Notes that a plan with the state of recomputation and the offload has room. */
void room_is_noted(struct search *s, int recompute, int offload);
/* The states of recomputation, as bits, of which it is known already that they have no room on the
   present spot and stages with an offload, whatever the other switches; whether one is among them.
 */
static inline uint64_t room_known_cramped(const struct search *s, int offload)
{
    return s->rooms[offload].cramped & ~s->rooms[offload].roomy;
}
static inline bool room_is_known_cramped(const struct search *s, int recompute, int offload)
{
    return room_known_cramped(s, offload) >> recompute & 1;
}
/* Whether that is so; where something fits already, as far as it can be told without a division. */
bool room_is_cramped(struct search *s, int recompute, int offload);
/* The same where nothing will be asked of other states: directly. */
bool room_is_cramped_now(struct search *s, int recompute, int offload);
/* Whether it is known already that nothing can fit on the present spot. */
bool room_is_known_hopeless(const struct search *s, const struct spot *spot);
/* Whether nothing can fit on a spot, with its virtual stages or any number from there to
   `most_vpp`: where no leanest plan may fit, nothing does with as large a micro-batch. */
bool room_is_hopeless(struct search *s, const struct spot *spot, int most_vpp);

/* ---- order.c ---- */

/* Seconds of a step that no plan on the present spot undercuts with its virtual stages or any
   number from there to `most_vpp`, which has another state of recomputation than these
   (room_never); infinite: there is none. */
struct least_seconds order_bound(struct search *s, uint64_t never, int most_vpp);
void order_add(struct search *s, struct waiting waiting);
/* Takes the one with the smallest bound of those that there are. */
struct waiting order_take(struct search *s);

/* ---- variants.c ---- */

/* Whether the present knobs take a risk that is not usual. */
bool search_is_risky(struct search *s);
/* Lists the variants of the present group, the fastest first, unless it is done. */
void variants_list(struct search *s);
/* Gives the present spot and stages the knobs of a variant and one of its states of recomputation.
 */
void variant_set(struct search *s, const struct variant *v, int recompute);
/* Rates of the present knobs, which are the variant's, that no side and no pp undercuts. */
const struct time_rates *variant_rates(struct search *s, struct variant *v, int recompute);
/* What is known of a variant's sides on the class of stages, with an offload and a state of
   recomputation. */
struct open_sides *variant_open_sides(struct search *s, struct variant *v, int recompute,
                                      int offload);
/* Words of a set of so many variants. */
size_t variants_words(size_t n);

/* ---- settled.c ---- */

/* Nothing is settled on the class of stages that is visited from here on. */
void settled_start(struct search *s);
/* Nor on the present stages but what is so on all of the class; what is fast is not known. */
void settled_open(struct search *s);
/* Notes that a variant has no room with an offload and a state of recomputation: nor has it with
   those that keep more. `near`: on all of the class. */
void settled_give_up(struct search *s, const struct variant *v, int recompute, int offload,
                     bool near);
/* Notes that a variant needs no further trial with an offload and a state of recomputation: nor do
   those that are no faster, repeat no less and offload no less. `near`: on all of the class. */
void settled_add(struct search *s, const struct variant *v, int recompute, int offload, bool near);
/* The first variant from there on that is not settled; NULL: all are. */
struct variant *settled_next(struct search *s, struct variant *from, int recompute, int offload);
bool settled_all(const struct search *s, int recompute, int offload);
/* The states of recomputation, as bits, of which that is not so. */
uint64_t settled_not_all(const struct search *s, int offload);
/* Notes that a variant may matter without offload: so do those that are no slower and repeat no
   more. */
void settled_is_fast(struct search *s, const struct variant *v, int recompute);
/* Whether it is not known whether a variant may matter without offload. */
bool settled_is_unknown(const struct search *s, const struct variant *v, int recompute);
/* The one in the middle, by seconds, of the variants of which it is not known whether they may
   matter without offload; NULL: it is of all. */
struct variant *settled_middle(struct search *s, int recompute);

#endif
