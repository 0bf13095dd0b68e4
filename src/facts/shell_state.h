/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the script evaluator: texts that know where each byte was written, variables, and the
   reading position. shell_word.c expands words, shell_arith.c computes, shell_run.c follows
   commands, shell.c finds the launch. */
#ifndef MOEPLAN_FACTS_SHELL_STATE_H
#define MOEPLAN_FACTS_SHELL_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "facts/shell.h"

/* Bytes with a meaning of their own inside a text: something unknown, maybe empty, maybe several
   words; and, at the beginning of a word, that the word may not be there. */
enum { SHELL_UNKNOWN = 1, SHELL_MAYBE = 2 };

/* Bounds against hostile scripts. */
enum {
    SHELL_MAX_DEPTH = 40,
    SHELL_MAX_STEPS = 200000,
    SHELL_MAX_TEXT = 1 << 20,
    SHELL_MAX_FIELDS = 65536,
    SHELL_MAX_WORK = 1 << 23, /* in bytes of text made */
    SHELL_FIELD_WORK = 16,    /* what a field or an item of an array counts for */
    SHELL_READ_WORK = 8       /* bytes read, or compared with a pattern, that count for one */
};

/* A text and, for each byte, its offset in the source. */
struct shell_text {
    const char *p;
    const uint32_t *at;
    size_t n;
};
struct shell_buf {
    struct arena *arena;
    char *p;
    uint32_t *at;
    size_t n, cap;
};
struct shell_fields {
    struct shell_text *items;
    size_t n, cap;
};

struct shell_var {
    struct str name;
    struct shell_fields items; /* one for a plain variable */
    bool is_array, exported;
};

/* Whether what is being read runs: no, perhaps, for certain. */
enum shell_live { SHELL_DEAD, SHELL_PERHAPS, SHELL_LIVE };

/* break, return and exit stop what follows up to the end of the loop, the function or the script;
   a mistake in arithmetic abandons the command at the script's top level. */
enum shell_halt { SHELL_GOES_ON, SHELL_BREAK, SHELL_RETURN, SHELL_EXIT, SHELL_ABANDON };

/* What an unknown text holds. */
#define SHELL_UNKNOWN_TEXT ((struct str){(const char[]){SHELL_UNKNOWN, 0}, 1})

/* Whether a command succeeds. */
enum shell_status { SHELL_NO, SHELL_YES, SHELL_PERHAPS_YES };
static inline enum shell_status shell_not(enum shell_status s)
{
    return s == SHELL_PERHAPS_YES ? s : s == SHELL_YES ? SHELL_NO : SHELL_YES;
}

/* Where the evaluator reads; functions and nested scripts have their own. */
struct shell_source {
    struct shell_text text;
    size_t at;
};

struct shell {
    struct facts *f;
    struct arena *arena;
    const struct read_options *options;
    struct shell_source in;
    struct map var_index, function_index;
    VEC(struct shell_var) vars;
    VEC(struct shell_source) functions; /* their bodies, up to the closing brace */
    struct shell_fields args;           /* $1 ... */
    bool args_known;
    bool sourced;         /* another file ran in between: what is not set here may be set there */
    bool has_here_string; /* the command being read has a <<< */
    struct shell_text here_string;
    enum shell_live live;
    int depth;
    size_t steps, work;
    enum shell_halt halt; /* nothing runs until its end is reached */
    bool failed;
    size_t failed_at; /* offset in the source */
    const char *failed_rule, *failure;
    struct flag_words launch; /* the best so far */
    int launch_flags;
    bool launches; /* the flags are those of a command */
    struct flag_words program;    /* its words before the script: torchrun and its options */
    struct str heredoc_into;      /* the variable that read fills from this line's here-document */
    bool heredoc_runs;            /* the command on this line runs its here-document */
    struct shell_fields heredocs; /* delimiters still to come on this line */
};

