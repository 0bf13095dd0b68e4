/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that a typed section does not know stop the run, some of them only after the model is loaded
   (nemo_automodel/recipes/_typed_config.py). */
#include "base/buf.h"
#include "base/edit.h"
#include "doc/rewrite.h"
#include "facts/automodel.h"
#include "facts/checkout.h"
#include "facts/param_ids.h"
#include "facts/profile.h"

struct check {
    struct facts *f;
    struct str kind;
};

static int64_t number_at(const struct facts *f, struct str key)
{
    int param = param_find_key(FRAMEWORK_AUTOMODEL, key, NULL);
    if (param >= 0 && facts_get(f, param)->value.kind == VALUE_INT)
        return facts_get(f, param)->value.i;
    return INT64_MIN;
}

/* A fraction is above 1 for the parser, though the mesh then takes it as 1. */
static bool is_above(const struct facts *f, struct str key, int64_t limit)
{
    struct value v = facts_has_raw(f, key) ? facts_raw(f, key) : value_null();
    if (v.kind == VALUE_DOUBLE) return v.d > (double)limit;
    return number_at(f, key) > limit;
}

static bool is_newest(const struct facts *f)
{
    return facts_release(f) & 1;
}

/* The class whose constructor takes the keys: the backend's _target_. Without one, AutoModel's
   loaders hand them to the same class, whichever model they load; up to 0.5, only its own models
   did. */
static bool is_targeted(const struct facts *f, struct str prefix)
{
    const struct node *target = node_at(f->document, STR("model.backend._target_")),
                      *loader = node_at(f->document, STR("model._target_"));
    if (!target)
        return loader && is_newest(f) &&
               str_find_str(loader->text, STR("NeMoAutoModel")) < loader->text.n;
    return str_starts(target->text, prefix) && str_ends(target->text, STR(".BackendConfig"));
}

static bool applies(const struct check *c, const struct automodel_section *s,
                    const struct node *section)
{
    if (s->n_kinds && !str_among(c->kind, s->kinds, s->n_kinds)) return false;
    if (s->strategy.n && !str_eq(facts_str(c->f, P_strategy), s->strategy)) return false;
    if (s->above_key.n && !is_above(c->f, s->above_key, s->above)) return false;
    if (s->beside.n && !node_at(c->f->document, s->beside)) return false;
    if (s->targeted.n && !is_targeted(c->f, s->targeted)) return false;
    const struct node *target = node_get(section, STR("_target_"));
    if (s->n_targets && !(target && str_among(target->text, s->targets, s->n_targets)))
        return false;
    return !s->untargeted || !target;
}

bool automodel_section_takes(struct str path, struct str target, struct str key)
{
    for (uint32_t i = 0; i < automodel_section_count; i++) {
        const struct automodel_section *s = &automodel_sections[i];
        if (str_eq(s->path, path) && str_among(target, s->targets, s->n_targets))
            return str_among(key, s->keys, s->n_keys);
    }
    return true;
}

bool automodel_section_has(struct str path, struct str key)
{
    bool has = false;
    for (uint32_t i = 0; i < automodel_section_count && !has; i++)
        has = str_eq(automodel_sections[i].path, path) &&
              str_among(key, automodel_sections[i].keys, automodel_sections[i].n_keys);
    return has;
}

struct str automodel_strategy_of(struct str key)
{
    struct str path = STR("distributed"), only = {"", 0};
    if (!str_starts(key, STR("distributed."))) return only;
    struct str name = str_slice(key, path.n + 1, key.n);
    for (uint32_t i = 0; i < automodel_section_count; i++) {
        const struct automodel_section *s = &automodel_sections[i];
        bool has = str_eq(s->path, path) && s->strategy.n && str_among(name, s->keys, s->n_keys);
        if (has && only.n) return (struct str){"", 0};
        if (has) only = s->strategy;
    }
    return only;
}

