/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "choose/visit.h"

static bool fits(const struct search *s, const struct contender *o)
{
    bool may = s->tight && o->fits == FITS_TIGHT && o->peak <= s->c.machine.capacity_bytes;
    return o->fits == FITS_YES || may;
}

static void fill(const struct search *s, struct contender *o, const struct memory_estimate *memory)
{
    o->knobs = s->c.knobs;
    contender_fill_memory(o, memory);
}

/* Fills s->memory too. `whole`: what does not fit counts as well. */
static bool estimate(struct search *s, bool whole, struct contender *o,
                     struct memory_estimate *memory)
{
    search_take_memory(s);
    if (!memory_divide(&s->c, s->memory)) return false;
    if (whole)
        memory_peaks_if_fits(s->memory, memory);
    else
        memory_peaks_or_over(s->memory, memory);
    fill(s, o, memory);
    return true;
}

/* Whether it fits; until something does the least of all is remembered. */
static bool judge(struct search *s, const struct contender *o)
{
    bool room = fits(s, o);
    s->out->searched++;
    s->out->feasible += room;
    if (s->finalists.n_fast > 0) return room;
    if (s->out->has_least && o->peak >= s->out->least.peak) return room;
    s->out->least = *o;
    s->out->has_least = true;
    return room;
}

bool room_is_there(struct search *s, struct contender *o)
{
    struct memory_estimate memory;
    *o = (struct contender){.fits = FITS_NO};
    return estimate(s, true, o, &memory) && judge(s, o);
}

/* *in_step: it is the optimizer's step that needs most, before its layers are moved; NULL: nobody
   asks. */
static bool find_room(struct search *s, struct contender *o, bool *moved, bool *in_step)
{
    struct memory_estimate memory;
    *o = (struct contender){.fits = FITS_NO};
    *moved = false;
    if (in_step) *in_step = false;
    if (!estimate(s, in_step || s->tight || s->finalists.n_fast == 0, o, &memory)) return false;
    if (in_step) *in_step = memory.stages[memory.fullest].phase == 'C';
    if (!fits(s, o)) {
        search_take_layers(s);
        *moved = split_to_fit(&s->c, s->rates, s->memory, &memory, &s->layout);
        if (*moved) fill(s, o, &memory);
    }
    return judge(s, o);
}

bool room_is_found(struct search *s, struct contender *o, bool *moved)
{
    return find_room(s, o, moved, NULL);
}

/* Where the schedule of the present stages is kept. */
static struct memory_flights *flights_slot(struct search *s, int most_vpp)
{
    const struct knobs *k = &s->c.knobs;
    unsigned at = (unsigned)(k->pp * 31 + k->vpp) * 31 + (unsigned)most_vpp;
    return &s->flights[at % SEARCH_KNOWN_FLIGHTS];
}

static double floor_of(struct search *s, int most_vpp)
{
    search_take_memory(s);
    return memory_floor(&s->c, most_vpp, s->spots.kind_counts, false, flights_slot(s, most_vpp),
                        s->memory);
}

static bool lacks(struct search *s, int most_vpp)
{
    search_take_memory(s);
    return memory_lacks(&s->c, most_vpp, s->spots.kind_counts, !s->tight,
                        s->c.machine.capacity_bytes, flights_slot(s, most_vpp), s->memory);
}

/* What surely fits has room for the upper end of its estimate, what may for the estimate. */
bool room_is_denied(struct search *s, int most_vpp)
{
    if (s->request->exhaustive || !s->c.machine_known) return false;
    if (!lacks(s, most_vpp)) return false;
    if (s->any || s->finalists.n_fast) return true; /* else what needs least is told of */
    return s->out->has_least && floor_of(s, most_vpp) >= s->out->least.peak;
}

bool room_is_denied_to_all(struct search *s)
{
    struct knobs present = s->c.knobs;
    s->c.knobs.vpp = s->least_vpp;
    bool denied = room_is_denied(s, s->most_vpp);
    s->c.knobs = present;
    return denied;
}

/* Makes the present knobs the leanest of the spot and stages at an end with a state of
   recomputation and an offload; false: there is none. */
