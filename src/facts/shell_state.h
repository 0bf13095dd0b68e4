/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the script evaluator: texts that know where each byte was written, variables, and the
   reading position. shell_file.c has the files, shell_word.c expands words, shell_arith.c computes,
   shell_run.c follows control flow, shell_command.c runs commands, shell.c finds the launch,
   shell_world.c the number of GPUs, shell_missing.c variables that nobody sets, shell_tail.c flags
   that are commands, shell_notice.c what else is wrong with the script itself. */
#ifndef MOEPLAN_FACTS_SHELL_STATE_H
#define MOEPLAN_FACTS_SHELL_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "facts/shell.h"

/* Bytes with a meaning of their own inside a text: something unknown, maybe empty, maybe several
   words; at the beginning of a word, that the word may not be there; and the folder of the script,
   which is unknown too but in names of files. */
enum { SHELL_UNKNOWN = 1, SHELL_MAYBE = 2, SHELL_FOLDER = 3 };

/* Bounds against hostile scripts. */
enum {
    SHELL_MAX_DEPTH = 40,
    SHELL_MAX_STEPS = 200000,
    SHELL_MAX_TEXT = 1 << 20,
    SHELL_MAX_FIELDS = 65536,
    SHELL_MAX_WORK = 1 << 23, /* in bytes of text made */
    SHELL_CHOICE_WORK = 1 << 19, /* the most of a script that is read again for its choices */
    SHELL_FIELD_WORK = 16,    /* what a field or an item of an array counts for */
    SHELL_READ_WORK = 8,      /* bytes read, or compared with a pattern, that count for one */
    SHELL_MAX_FILES = 32,     /* files that are sourced */
    SHELL_MAX_NOTED = 64,     /* names and places kept for findings */
    SHELL_MAX_ASIDE = 1024    /* words beside the launch */
};

/* A text and, for each byte, where it was written: its offset in the script, or beyond the script
   in a file that it sources (shell_place). */
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
/* A file that was read: its bytes stand at base, base + 1, ... in every text. */
struct shell_file {
    uint32_t source, base;
    struct str real; /* its real path; the script's own: empty */
    struct str name; /* from the script's folder on, as BASH_SOURCE has it */
    struct shell_text text;
    bool open; /* it is being run: it may not begin again */
};
/* A file that the script writes itself. */
struct shell_written {
    struct str name;
    struct shell_text text;
};
struct shell_place {
    uint32_t source, byte;
};
/* A variable or argument that nobody sets, and the first place that uses it. */
struct shell_missing {
    struct str name;
    uint32_t at;
    bool stops;      /* under set -u */
    struct str into; /* the variable that takes its value, or another one */
};
struct shell_missing_list {
    struct shell_missing *items;
    size_t n, cap;
};
/* A command that is a flag. */
struct shell_tail {
    uint32_t at, cut; /* where it stands; 1 + the comment that ends the one before, or 0 */
    struct str name;
    bool told;
};
/* What the #SBATCH header says; 0: nothing. */
enum {
    SLURM_NODES,
    SLURM_GPUS_PER_NODE,
    SLURM_TASKS_PER_NODE,
    SLURM_TASKS,
    SLURM_GPUS,
    SLURM_SEGMENT,
    SLURM_OPTIONS
};
struct slurm {
    int64_t values[SLURM_OPTIONS];
    uint32_t from, to; /* the last line that says a number of GPUs */
};

