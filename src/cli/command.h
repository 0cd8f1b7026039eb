/* SPDX-License-Identifier: MIT
 *
 * A command of the program: one file cmd_NAME.c that defines one cst_command, one line in
 * commands.def. Its table of options is the parser, the usage line and the manual page. Options
 * that several commands have stand in one shared table (options.c), in groups; a command says which
 * groups apply to it, and all others are errors. */
#ifndef CST_CLI_COMMAND_H
#define CST_CLI_COMMAND_H

#include <stdio.h>

#include "base/arena.h"

typedef enum cst_option_kind {
    CST_OPTION_FLAG,   /* --json */
    CST_OPTION_TEXT,   /* --out DIR */
    CST_OPTION_NUMBER, /* --step 1e-3, --step "1 ms": in [lo, hi], unit allowed */
    CST_OPTION_WHOLE,  /* --threads 2 */
    CST_OPTION_CHOICE, /* --newton full: one word of `value` ("full|modified") */
    CST_OPTION_LIST    /* --set A=1 --set B=2: text, may be repeated */
} cst_option_kind;

typedef struct cst_option {
    const char *name; /* without dashes; NULL ends a table */
    cst_option_kind kind;
    const char *value; /* what stands for the value in help, or the words of a choice */
    double lo, hi;     /* of numbers */
    const char *doc;   /* one line */
} cst_option;

enum {                              /* groups of shared options */
       CST_OPTIONS_MODEL = 1,       /* --set */
       CST_OPTIONS_RUN = 2,         /* --step, --end, --formulation, ... */
       CST_OPTIONS_OUT = 4,         /* --out */
       CST_OPTIONS_PRINT = 8,       /* --json, --quiet */
       CST_OPTIONS_HDF5 = 16,       /* --hdf5 */
       CST_OPTIONS_REPORT = 32,     /* --report */
       CST_OPTIONS_FORMULATION = 64 /* --formulation alone; CST_OPTIONS_RUN has it too */
};

typedef struct cst_given {
    const cst_option *option;
    const char *text;
    double number;
} cst_given; /* as written */

typedef struct cst_args cst_args;

typedef struct cst_command {
    const char *name;
    const char *operands;             /* "MODEL", for the usage line */
    int least, most;                  /* how many operands there may be */
    const char *summary;              /* one line */
    const char *notes;                /* what it does, prints and writes */
    int groups;                       /* of shared options */
    const cst_option *option;         /* its own; NULL: none */
    int (*run)(const cst_args *args); /* the exit status */
} cst_command;

struct cst_args {
    cst_arena *arena; /* lives as long as the program */
    const cst_command *command;
    CST_LIST(const char *) operand;
    CST_LIST(cst_given) given;
    FILE *out; /* of results: the standard output, to which with --json nobody else can print */
};

enum { CST_EXIT_DONE = 0, CST_EXIT_FAILED = 1, CST_EXIT_WRONG = 2 }; /* wrong: model or usage */

void cst_print_version(void);
const cst_command *cst_command_at(int index); /* the table, NULL at the end */

/* "a|b|c": the names in the tables of formulations and integrators, with auto and default */
extern const char cst_formulation_words[], cst_integrator_words[];

/* The i-th option of a command, its own options first; NULL at the end. */
const cst_option *cst_option_at(const cst_command *c, int i);

/* Parses argv after the name of the command. 1: continue; 0: exit with *status, all messages have
 * been printed. */
int cst_args_parse(cst_args *args, int argc, char **argv, int *status);

/* Is the text one of the words of a choice? An index from 0, or -1. */
int cst_option_word(const char *words, const char *text);
const char *cst_option_nearest(cst_arena *a, const char *words,
                               const char *word); /* NULL: none is near */

/* What was given (the last one counts); the option must be one of the command's (assert). */
int cst_args_flag(const cst_args *args, const char *name);
const char *cst_args_text(const cst_args *args, const char *name); /* NULL: not given */
double cst_args_number(const cst_args *args, const char *name);    /* in SI; NAN: not given */
int cst_args_choice(const cst_args *args, const char *name); /* counted from 0; -1: not given */
/* All values of a LIST option, in order; their number. *texts may be NULL when there are none. */
int cst_args_list(const cst_args *args, const char *name, const char ***texts);

/* usage.c */
void cst_usage_short(
    const cst_command *c); /* to standard error, below a message: where to find help */
void cst_usage_print(const cst_command *c); /* help of one command, to standard output */

#endif