static bool make_lean(struct search *s, int recompute, int offload, int end)
{
    struct knobs present = s->c.knobs;
    s->c.knobs = s->group->knobs;
    knobs_take_pipeline(&s->c.knobs, &present);
    s->c.knobs.mbs = present.mbs;
    return kinds_make_lean(&s->kinds, s->kind, offload, recompute, end, &s->c);
}

/* The floors of pipelines are those of the passes. */
static bool lean_is_denied(struct search *s, int recompute, int offload, int most_vpp)
{
    struct knobs present = s->c.knobs;
    bool denied = true;
    for (int end = 0; end < LEANS && denied; end++) {
        if (end % LEAN_ENDS == LEAN_STEP && present.pp > 1) continue;
        denied = !make_lean(s, recompute, offload, end) || room_is_denied(s, most_vpp);
        s->c.knobs = present;
    }
    return denied;
}

/* Whether the leanest at an end has room. */
static bool end_has_room(struct search *s, int recompute, int offload, int end, struct contender *o,
                         bool *in_step)
{
    struct knobs present = s->c.knobs;
    bool moved, room = make_lean(s, recompute, offload, end);
    *in_step = false;
    if (room) {
        search_take_layers(s);
        room = search_divide_by_time(s) && find_room(s, o, &moved, in_step);
    }
    s->c.knobs = present;
    return room;
}

static bool lean_has_room(struct search *s, int recompute, int offload, struct contender *o)
{
    bool in_step, room = false;
    *o = (struct contender){.fits = FITS_NO};
    for (int end = 0; end < LEANS && !room; end += LEAN_ENDS) {
        room = end_has_room(s, recompute, offload, end + LEAN_PASSES, o, &in_step);
        if (in_step && !room)
            room = end_has_room(s, recompute, offload, end + LEAN_STEP, o, &in_step);
    }
    return room;
}

/* ---- states of recomputation by what they keep ---- */

/* On the spots of one group, beside what is offloaded: what would be offloaded anyway nobody has to
   repeat. Bit r of more and less: of each layer state r keeps clearly less, or clearly more, than
   this one, or as much. */
struct ladder {
    struct ladder *next; /* of other modules */
    uint32_t offload_modules;
    uint64_t more[SPACE_MAX_STATES], less[SPACE_MAX_STATES];
    int order[SPACE_MAX_STATES]; /* what keeps most first */
};

/* A state with what it keeps. */
struct step {
    int state;
    double kept[MODEL_MAX_KINDS], routed[MODEL_MAX_KINDS], sum; /* routed: of kept */
};

static int step_cmp(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    return a->sum != b->sum ? (a->sum > b->sum ? -1 : 1) : a->state - b->state;
}

/* By a margin, as other switches change a little of it. Of as many bytes those of routed rows are
   the less certain ones. */
static bool keeps_less(const struct step *a, const struct step *b, int n)
{
    static const double clearly = 0.97;
    for (int i = 0; i < n; i++) {
        bool same = a->kept[i] == b->kept[i];
        if (same ? a->routed[i] > b->routed[i] : a->kept[i] > clearly * b->kept[i]) return false;
    }
    return true;
}

static void make_steps(struct search *s, uint32_t offload_modules, struct step *steps)
{
    const struct kind *kind = present_kind(s);
    const struct knobs present = s->c.knobs;
    struct kinds_saved saved;
    s->c.knobs = s->group->knobs;
    kinds_save(&s->c, &saved);
    for (int i = 0; i < kind->n_recompute; i++) {
        s->c.knobs = s->group->knobs;
        s->c.knobs.offload_modules = offload_modules;
        space_set(kind->recompute[i], &s->c);
        steps[i] = (struct step){.state = i};
        kinds_kept(&s->c, &saved, steps[i].kept, steps[i].routed);
        for (int k = 0; k < s->c.model.n_kinds; k++)
            steps[i].sum += s->spots.kind_counts[k] * steps[i].kept[k];
    }
    s->c.knobs = present;
}

/* What keeps less than a state that keeps less than another keeps less than that too, and need not
   be compared: from the least on. What keeps more of all keeps no less of each. */