struct shell_var {
    struct str name;
    struct shell_fields items; /* one for a plain variable */
    bool is_array, exported, used;
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

/* A function that is being run. */
struct shell_call {
    const struct shell_call *outer;
    const char *body;
};

struct shell {
    struct facts *f;
    struct arena *arena;
    const struct read_options *options;
    struct shell_source in;
    VEC(struct shell_file) files; /* the script, then what it sources */
    size_t file;                  /* the one that is being run */
    VEC(struct shell_written) written;
    struct slurm header;
    struct map var_index, function_index;
    VEC(struct shell_var) vars;
    VEC(struct shell_source) functions; /* their bodies, up to the closing brace */
    struct shell_fields args;           /* $1 ... */
    bool args_known;
    const struct shell_call *calls; /* the innermost */
    bool sourced;         /* another file ran in between: what is not set here may be set there */
    bool sets_any;        /* a command set a variable whose name nobody here can tell */
    bool has_here_string; /* the command being read has a <<< */
    struct shell_text here_string;
    enum shell_live live;
    int depth;
    size_t steps, work;
    enum shell_halt halt; /* nothing runs until its end is reached */
    uint32_t doubt; /* 1 + the quote that was closed by one that looks like the beginning of another
                       text, and so were all of its kind since; 0: none */
    char doubt_kind;
    bool failed;
    uint32_t failed_at;
    const char *failed_rule, *failure;
    struct shell_fields launch; /* the words behind the program, the best so far */
    int launch_flags;
    bool launches;               /* the flags are those of a command */
    bool launch_goes_on;         /* the last command was that launch */
    struct shell_fields aside;   /* flags beside it */
    struct shell_fields before;  /* the last command that may have been one */
    uint32_t command_at;         /* where the present command is written */
    struct shell_fields program; /* its words before the script: torchrun and its options */
    struct shell_fields
        launcher;            /* the commands that run the present script: srun and its options */
    struct str heredoc_into; /* the variable that read fills from this line's here-document */
    struct str heredoc_file; /* the file that it is written to */
    bool heredoc_runs;       /* the command on this line runs its here-document */
    bool heredoc_plain;      /* nothing is expanded in it */
    struct shell_fields heredocs; /* delimiters still to come on this line */
    struct shell_text output;     /* where > of the present command leads */
    bool appends;                 /* it is >> */
    struct shell_buf *printed;    /* inside $(...): what was printed; NULL: nobody looks */
    struct shell_text folder;     /* where cd has led; empty: nowhere */
    bool nounset;                 /* set -u */
    uint32_t comment, cut;        /* 1 + the comment that ends a continued command, this and the
                                     last one; 0: none */
    VEC(struct shell_tail) tails;
    struct shell_missing_list missing, dead; /* variables; those in what does not run */
    struct shell_missing_list defaults;      /* those in NAME=${OTHER:-8} */
    struct shell_missing_list arguments;     /* $1 ... */
    struct str assigned;                     /* NAME, while what it takes is read */
    struct map set_elsewhere;                /* names that are set in what does not run */
};

/* ---- texts ---- */
static inline struct str shell_str(struct shell_text t)
{
    return (struct str){t.p ? t.p : "", t.n};
}
void shell_buf_grow(struct shell_buf *b);
/* Nothing is added to a text of SHELL_MAX_TEXT. */
static inline void shell_buf_add(struct shell_buf *b, char c, uint32_t at)
{
    if (b->n == SHELL_MAX_TEXT) return;
    if (b->n == b->cap) shell_buf_grow(b);
    b->p[b->n] = c;
    b->at[b->n++] = at;
}
void shell_buf_text(struct shell_buf *b, struct shell_text t);
struct shell_text shell_buf_get(struct shell_buf *b);
/* The same, paid for; a text that has reached SHELL_MAX_TEXT ends the reading. */
struct shell_text shell_made(struct shell *sh, struct shell_buf *b);
/* A text all of whose bytes stand at one place. */
struct shell_text shell_text_at(struct arena *a, struct str s, uint32_t at);
/* No byte of it is unknown or uncertain. */
bool shell_known(struct shell_text t);

/* ---- files (shell_file.c) ---- */
/* The text of a registered source, CR LF as LF, as the next of the files. */
struct shell_file *shell_file_add(struct shell *sh, uint32_t source, struct str text);
struct shell_place shell_place(const struct shell *sh, uint32_t at);
struct span shell_span(const struct shell *sh, uint32_t at, size_t n);
/* The file of a name that begins in the script's folder, or is relative, in the script's reach;
   NULL: there is none, or it runs already. What comes in a request, or is no file itself, reads
   none. */
struct shell_file *shell_file_find(struct shell *sh, struct shell_text name);
void shell_file_run(struct shell *sh, struct shell_file *file);
/* What the script itself has written to a file; NULL: nothing. */
struct shell_written *shell_written_find(struct shell *sh, struct str name);
void shell_write(struct shell *sh, struct str name, struct shell_text text, bool append);

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
/* --name, and what may stand behind it. */
static inline bool shell_is_flag(struct str word)
{
    return str_starts(word, STR("--")) && word.n > 2 && shell_begins_name(word.p[2]);
}
static inline bool shell_ends_word(char c)
{
    switch (c) { /* for every character of a script */
    case '\0':
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ';':
    case '&':
    case '|':
    case '<':
    case '>':
    case '(':
    case ')': return true;
    default: return false;
    }
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
/* The text with every word marked as one that may not be there. */
struct shell_text shell_mark_words(struct shell *sh, struct shell_text t);
/* One more field, paid for; beyond SHELL_MAX_FIELDS the reading ends. */
void shell_push(struct shell *sh, struct shell_fields *to, struct shell_text t);
/* The length of a placeholder, <path>, at the reading position; 0: there is none. Between
   redirections there is a blank, or the name of a file begins with none. */
size_t shell_placeholder(const struct shell *sh);
/* Whether a word begins here. */
bool shell_at_word(const struct shell *sh);
/* Blanks, continued lines and comments. */
void shell_skip_blanks(struct shell *sh);
/* Expands the word at the reading position into fields and moves behind it. With `split` false the
   word is one field, as in assignments. */
void shell_word(struct shell *sh, struct shell_fields *out, bool split);
/* Expands a text as if in double quotes. */
struct shell_text shell_expand_text(struct shell *sh, struct shell_text text);
/* The same of a here-document, in which quotes are letters. */
struct shell_text shell_expand_document(struct shell *sh, struct shell_text text);

/* ---- open quotes (shell_quote.c) ---- */
/* In a script with a quote that is not closed: where it most likely is, and the end of that line;
   false: nobody can tell. */
bool shell_find_open_quote(struct str text, size_t *open, size_t *end);

/* ---- brackets (shell_bracket.c) ---- */
/* Moves behind the bracket that closes the one before the reading position; the text between. */
struct shell_text shell_bracket(struct shell *sh, char open, char close);

/* ---- arithmetic (shell_arith.c) ---- */
/* The value of $((text)), its variables already looked up by name where they are names; false:
 * unknown. */
bool shell_arith(struct shell *sh, struct str text, int64_t *out);
/* Whether every shell refuses the text: it begins with an operator of two sides. */
bool shell_arith_is_wrong(struct str text);
/* Runs the assignments of ((NAME++, NAME += 2)), whose place is `at`: a value that cannot be told
   is unknown afterwards. */
void shell_arith_assign(struct shell *sh, struct str text, uint32_t at);

/* ---- commands that set variables (shell_builtin.c) ---- */
/* read, printf -v, unset, source, cd, echo and the like; false when the name is none of them. */
bool shell_builtin(struct shell *sh, struct str name, const struct shell_fields *words);

/* ---- conditions (shell_test.c) ---- */
/* What [ or test or [[ say about their words. */
enum shell_status shell_test(struct shell *sh, const struct shell_fields *words);
/* Whether a text matches a pattern (text_matches); both known. */
bool shell_match(struct shell *sh, struct str pattern, struct str text);

/* ---- control flow (shell_run.c) ---- */
/* Runs a text as a script, in the present variables. */
void shell_run(struct shell *sh, struct shell_text text);
/* Commands from the reading position up to the word or bracket that ends their list. */
enum shell_status shell_run_list(struct shell *sh);
/* Nothing runs until the place that `how` means is reached; only for what runs for certain. */
void shell_halt(struct shell *sh, enum shell_halt how);
/* Whether what follows runs, where nothing has halted. */
void shell_set_live(struct shell *sh, enum shell_live live);
/* The plain word at the reading position, as it is written. */
struct str shell_peek_word(const struct shell *sh);

/* ---- commands (shell_command.c) ---- */
/* The simple command at the reading position. */
enum shell_status shell_run_simple(struct shell *sh);
/* > >> < << <<< >& &> and their targets; false when there is none here. */
bool shell_take_redirection(struct shell *sh);
/* What is printed by the command of $(text); false: nobody can tell. */
bool shell_substitute(struct shell *sh, struct shell_text text, struct shell_text *out);
/* A simple command with its words expanded. */
void shell_launch(struct shell *sh, const struct shell_fields *words); /* shell.c */
/* How many arguments of the framework are among the fields from `from` on. */
int shell_count_flags(const struct shell *sh, const struct shell_fields *words, size_t from);
/* The fields of an unquoted $variable. */
void shell_split_blanks(struct shell *sh, struct shell_text t, struct shell_fields *out);
/* Fields as words of a command line. */
struct flag_words shell_words(struct shell *sh, const struct shell_fields *fields);

/* ---- beside the launch (shell_aside.c) ---- */
/* A variable's value, read from `from` up to the reading position, where it is not set for certain:
   flags in it are kept aside. */
void shell_note_aside(struct shell *sh, const struct shell_fields *items, uint32_t from);
/* A launch, its arguments in [from, to), in whose place another one is read. */
void shell_note_launch(struct shell *sh, const struct shell_fields *words, size_t from, size_t to);

/* ---- other ways through the script (shell_choice.c) ---- */
/* A word is compared with a value: where it comes from a variable that is not known to have it, that
   is one of the facts' choices. */
void shell_note_choice(struct shell *sh, struct shell_text word, struct shell_text value);

/* ---- the number of GPUs (shell_world.c) ---- */
struct slurm shell_read_header(struct shell *sh, struct str text);
/* From the launch that was found, else from the header. */
void shell_set_world(struct shell *sh);
/* What Slurm puts into a variable; 0: nothing that is known. */
int64_t shell_slurm_variable(const struct slurm *s, struct str name);

/* ---- variables that nobody sets (shell_missing.c) ---- */
/* A variable, or an argument $1 ..., that nobody sets is used at `at`. */
void shell_note_missing(struct shell *sh, struct str name, uint32_t at);
void shell_note_argument(struct shell *sh, struct str name, uint32_t at);
/* One that nobody sets is used with a default. */
void shell_note_default(struct shell *sh, struct str name, uint32_t at);
/* A variable is set in what does not run. */
void shell_note_set(struct shell *sh, struct str name);
/* What is known of them only at the end. */
void shell_tell_missing(struct shell *sh);

/* ---- flags that are commands (shell_tail.c) ---- */
/* A command that is a flag or an override, the framework's when `known`: the backslash before it is
   lost, or a comment ended the command. True when it is one; its words then belong to the launch
   before it. */
bool shell_is_tail(struct shell *sh, const struct shell_fields *words, bool known);
/* The same of a command that does not run: told at the end, where it ran nowhere else. */
void shell_note_tail(struct shell *sh, const struct shell_fields *words);
void shell_tell_tails(struct shell *sh);
/* A comment from there to the reading position: in a here-document a backslash joins the lines
   before they are read as commands, and so the rest of the command with it. */
void shell_note_comment(struct shell *sh, size_t from);

/* ---- other findings about the script (shell_notice.c) ---- */
/* What is known only at the end: misspelt variables, arguments that matter, CR LF. */
void shell_tell(struct shell *sh, struct str text);

#endif