/* Another section record of the same path that knows the key: an option of another strategy. */
static struct str other_strategy(const struct automodel_section *s, struct str key)
{
    for (uint32_t i = 0; i < automodel_section_count; i++) {
        const struct automodel_section *other = &automodel_sections[i];
        if (str_eq(other->path, s->path) && other->strategy.n &&
            str_among(key, other->keys, other->n_keys))
            return other->strategy;
    }
    return (struct str){"", 0};
}

static void cover(struct facts *f, struct diag *d, const struct automodel_section *s)
{
    struct str *covers = ARENA_NEW(f->diags->arena, struct str);
    *covers = s->covers;
    d->covers = covers;
    d->n_covers = s->covers.n > 0;
    d->source = s->source;
}

/* An option that the strategy does not have, though another one does. */
static void complain_strategy(struct check *c, const struct automodel_section *s,
                              const struct node *section, size_t entry, struct str other)
{
    const struct node *key = section->keys[entry];
    struct facts *f = c->f;
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "option-of-another-strategy", node_span(f->diags, key),
                 "strategy %.*s has no option %.*s", STR_ARG(s->strategy), STR_ARG(key->text));
    diag_note(f->diags, d, "%.*s is an option of strategy %.*s", STR_ARG(key->text),
              STR_ARG(other));
    diag_help(f->diags, d, "remove the line, whatever its value");
    d->safe = rewrite_remove(f->diags, section, entry, &d->edits);
    d->parameter = key->text;
    cover(f, d, s);
}

/* The section's own keys, without those of the loader. */
static void help_known(struct facts *f, struct diag *d, const struct automodel_section *s)
{
    enum { MOST_LISTS = 100 }; /* findings after which the same list says nothing new */
    if (f->diags->n > MOST_LISTS) return;
    struct buf keys = buf_new(f->arena);
    for (size_t i = 0; i < s->n_keys; i++) {
        if (str_starts(s->keys[i], STR("_"))) continue;
        if (keys.n) buf_add(&keys, STR(", "));
        buf_add(&keys, s->keys[i]);
    }
    diag_help(f->diags, d, "known keys: %.*s", STR_ARG(buf_str(&keys)));
}

static void complain_unknown(struct check *c, const struct automodel_section *s,
                             const struct node *key)
{
    struct facts *f = c->f;
    bool newest = is_newest(f);
    if (!newest && str_among(key->text, s->gone, s->n_gone)) return;
    struct edit_nearest near = {.word = str_lower(c->f->arena, key->text)};
    for (size_t i = 0; i < s->n_keys; i++)
        edit_offer(&near, s->keys[i]);
    /* one that has gone before the oldest release that is known */
    if (!near.best.n && checkout_is_older(f->arena, f->diags, f->source, FRAMEWORK_AUTOMODEL))
        return;
    struct diag *d =
        diag_add(f->diags, SEVERITY_ERROR, "unknown-key", node_span(f->diags, key),
                 "%.*s does not know the key %.*s", STR_ARG(s->path), STR_ARG(key->text));
    /* the keys are the newest release's: an older one may have read the section elsewhere, and a
       script of somebody's own that reads a file without a recipe may be for that one */
    bool named = f->release_told || facts_has_raw(f, STR("recipe"));
    bool gone = !named && str_among(key->text, s->gone, s->n_gone);
    if (!newest || gone) d->severity = SEVERITY_WARNING;
    if (newest) diag_note(f->diags, d, "AutoModel stops with %.*s", STR_ARG(s->error));
    if (gone) diag_note(f->diags, d, "former releases read it");
    if (near.best.n)
        diag_suggest(f->diags, d, near.best);
    else
        help_known(f, d, s);
    d->parameter = key->text;
    cover(f, d, s);
}

static void complain_key(struct check *c, const struct automodel_section *s,
                         const struct node *section, size_t entry)
{
    const struct node *key = section->keys[entry];
    struct str other = other_strategy(s, key->text);
    if (other.n)
        complain_strategy(c, s, section, entry, other);
    else
        complain_unknown(c, s, key);
}