/* ---- texts ---- */
static inline struct str shell_str(struct shell_text t)
{
    return (struct str){t.p ? t.p : "", t.n};
}
void shell_buf_add(struct shell_buf *b, char c, uint32_t at);
void shell_buf_text(struct shell_buf *b, struct shell_text t);
struct shell_text shell_buf_get(struct shell_buf *b);
/* The same, paid for; a text that has reached SHELL_MAX_TEXT ends the reading. */
struct shell_text shell_made(struct shell *sh, struct shell_buf *b);
/* A text all of whose bytes stand at one place. */
struct shell_text shell_text_at(struct arena *a, struct str s, uint32_t at);
/* No byte of it is unknown or uncertain. */
bool shell_known(struct shell_text t);

/* ---- bytes ---- */
static inline bool shell_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}
static inline bool shell_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
/* What a name begins with; digits may follow. */
static inline bool shell_begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool shell_is_name(char c)
{
    return shell_begins_name(c) || shell_is_digit(c);
}
static inline bool shell_ends_word(char c)
{
    return c == '\0' || strchr(" \t\r\n;&|<>()", c);
}

/* ---- variables (shell_var.c) ---- */
/* NULL when the script does not set it. */
struct shell_var *shell_var_find(struct shell *sh, struct str name);
/* The value of a plain variable: from --set, the script, --env; a text that is SHELL_UNKNOWN when
 *nobody says. unset is set when it is known not to be there, or when the script never sets it and
 *no environment is given. */
struct shell_text shell_var_get(struct shell *sh, struct str name, uint32_t at, bool *unset);
/* name=(items) or name=text, with += when `append`; what only perhaps runs leaves both values
 * possible. */
void shell_var_set(struct shell *sh, struct str name, const struct shell_fields *items,
                   bool is_array, bool append);
/* name=text */
void shell_var_set_text(struct shell *sh, struct str name, struct shell_text text);

/* ---- words (shell_word.c) ---- */
bool shell_at_end(const struct shell *sh);
char shell_peek(const struct shell *sh, size_t ahead); /* '\0' at the end */
uint32_t shell_offset(const struct shell *sh);
/* The text can be read no further: it is not what a shell reads, or there is too much of it. */
void shell_fail(struct shell *sh, const char *why);
void shell_exhaust(struct shell *sh, const char *why);
/* One level deeper; the caller takes it off sh->depth again. */
void shell_descend(struct shell *sh);
/* Counts work done, in bytes of text made, and ends the reading beyond SHELL_MAX_WORK. */
void shell_charge(struct shell *sh, size_t work);
/* One more field, paid for; beyond SHELL_MAX_FIELDS the reading ends. */
void shell_push(struct shell *sh, struct shell_fields *to, struct shell_text t);
/* Blanks, continued lines and comments. */
void shell_skip_blanks(struct shell *sh);
/* Expands the word at the reading position into fields and moves behind it. With `split` false the
   word is one field, as in assignments. */
void shell_word(struct shell *sh, struct shell_fields *out, bool split);
/* Expands a text as if in double quotes. */
struct shell_text shell_expand_text(struct shell *sh, struct shell_text text);

/* ---- arithmetic (shell_arith.c) ---- */
/* The value of $((text)), its variables already looked up by name where they are names; false:
 * unknown. */
bool shell_arith(struct shell *sh, struct str text, int64_t *out);
/* Whether every shell refuses the text: it begins with an operator of two sides. */
bool shell_arith_is_wrong(struct str text);

/* Nothing runs until the place that `how` means is reached; only for what runs for certain. */
void shell_halt(struct shell *sh, enum shell_halt how); /* shell_run.c */

/* ---- commands that set variables (shell_builtin.c) ---- */
/* read, printf -v, unset, source and the like; false when the name is none of them. */
bool shell_builtin(struct shell *sh, struct str name, const struct shell_fields *words);

/* ---- conditions (shell_test.c) ---- */
/* What [ or test or [[ say about their words. */
enum shell_status shell_test(struct shell *sh, const struct shell_fields *words);
/* Whether a text matches a pattern with * ? and [...]; both known. */
bool shell_match(struct shell *sh, struct str pattern, struct str text);

/* ---- commands (shell_run.c) ---- */
/* Runs a text as a script, in the present variables. */
void shell_run(struct shell *sh, struct shell_text text);
/* A simple command with its words expanded. */
void shell_launch(struct shell *sh, const struct shell_fields *words); /* shell.c */

#endif
