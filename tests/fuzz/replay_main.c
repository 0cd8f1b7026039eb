/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target on files: every argument is a file, or a directory whose files are taken.
 * Missing ones are skipped. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    size_t n = 0, cap = 1 << 16;
    uint8_t *data = malloc(cap);
    for (size_t got; data && (got = fread(data + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n < cap) continue;
        uint8_t *bigger = realloc(data, cap *= 2);
        if (!bigger) free(data);
        data = bigger;
    }
    fclose(f);
    if (!data) return 0;
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    return 1;
}

static int replay(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return replay_file(path);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char name[4096];
        if (e->d_name[0] == '.') continue;
        if (snprintf(name, sizeof name, "%s/%s", path, e->d_name) < (int)sizeof name)
            n += replay_file(name);
    }
    closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    int n = LLVMFuzzerTestOneInput((const uint8_t *)"", 0) == 0;
    for (int i = 1; i < argc; i++) n += replay(argv[i]);
    printf("%d inputs\n", n);
    return 0;
}