static void complain_shape(struct check *c, const struct automodel_section *s,
                           const struct node *section)
{
    struct diag *d =
        diag_add(c->f->diags, SEVERITY_ERROR, "section-not-a-mapping",
                 node_span(c->f->diags, section), "%.*s is a mapping of options", STR_ARG(s->path));
    cover(c->f, d, s);
}

/* An empty value is no section at all. */
static bool is_null(struct facts *f, const struct node *node)
{
    return node->kind == NODE_SCALAR &&
           node_value(f->arena, node, SCALAR_AUTOMODEL).kind == VALUE_NULL;
}

/* The dotted path of a key in a section. */
static struct str path_of(const struct facts *f, struct str section, struct str key)
{
    char *path = arena_room(f->arena, section.n + key.n + 1);
    memcpy(path, section.p, section.n);
    path[section.n] = '.';
    memcpy(path + section.n + 1, key.p, key.n);
    return (struct str){path, section.n + 1 + key.n};
}

/* A key that came with a later release; the keys are the newest one's. The sections of the mesh and
   of the model's parts have been classes that refuse what they lack in every release; others may
   have been read more kindly. */
static void check_release(struct check *c, const struct automodel_section *s,
                          const struct node *key)
{
    struct facts *f = c->f;
    if (is_newest(f)) return;
    uint32_t releases = param_key_releases(FRAMEWORK_AUTOMODEL, path_of(f, s->path, key->text));
    if (!releases || releases & facts_release(f)) return;
    bool refused = str_starts(s->path, STR("distributed")) || str_is(s->path, "model.backend");
    struct diag *d = diag_add(f->diags, refused ? SEVERITY_ERROR : SEVERITY_WARNING, "unknown-key",
                              node_span(f->diags, key), "AutoModel %.*s has no %.*s in %.*s",
                              STR_ARG(f->version), STR_ARG(key->text), STR_ARG(s->path));
    diag_help(f->diags, d, "AutoModel has it %.*s: leave it out",
              STR_ARG(profile_span(f->arena, FRAMEWORK_AUTOMODEL, releases)));
    d->parameter = key->text;
    cover(f, d, s);
}

static void check_section(struct check *c, const struct automodel_section *s,
                          const struct node *section)
{
    if (section->kind != NODE_MAP) {
        bool good =
            s->shape == SHAPE_ANY || (s->shape == SHAPE_MAPPING_OR_NULL && is_null(c->f, section));
        if (!good) complain_shape(c, s, section);
        return;
    }
    for (size_t i = 0; i < section->n; i++)
        if (!str_among(section->keys[i]->text, s->keys, s->n_keys))
            complain_key(c, s, section, i);
        else
            check_release(c, s, section->keys[i]);
}

/* _x is a section switched off, validation_dataset_x one of several. */
static bool is_free_name(struct str key)
{
    return str_starts(key, STR("_")) || str_starts(key, STR("validation_dataset"));
}

/* What a key that is ignored in silence may be a slip of. The sections of a file are few, so one
   that is near to a known one which is missing is it; arguments that are handed on are anybody's.
 */
static struct str slip_of(const struct automodel_section *s, const struct node *map, struct str key)
{
    enum { LONG = 18 };
    struct edit_nearest near = {.word = key};
    bool root = str_is(s->path, ".");
    for (size_t i = 0; i < s->n_keys; i++)
        if (root || edit_is_slip(key, s->keys[i], key.n >= LONG ? 2 : 1))
            edit_offer(&near, s->keys[i]);
    return node_get(map, near.best) ? (struct str){"", 0} : near.best;
}