static void compare_steps(const struct step *steps, int n, int n_kinds, struct ladder *ladder)
{
    for (int i = n - 1; i >= 0; i--) {
        uint64_t *more = &ladder->more[steps[i].state];
        for (int j = i; j > 0 && steps[j - 1].sum == steps[i].sum; j--)
            if (keeps_less(&steps[j - 1], &steps[i], n_kinds))
                *more |= (uint64_t)1 << steps[j - 1].state;
        for (int j = i; j < n; j++)
            if (!(*more >> steps[j].state & 1) && keeps_less(&steps[j], &steps[i], n_kinds))
                *more |= ladder->more[steps[j].state] | (uint64_t)1 << steps[j].state;
    }
    for (int i = 0; i < n; i++)
        for (uint64_t more = ladder->more[i]; more; more &= more - 1)
            ladder->less[__builtin_ctzll(more)] |= (uint64_t)1 << i;
}

static struct ladder *make_ladder(struct search *s, uint32_t offload_modules)
{
    struct step steps[SPACE_MAX_STATES];
    int n = present_kind(s)->n_recompute;
    struct ladder *ladder = ARENA_NEW(s->arena, struct ladder);
    ladder->offload_modules = offload_modules;
    make_steps(s, offload_modules, steps);
    sort_items(steps, (size_t)n, sizeof *steps, step_cmp);
    for (int i = 0; i < n; i++)
        ladder->order[i] = steps[i].state;
    compare_steps(steps, n, s->c.model.n_kinds, ladder);
    ladder->next = s->group->ladder;
    return s->group->ladder = ladder;
}

static const struct ladder *find_ladder(struct search *s, int offload)
{
    struct knobs present = s->c.knobs;
    combination_set(&present_kind(s)->offloads[offload], &s->c);
    uint32_t modules = s->c.knobs.offload_modules;
    s->c.knobs = present;
    for (const struct ladder *x = s->group->ladder; x; x = x->next)
        if (x->offload_modules == modules) return x;
    return make_ladder(s, modules);
}

static const struct ladder *ladder_of(struct search *s, int offload)
{
    struct present_ladders *x = &s->ladders;
    if (x->group != s->group || x->kind != s->kind)
        *x = (struct present_ladders){.group = s->group, .kind = s->kind};
    if (!x->of[offload]) x->of[offload] = find_ladder(s, offload);
    return x->of[offload];
}

uint64_t room_keeping_more(struct search *s, int recompute, int offload)
{
    return ladder_of(s, offload)->less[recompute];
}

/* Where one has no room, none has that keeps more on the GPU; where one has, all that keep less. */
static void note_cramped(struct search *s, struct room *rooms, uint64_t states, int offload)
{
    const struct kind *kind = present_kind(s);
    for (int i = 0; i < kind->n_offloads; i++)
        if (kind->less_offload[offload] >> i & 1) rooms[i].cramped |= states;
}

void room_is_noted(struct search *s, int recompute, int offload)
{
    const struct kind *kind = present_kind(s);
    uint64_t roomy = ladder_of(s, offload)->more[recompute];
    for (int i = 0; i < kind->n_offloads; i++)
        if (kind->more_offload[offload] >> i & 1) s->rooms[i].roomy |= roomy;
}

void room_start(struct search *s, uint32_t offloads, uint64_t never)
{
    memset(s->near_rooms, 0, sizeof s->near_rooms);
    note_cramped(s, s->near_rooms, never, __builtin_ctz(offloads));
}

void room_forget(struct search *s)
{
    memcpy(s->rooms, s->near_rooms, sizeof s->rooms);
}

/* Whether the leanest is denied on all of the class, which is noted of what keeps more, as the
   opposite of what keeps less. */
static void ask_near(struct search *s, int recompute, int offload)
{
    const struct ladder *ladder = ladder_of(s, offload);
    int vpp = s->c.knobs.vpp;
    s->c.knobs.vpp = s->least_vpp;
    if (lean_is_denied(s, recompute, offload, s->most_vpp)) {
        note_cramped(s, s->near_rooms, ladder->less[recompute], offload);
        note_cramped(s, s->rooms, ladder->less[recompute], offload);
    } else {
        s->near_rooms[offload].open |= ladder->more[recompute];
        s->rooms[offload].open |= ladder->more[recompute];
    }
    s->c.knobs.vpp = vpp;
}

/* What is denied has no room: to ask first pays where the one before had none either. Before
   anything fits the denied ones are not looked at, as what needs least is told of. */
