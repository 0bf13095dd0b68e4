/* SPDX-License-Identifier: Apache-2.0 */
/* The launch: which of a script's commands starts training, and its words as flags. */
#include "facts/bridge.h"
#include "facts/program_kind.h"
#include "facts/shell_state.h"

/* ---- fields as words ---- */

/* Where the word's value stands, if all of it was written in a row. */
static void set_part(struct shell *sh, struct shell_text t, struct flag_word *w)
{
    size_t eq = str_find(shell_str(t), '='), first = eq < t.n ? eq + 1 : 0;
    if (first >= t.n || w->dynamic) return;
    for (size_t i = first + 1; i < t.n; i++)
        if (t.at[i] != t.at[i - 1] + 1) return;
    struct shell_place from = shell_place(sh, t.at[first]), to = shell_place(sh, t.at[t.n - 1]);
    if (from.source != to.source || to.byte - from.byte != t.n - 1 - first) return;
    w->part_source = from.source;
    w->part_from = from.byte;
    w->part_to = to.byte + 1;
}

/* What a word says, without its place. */
static struct flag_word text_word(struct shell *sh, struct shell_text t)
{
    struct flag_word w = {0};
    char *p = arena_alloc(sh->arena, t.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        w.maybe = w.maybe || t.p[i] == SHELL_MAYBE;
        if (t.p[i] == SHELL_MAYBE) continue;
        bool unknown = t.p[i] == SHELL_UNKNOWN || t.p[i] == SHELL_FOLDER;
        if (unknown && !w.dynamic) {
            w.dynamic = true;
            w.known = n;
        }
        p[n++] = unknown ? '?' : t.p[i];
    }
    w.text = (struct str){p, n};
    if (!w.dynamic) w.known = n;
    return w;
}

static struct flag_word to_word(struct shell *sh, struct shell_text t)
{
    struct flag_word w = text_word(sh, t);
    uint32_t from = t.n ? t.at[0] : 0, last = t.n ? t.at[t.n - 1] : 0;
    struct shell_place place = shell_place(sh, from);
    bool together = t.n && last >= from && last - from <= 2 * t.n + 4;
    w.source = place.source;
    w.from = place.byte;
    w.to = w.from + (together ? last - from + 1 : 1);
    w.line = w.set_line = source_line_at(&sh->f->diags->sources, w.source, w.from);
    set_part(sh, t, &w);
    return w;
}

/* Whether the word is an argument of the framework: a known flag, or an override of a known key. */
static bool is_argument(const struct shell *sh, struct shell_text t)
{
    struct str s = shell_str(t);
    enum framework framework = sh->f->framework;
    struct str key, value;
    if (sh->f->program.kind) return program_kind_takes(sh->f->program.kind, s, &key, &value);
    while (s.n && (s.p[0] == SHELL_MAYBE || (framework == FRAMEWORK_BRIDGE && s.p[0] == '+')))
        s = str_slice(s, 1, s.n);
    s = str_slice(s, 0, str_find(s, '='));
    if (framework == FRAMEWORK_BRIDGE && bridge_command_option(s)) return true;
    return param_find_key(framework, s, NULL) >= 0;
}

int shell_count_flags(const struct shell *sh, const struct shell_fields *words, size_t from)
{
    int n = 0;
    for (size_t i = from; i < words->n; i++)
        n += is_argument(sh, words->items[i]);
    return n;
}

/* -m MODULE, which is the program unless it is a launcher; numactl's -m takes numbers. */
static bool is_program_module(struct str option, struct str module)
{
    bool named = module.n && shell_begins_name(module.p[0]);
    return str_is(option, "-m") && named &&
           !str_is_any(module, "torch.distributed.run|coverage|"
                               "torch.distributed.launch|"
                               "accelerate.commands.launch");
}

/* Behind the two words that start the program, "megatron sft"; 0: it is not started so. */
static size_t behind_command(const struct shell *sh, const struct shell_fields *words)
{
    const struct program_kind *kind = sh->f->program.kind;
    for (size_t i = 1; kind && kind->n_commands && i < words->n; i++) {
        struct str first = shell_str(words->items[i - 1]), second = shell_str(words->items[i]);
        struct str both = arena_printf(sh->arena, "%.*s %.*s", STR_ARG(first), STR_ARG(second));
        if (str_among(both, kind->commands, kind->n_commands)) return i + 1;
    }
    return 0;
}

