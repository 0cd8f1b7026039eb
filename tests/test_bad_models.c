/* SPDX-License-Identifier: MIT
 *
 * Every file in tests/bad_models is invalid. Its first lines give the expected messages:
 *     # expect: 4:25: error: unknown body 'rd'; did you mean 'rod'?
 * The messages must be exactly these, in this order. For messages about a file that it includes
 * (FILE.inc, beside it): # expect FILE.inc: 1:10: error: ... */
#include "costate.h"
#include "expect.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char folder[] = CST_SOURCE_DIR "/tests/bad_models";
static const char mark[] = "# expect";

/* The expected messages with the file's path, as the library would write them. */
static void expected(const char *path, char *text, size_t size)
{
    char line[1200];
    size_t used = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) && strncmp(line, mark, sizeof mark - 1) == 0) {
        char *place = strchr(line, ':'); /* behind it: line, column and message */
        int other = (int)(place - line) - (int)sizeof mark;
        int n = other > 0 ? snprintf(text + used, size - used, "%s/%.*s:%s", folder, other,
                                     line + sizeof mark, place + 2)
                          : snprintf(text + used, size - used, "%s:%s", path, place + 2);
        used += (size_t)n;
        assert_true(used < size);
    }
    fclose(f);
    text[used] = 0;
}

static void every_file_gives_its_messages(void **state)
{
    (void)state;
    int files = 0, wrong = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 5, ".yaml") != 0) continue;
        static char path[4096], want[sizeof((cst_diag *)0)->text];
        static cst_diag diag;
        diag = (cst_diag){0};
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        expected(path, want, sizeof want);
        cst_model *m = cst_model_load(path, 0, NULL, &diag);
        files++;
        if (!m && strcmp(diag.text, want) == 0) continue;
        wrong++;
        fprintf(stderr, "expected:\n%s%s:\n%s\n", want, m ? "loaded" : "messages", diag.text);
        cst_model_free(m);
    }
    closedir(d);
    expect_int(wrong, 0);
    expect_true(files >= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_gives_its_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