static void ask_lean(struct search *s, int recompute, int offload)
{
    struct contender o;
    bool first = s->lean_lacked || s->finalists.n_fast == 0;
    bool room = !(first && lean_is_denied(s, recompute, offload, s->c.knobs.vpp)) &&
                lean_has_room(s, recompute, offload, &o);
    s->lean_lacked = !room;
    if (room)
        room_is_noted(s, recompute, offload);
    else
        note_cramped(s, s->rooms, ladder_of(s, offload)->less[recompute], offload);
}

/* Once something fits, nothing that takes a division, and for all stages of the class together:
   most states that are not denied have room, and to divide the leanest plan's layers takes as long
   as to try a few others. */
static void ask_quickly(struct search *s, int recompute, int offload)
{
    if (s->finalists.n_fast > 0)
        ask_near(s, recompute, offload);
    else
        ask_lean(s, recompute, offload);
}

/* The states of which that tells something. */
static uint64_t told_quickly(const struct search *s, const struct room *room)
{
    return room->roomy | room->cramped | (s->finalists.n_fast > 0 ? room->open : 0);
}

/* A state of which nothing is known: where room began the last time, or just before that, else the
   one in the middle. */
static int next_state(const struct search *s, const struct ladder *ladder, uint64_t known, int edge)
{
    int open[SPACE_MAX_STATES], n = 0, near = -1;
    for (int i = 0; i < present_kind(s)->n_recompute; i++) {
        int state = ladder->order[i];
        if (known >> state & 1) continue;
        if (i == edge || i == edge - 1) near = state;
        open[n++] = state;
    }
    return near >= 0 ? near : open[n / 2];
}

/* The place in the ladder from which on there is room, or may be; past its end: nowhere. */
static int edge_of(const struct search *s, const struct ladder *ladder, const struct room *room)
{
    int at = 0, n = present_kind(s)->n_recompute;
    uint64_t cramped = room->cramped & ~room->roomy;
    while (at < n && cramped >> ladder->order[at] & 1)
        at++;
    return at;
}

bool room_is_cramped_now(struct search *s, int recompute, int offload)
{
    const struct room *room = &s->rooms[offload];
    uint64_t bit = (uint64_t)1 << recompute;
    if (!((room->roomy | room->cramped) & bit)) ask_lean(s, recompute, offload);
    return !(room->roomy & bit);
}

bool room_is_cramped(struct search *s, int recompute, int offload)
{
    const struct room *room = &s->rooms[offload];
    uint64_t bit = (uint64_t)1 << recompute, told = told_quickly(s, room);
    int *edge = &s->edges[offload];
    if (!told && *edge == UNKNOWN_EDGE) ask_quickly(s, present_kind(s)->fullest, offload);
    told = told_quickly(s, room);
    if (told & bit) return room_is_known_cramped(s, recompute, offload);
    const struct ladder *ladder = ladder_of(s, offload);
    for (; !(told & bit); told = told_quickly(s, room))
        ask_quickly(s, next_state(s, ladder, told, *edge), offload);
    *edge = edge_of(s, ladder, room);
    return room_is_known_cramped(s, recompute, offload);
}

/* The states that surely have no room with an offload: those that are known to have none, and what
   is asked of those of which nothing is known. */
static uint64_t never_with(struct search *s, int offload, int most_vpp, struct room known)
{
    const struct ladder *ladder = ladder_of(s, offload);
    while (~(known.roomy | known.cramped)) {
        int state = next_state(s, ladder, known.roomy | known.cramped, s->never_edge);
        if (lean_is_denied(s, state, offload, most_vpp))
            known.cramped |= ladder->less[state];
        else
            known.roomy |= ladder->more[state];
    }
    s->never_edge = edge_of(s, ladder, &known);
    return known.cramped & ~known.roomy;
}

/* Whether what is asked of the present spot tells something of others of its family: of a step of
   one microbatch, or of several passes, it does not (room_is_hopeless), nor before anything fits.
 */
static bool tells_family(const struct search *s)
{
    const struct knobs *k = &s->c.knobs;
    return s->finalists.n_fast > 0 && knobs_microbatches(k) > 1 && knobs_schedules(k) == 1;
}