/* The first word behind the program: behind the command or the script, else the first flag. A
   script behind a command is a value of its flags, a plugin's. */
static size_t first_argument(const struct shell *sh, const struct shell_fields *words)
{
    size_t command = behind_command(sh, words);
    if (command) return command;
    for (size_t i = 0; i < words->n; i++) {
        if (str_ends(shell_str(words->items[i]), STR(".py"))) return i + 1;
        if (i + 1 < words->n &&
            is_program_module(shell_str(words->items[i]), shell_str(words->items[i + 1])))
            return i + 2;
    }
    for (size_t i = 0; i < words->n; i++)
        if (is_argument(sh, words->items[i])) return i;
    return words->n;
}

struct flag_words shell_words(struct shell *sh, const struct shell_fields *fields)
{
    struct flag_words words = {0};
    for (size_t i = 0; i < fields->n; i++)
        *VEC_PUSH(sh->arena, &words) = to_word(sh, fields->items[i]);
    return words;
}

static void add_fields(struct shell *sh, struct shell_fields *to, const struct shell_fields *from,
                       size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        shell_push(sh, to, from->items[i]);
}

/* Words behind && and the like, in texts that were put together as one command. */
static size_t end_of_command(const struct shell_fields *words, size_t from)
{
    static const char *const ends[] = {"&&", "||", "|", ";", "2>&1", ">", ">>", "&"};
    for (size_t i = from; i < words->n; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (str_is(shell_str(words->items[i]), ends[k])) return i;
    return words->n;
}

/* The rest of the launch that was the command before. A backslash with a blank behind it left that
   blank as a word. */
static void go_on(struct shell *sh, const struct shell_fields *words)
{
    if (sh->launch.n && str_is(shell_str(sh->launch.items[sh->launch.n - 1]), " ")) sh->launch.n--;
    sh->launch_flags += shell_count_flags(sh, words, 0);
    add_fields(sh, &sh->launch, words, 0, end_of_command(words, 0));
}

/* A program without any argument, and the flags of the next line as its own. */
static struct shell_fields with_program(struct shell *sh, const struct shell_fields *words)
{
    struct shell_fields all = {0};
    if (first_argument(sh, &sh->before) == sh->before.n)
        add_fields(sh, &all, &sh->before, 0, sh->before.n);
    add_fields(sh, &all, words, 0, words->n);
    return all;
}

/* The launch so far, as another one is read in its place. */
static void keep_aside(struct shell *sh)
{
    struct shell_fields all = {0};
    add_fields(sh, &all, &sh->program, 0, sh->program.n);
    add_fields(sh, &all, &sh->launch, 0, sh->launch.n);
    shell_note_launch(sh, &all, sh->program.n, all.n);
}

void shell_launch(struct shell *sh, const struct shell_fields *words)
{
    struct shell_fields all;
    bool known = is_argument(sh, words->items[0]);
    if (!sh->launch_flags && shell_count_flags(sh, words, 0))
        known = true; /* the launch so far has none */
    if (shell_is_tail(sh, words, known)) {
        if (sh->launch_goes_on) {
            go_on(sh, words);
            return;
        }
        all = with_program(sh, words);
        words = &all;
    }
    sh->before = *words;
    size_t from = first_argument(sh, words);
    int flags = shell_count_flags(sh, words, from);
    sh->launch_goes_on = flags > sh->launch_flags;
    if (!sh->launch_goes_on) shell_note_launch(sh, words, from, end_of_command(words, from));
    if (!sh->launch_goes_on) return;
    if (sh->launch_flags) keep_aside(sh);
    sh->launch_flags = flags;
    sh->launch = sh->program = (struct shell_fields){0};
    add_fields(sh, &sh->launch, words, from, end_of_command(words, from));
    add_fields(sh, &sh->program, &sh->launcher, 0, sh->launcher.n);
    add_fields(sh, &sh->program, words, 0, from);
}

static bool looks_like_one(const struct shell *sh, struct shell_text t)
{
    struct str s = shell_str(t);
    return sh->f->framework == FRAMEWORK_BRIDGE ? str_find(s, '=') < s.n : str_starts(s, STR("--"));
}

void shell_split_blanks(struct shell *sh, struct shell_text t, struct shell_fields *out)
{
    for (size_t at = 0, from = 0; at <= t.n; at++) {
        bool between = at == t.n || strchr(" \t\n", t.p[at]);
        if (!between) continue;
        if (at > from) shell_push(sh, out, (struct shell_text){t.p + from, t.at + from, at - from});
        from = at + 1;
    }
}

static bool same_field(const struct shell_fields *all, size_t a, size_t b)
{
    if (a >= all->n || b >= all->n) return false;
    struct str x = shell_str(all->items[a]), y = shell_str(all->items[b]);
    bool doubted = y.n && y.p[0] == SHELL_MAYBE;
    return str_eq(x, str_slice(y, doubted, y.n));
}

/* Flags from `from` on to which variables before them give other values: which of the variables a
   launch takes nobody knows. */
static void doubt_rivals(struct shell *sh, struct shell_fields *all, size_t from)
{
    for (size_t i = from; i < all->n && !sh->failed; i++) {
        if (!looks_like_one(sh, all->items[i])) continue;
        shell_charge(sh, from);
        for (size_t k = 0; k < from; k++) {
            if (!same_field(all, i, k) || same_field(all, i + 1, k + 1)) continue;
            all->items[k] = shell_mark_words(sh, all->items[k]);
            all->items[i] = shell_mark_words(sh, all->items[i]);
            break;
        }
    }
}

/* A file that only defines variables: all of those that hold mostly flags. */
static void collect_variables(struct shell *sh)
{
    struct shell_fields all = {0};
    for (size_t i = 0; i < sh->vars.n; i++) {
        struct shell_fields fields = {0};
        const struct shell_fields *items = &sh->vars.items[i].items;
        for (size_t k = 0; k < items->n; k++)
            shell_split_blanks(sh, items->items[k], &fields);
        int flags = shell_count_flags(sh, &fields, 0), dashes = 0;
        for (size_t k = 0; k < fields.n; k++)
            dashes += looks_like_one(sh, fields.items[k]);
        if (flags == 0 || 2 * flags < dashes) continue;
        size_t to = end_of_command(&fields, first_argument(sh, &fields)), before = all.n;
        for (size_t k = first_argument(sh, &fields); k < to; k++)
            shell_push(sh, &all, fields.items[k]);
        doubt_rivals(sh, &all, before);
    }
    sh->launch_flags = shell_count_flags(sh, &all, 0);
    sh->launch = all;
}

/* ---- entry ---- */

static void export_environment(struct shell *sh)
{
    for (size_t i = 0; i < sh->vars.n; i++) {
        const struct shell_var *var = &sh->vars.items[i];
        if (!var->exported || var->items.n != 1 || !shell_known(var->items.items[0])) continue;
        facts_set_env(sh->f, var->name, str_dup(sh->arena, shell_str(var->items.items[0])), false);
    }
}

/* What the chosen command launches; nothing, where the flags stand in variables alone. */
static struct program launched(const struct shell *sh)
{
    if (!sh->launches) return (struct program){.origin = PROGRAM_UNSAID};
    size_t n = sh->program.n;
    return program_of(n ? shell_str(sh->program.items[n - 1]) : (struct str){"", 0});
}

/* $1, $2 ... from --set 1=..., as far as they are given in a row. */
static void set_arguments(struct shell *sh)
{
    for (size_t i = 1; i <= 99; i++) {
        const struct setting *s = setting_use(sh->options, arena_printf(sh->arena, "%zu", i));
        if (!s) return;
        *VEC_PUSH(sh->arena, &sh->args) = shell_text_at(sh->arena, s->text, 0);
    }
}

static struct shell shell_of(struct facts *f, struct str text, const struct read_options *options)
{
    struct shell sh = {.f = f, .arena = f->arena, .options = options, .live = SHELL_LIVE};
    shell_file_add(&sh, f->source, text);
    return sh;
}

/* Flags alone. */
static void read_flags(struct shell *sh, struct shell_text all)
{
    sh->in = (struct shell_source){.text = all};
    while (!shell_at_end(sh)) {
        size_t before = sh->in.at;
        shell_skip_blanks(sh);
        shell_word(sh, &sh->launch, true);
        if (sh->in.at == before) sh->in.at++;
    }
}

static void read_script(struct shell *sh, struct str text, struct shell_text all)
{
    sh->header = shell_read_header(sh, text);
    shell_run(sh, all);
    sh->launches = sh->launch_flags > 0;
    if (!sh->launches) collect_variables(sh);
    const struct program_kind *kind = sh->f->program.kind;
    sh->f->program = launched(sh);
    sh->f->program.kind = kind;
    shell_tell(sh, text);
}

/* Where in the line the open quote is closed: in a condition behind its word. */
static size_t closing_place(struct str text, size_t open, size_t end)
{
    struct str rest = str_slice(text, open, end);
    if (str_find_str(rest, STR(" ]")) < rest.n) return open + str_find(rest, ' ');
    return end > open + 1 && text.p[end - 1] == '\\' ? end - 1 : end;
}

/* The script with its open quote closed on its line, where that can be told: from there on a shell
   takes commands for text and texts for commands. */
static bool close_quote(const struct shell *sh, struct shell_text *all, uint32_t *open_at)
{
    size_t open, end;
    bool quotes = sh->failed && str_is(str_of(sh->failed_rule), "shell-syntax");
    if (!quotes || !shell_find_open_quote(shell_str(*all), &open, &end)) return false;
    struct shell_buf b = {.arena = sh->arena};
    size_t close = closing_place(shell_str(*all), open, end);
    for (size_t i = 0; i < all->n; i++) {
        if (i == close) shell_buf_add(&b, all->p[open], all->at[i]);
        if (i == close) shell_buf_add(&b, ' ', all->at[i]);
        shell_buf_add(&b, all->p[i], all->at[i]);
    }
    *open_at = all->at[open];
    *all = shell_buf_get(&b);
    return true;
}

/* What was found and noted while quotes stood on the wrong side. */
static void forget_findings(struct facts *f, size_t diags, size_t sourced)
{
    while (f->diags->n > diags)
        diag_remove(f->diags, f->diags->n - 1);
    f->sourced.n = sourced;
}

bool shell_read(struct facts *f, struct str text, const struct read_options *options,
                struct flag_words *out)
{
    size_t diags = f->diags->n, sourced = f->sourced.n;
    bool flags = f->program.told || str_starts(str_trim(text), STR("--"));
    struct program program = f->program;
    struct shell sh = shell_of(f, text, options);
    struct shell_text all = sh.files.items[0].text;
    uint32_t open_at = 0;
    set_arguments(&sh);
    if (flags)
        read_flags(&sh, all);
    else
        read_script(&sh, text, all);
    if (!flags && close_quote(&sh, &all, &open_at)) {
        forget_findings(f, diags, sourced);
        f->program = program;
        sh = shell_of(f, text, options);
        set_arguments(&sh);
        read_script(&sh, text, all);
        sh.failed = true;
        sh.failed_rule = "shell-syntax";
        sh.failure = "this quote is not closed";
        sh.failed_at = open_at;
    }
    export_environment(&sh);
    shell_set_world(&sh);
    if (sh.failed || sh.work > SHELL_CHOICE_WORK) f->choices.n = 0;
    /* what could not be read may have any flag */
    if (sh.failed) *VEC_PUSH(sh.arena, &sh.launch) = shell_text_at(sh.arena, SHELL_UNKNOWN_TEXT, 0);
    *out = shell_words(&sh, &sh.launch);
    f->aside = ARENA_NEW(f->arena, struct flag_words);
    *f->aside = shell_words(&sh, &sh.aside);
    if (sh.failed)
        diag_add(f->diags, SEVERITY_ERROR, sh.failed_rule, shell_span(&sh, sh.failed_at, 1), "%s",
                 sh.failure);
    return !sh.failed;
}

void shell_expand(struct facts *f, struct str text, const struct read_options *options,
                  struct flag_word *w)
{
    struct shell sh = shell_of(f, text, options);
    struct flag_word word = text_word(&sh, shell_expand_text(&sh, sh.files.items[0].text));
    w->text = word.text;
    w->known = word.known;
    w->dynamic = word.dynamic;
}
