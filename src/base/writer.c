/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "base/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cst_status failed(cst_diag *d, const char *path, int why)
{
    return cst_error(d, CST_OUTPUT, (cst_where){.file = path}, "cannot be written: %s",
                     strerror(why));
}

/* ---- files ---- */

static void drop(void *output) { cst_writer_drop(output); }

static cst_writer *start(cst_arena *a, const char *path, int growing, cst_diag *d)
{
    cst_writer *o = cst_new(a, cst_writer, 1);
    struct stat s;
    o->path = o->part = cst_arena_strdup(a, path);
    o->growing = growing;
    int in_place = growing || (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
    int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, fd = -1;
    if (in_place) fd = open(path, how | O_TRUNC, 0666);
    for (int k = 0; !in_place && fd < 0 && (k == 0 || errno == EEXIST); k++) {
        o->part = cst_arena_printf(a, "%s.%ld-%d.part", path, (long)getpid(), k);
        fd = open(o->part, how | O_EXCL, 0666);
    }
    if (fd >= 0 && !(o->f = fdopen(fd, "wb"))) close(fd);
    if (!o->f) {
        failed(d, o->path, errno);
        return NULL;
    }
    cst_arena_defer(a, drop, o);
    return o;
}

cst_writer *cst_writer_open(cst_arena *a, const char *path, cst_diag *d)
{
    return start(a, path, 0, d);
}

cst_writer *cst_writer_grow(cst_arena *a, const char *path, cst_diag *d)
{
    return start(a, path, 1, d);
}

static void keep_error(cst_writer *o, int ok)
{
    if (!ok && !o->error) o->error = errno ? errno : EIO;
}

void cst_writer_write(cst_writer *o, const void *bytes, size_t n)
{
    if (!o->error) keep_error(o, fwrite(bytes, 1, n, o->f) == n);
}

/* Devices and some file systems cannot be synchronised. */
static int synchronise(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

/* The new name is on disk when its directory is. */
static int synchronise_directory(const char *path)
{
    char dir[4096 + 1] = "."; /* PATH_MAX */
    const char *slash = strrchr(path, '/');
    if (slash) snprintf(dir, sizeof dir, "%.*s", (int)(slash - path + (slash == path)), path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES; /* may be written, but not read */
    int ok = synchronise(fd), why = errno;
    close(fd);
    errno = why;
    return ok;
}

/* An earlier call has failed, and nobody has kept the reason: one more byte fails for the same one.
 */
static void find_error(cst_writer *o)
{
    errno = 0;
    if (write(fileno(o->f), "\n", 1) == 1) errno = 0;
    keep_error(o, 0);
}

int cst_writer_close(cst_writer *o, cst_diag *d)
{
    errno = 0;
    if (ferror(o->f)) find_error(o);
    keep_error(o, fflush(o->f) == 0 && !ferror(o->f) && synchronise(fileno(o->f)));
    keep_error(o, fclose(o->f) == 0);
    o->f = NULL;
    if (!o->error && o->part != o->path) keep_error(o, rename(o->part, o->path) == 0);
    if (o->error && o->part != o->path) remove(o->part);
    if (!o->error) keep_error(o, synchronise_directory(o->path));
    if (o->error) failed(d, o->path, o->error);
    return !o->error;
}

void cst_writer_drop(cst_writer *o)
{
    if (!o->f) return;
    fclose(o->f);
    o->f = NULL;
    if (o->part != o->path) remove(o->part);
}

/* ---- directories ---- */

static cst_status make(cst_arena *a, const char *path, cst_diag *d)
{
    char *dir = cst_arena_strdup(a, path);
    for (char *slash = dir + (*dir != 0);; *slash++ = '/') { /* all directories of the path */
        struct stat s;
        slash = strchr(slash, '/');
        if (slash) *slash = 0;
        if (mkdir(dir, 0777) != 0 && (errno != EEXIST || stat(dir, &s) != 0 || !S_ISDIR(s.st_mode)))
            return cst_error(d, CST_OUTPUT, (cst_where){.file = dir},
                             "the directory of results cannot be made: %s",
                             errno == EEXIST ? "it is a file" : strerror(errno));
        if (!slash) return CST_OK;
    }
}

typedef struct lock {
    int fd;
} lock;

static void unlock(void *l) { close(((lock *)l)->fd); }

/* The kernel takes the lock back however the program ends. File systems without locks go without.
 */
static cst_status take_lock(cst_arena *a, const char *dir, cst_diag *d)
{
    const char *path = cst_arena_printf(a, "%s/.lock", dir);
    lock *l = cst_new(a, lock, 1);
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (l->fd < 0) return failed(d, dir, errno);
    cst_arena_defer(a, unlock, l);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(l->fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN)) return CST_OK;
    fcntl(l->fd, F_GETLK, &whole);
    return cst_error(d, CST_OUTPUT, (cst_where){.file = dir},
                     "process %ld is writing its results to this directory; wait for its end, or "
                     "choose another directory with --out",
                     (long)whole.l_pid);
}

/* NAME.PID-K.part */
static int is_part(const char *name)
{
    static const char digits[] = "0123456789", end[] = ".part";
    size_t n = strlen(name), m = sizeof end - 1;
    if (n <= m || strcmp(name + n - m, end) != 0) return 0;
    const char *s = name + n - m;
    for (int k = 0; k < 2; k++) {
        const char *last = s;
        while (s > name && strchr(digits, s[-1])) s--;
        if (s == last || s == name || *--s != ".-"[k == 0]) return 0;
    }
    return 1;
}

static void remove_parts(cst_arena *a, const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir));)
        if (is_part(e->d_name)) remove(cst_arena_printf(a, "%s/%s", path, e->d_name));
    closedir(dir);
}

cst_status cst_writer_directory(cst_arena *a, const char *dir, cst_diag *d)
{
    cst_status ok = make(a, dir, d);
    if (ok == CST_OK) ok = take_lock(a, dir, d);
    if (ok == CST_OK) remove_parts(a, dir);
    return ok;
}