static bool has_key(const struct facts *f, struct str section, struct str key)
{
    struct str path = path_of(f, section, key);
    bool has = param_find_key(FRAMEWORK_AUTOMODEL, path, NULL) >= 0;
    for (uint32_t i = 0; i < automodel_section_count && !has; i++) {
        const struct automodel_section *s = &automodel_sections[i];
        has = str_eq(s->path, section) && str_among(key, s->keys, s->n_keys);
    }
    return has;
}

static struct diag *complain_ignored(struct facts *f, const struct node *key, bool section)
{
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, section ? "section-misspelt" : "unknown-key",
                 node_span(f->diags, key), "nobody reads the %s %.*s", section ? "section" : "key",
                 STR_ARG(key->text));
    d->parameter = key->text;
    return d;
}

/* A number, a truth or none: what sections hold, and no section is. */
static bool is_setting(struct facts *f, const struct node *node)
{
    struct value v = node_value(f->arena, node, SCALAR_AUTOMODEL);
    return v.kind == VALUE_INT || v.kind == VALUE_DOUBLE || v.kind == VALUE_BOOL ||
           (v.kind == VALUE_NULL && node->text.n);
}

/* A key that lost its indentation: the section before it would read it, or another one of the file
   would read the number. */
static void check_indentation(struct facts *f, const struct node *root, size_t at)
{
    const struct node *key = root->keys[at], *value = root->items[at];
    if (value->kind != NODE_SCALAR) return;
    bool any = is_setting(f, value);
    struct str owner = {"", 0};
    for (size_t i = root->n; i-- > 0 && !owner.n;) {
        bool section = root->items[i]->kind == NODE_MAP && (any || i + 1 == at);
        if (section && has_key(f, root->keys[i]->text, key->text)) owner = root->keys[i]->text;
    }
    if (owner.n)
        diag_help(f->diags, complain_ignored(f, key, false), "it belongs into %.*s",
                  STR_ARG(owner));
}

/* What an open section does not know is ignored, or handed on. */
static void check_open(struct facts *f, const struct automodel_section *s, const struct node *map)
{
    bool root = str_is(s->path, ".");
    for (size_t i = 0; map->kind == NODE_MAP && i < map->n; i++) {
        struct str key = map->keys[i]->text;
        if (str_among(key, s->keys, s->n_keys) || (root && is_free_name(key))) continue;
        struct str near = slip_of(s, map, key);
        if (near.n)
            diag_suggest(f->diags, complain_ignored(f, map->keys[i], root), near);
        else if (root)
            check_indentation(f, map, i);
    }
}

/* A section that lost the colon behind its only key: "loss_fn:" and below it "_target_ PATH", which
   is one text. */
static bool lost_colon(struct facts *f, const struct automodel_section *s,
                       const struct node *section)
{
    struct str text = section->text;
    size_t n = str_find(text, ' ');
    bool words = section->kind == NODE_SCALAR && !section->quoted && n < text.n;
    if (!words || !str_among(str_slice(text, 0, n), s->keys, s->n_keys)) return false;
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "section-not-a-mapping", node_span(f->diags, section),
                 "%.*s is a mapping of options", STR_ARG(s->path));
    diag_help(f->diags, d, "write it as key: value");
    cover(f, d, s);
    return true;
}

void automodel_check_sections(struct facts *f, struct str kind)
{
    struct check c = {f, kind};
    struct str done = {"", 0};
    const struct node *section = NULL;
    for (uint32_t i = 0; i < automodel_section_count; i++) {
        const struct automodel_section *s = &automodel_sections[i];
        bool same = i > 0 && str_eq(s->path, s[-1].path); /* those of a path stand together */
        if (!same) section = str_is(s->path, ".") ? f->document : facts_node(f, s->path);
        if (!section || str_eq(s->path, done)) continue;
        bool told = lost_colon(f, s, section);
        if (!told && !applies(&c, s, section)) continue;
        if (!told && s->shape == SHAPE_OPEN) check_open(f, s, section);
        if (!told && s->shape != SHAPE_OPEN) check_section(&c, s, section);
        done = s->path;
    }
}