/* The same plan needs no less with a larger micro-batch: adds to *known what is known of others. */
static void ask_family(const struct known_never *x, const struct known_never *own,
                       struct room *known)
{
    for (; x; x = x->next) {
        if (x->kind != own->kind || x->offload != own->offload || x->least_vpp != own->least_vpp ||
            x->most_vpp != own->most_vpp)
            continue;
        if (x->mbs <= own->mbs) known->cramped |= x->never;
        if (x->mbs >= own->mbs) known->roomy |= ~x->never;
    }
}

/* never_with, and what the spots of the same family tell. */
static uint64_t never_in_family(struct search *s, const struct spot *spot, int offload,
                                int most_vpp, struct room known)
{
    const struct knobs *k = &s->c.knobs;
    struct known_never **family = &s->families[spot->family].never;
    struct known_never own = {*family, s->kind, offload, k->mbs, k->vpp, most_vpp, 0};
    if (!tells_family(s)) return never_with(s, offload, most_vpp, known);
    ask_family(*family, &own, &known);
    own.never = never_with(s, offload, most_vpp, known);
    *family = arena_dup(s->arena, &own, sizeof own);
    return own.never;
}

uint64_t room_never(struct search *s, const struct spot *spot, uint32_t offloads, int most_vpp,
                    uint64_t *first)
{
    uint64_t all = UINT64_MAX >> (SPACE_MAX_STATES - present_kind(s)->n_recompute), never;
    *first = 0;
    if (s->request->exhaustive) return 0;
    never = *first =
        never_in_family(s, spot, __builtin_ctz(offloads), most_vpp, (struct room){.roomy = ~all});
    for (offloads &= offloads - 1; offloads && never; offloads &= offloads - 1)
        never = never_with(s, __builtin_ctz(offloads), most_vpp, (struct room){.roomy = ~never});
    return never;
}

/* ---- hopeless spots ---- */

/* Whether the leanest plan with an offload has no room however its layers are divided, or needs
   more than there is even at the low end of its estimate. That takes as long as a few other plans,
   and is asked while nothing fits, and of a small part of a GPU, for which most spots need more. */
static bool lean_is_hopeless(struct search *s, int offload, int most_vpp)
{
    struct contender o;
    int fullest = present_kind(s)->fullest;
    if (lean_is_denied(s, fullest, offload, most_vpp)) return true;
    if (s->finalists.n_fast > 0 && !search_is_limited(s)) return false;
    return !lean_has_room(s, fullest, offload, &o) && o.fits == FITS_NO;
}

static bool is_hopeless_with(struct search *s, int mbs, int most_vpp)
{
    const struct kind *kind = present_kind(s);
    struct knobs present = s->c.knobs;
    s->c.knobs.mbs = mbs;
    bool none = lean_is_hopeless(s, 0, most_vpp);
    for (int o = 1; o < kind->n_offloads && none; o++)
        none = !(kind->leanest >> o & 1) || lean_is_hopeless(s, o, most_vpp);
    s->c.knobs = present;
    return none;
}

bool room_is_known_hopeless(const struct search *s, const struct spot *spot)
{
    const struct knobs *k = &s->c.knobs;
    return k->mbs >= s->families[spot->family].hopeless && !s->request->exhaustive &&
           knobs_microbatches(k) > 1 && knobs_schedules(k) == 1;
}

/* Virtual stages only move activations, of which the leanest plans keep next to nothing. The
   smallest micro-batch is asked first: most families have room for it, or for none. A step of one
   microbatch keeps no gradients for the next, and may have room where smaller ones have none. */
bool room_is_hopeless(struct search *s, const struct spot *spot, int most_vpp)
{
    struct family *f = &s->families[spot->family];
    int mbs = s->c.knobs.mbs, ask = f->roomy ? mbs : f->least_mbs;
    if (s->request->exhaustive) return false;
    if (knobs_schedules(&s->c.knobs) > 1) /* keeps less than one pass does */
        return mbs > f->roomy && is_hopeless_with(s, mbs, most_vpp);
    for (; mbs < f->hopeless && mbs > f->roomy; ask = mbs) {
        bool none = is_hopeless_with(s, ask, most_vpp);
        *(none ? &f->hopeless : &f->roomy) = ask;
        if (none) f->within = s->c.machine.capacity_bytes;
    }
    if (mbs < f->hopeless) return false;
    return room_is_known_hopeless(s, spot) || is_hopeless_with(s, mbs, most_vpp);
}
