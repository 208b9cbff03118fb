/*
 * Preloaded into a Purser by test/support/faults/faults.ts: counts the calls by which it reads and writes files of one
 * folder, and lets the n-th fail, all from the n-th on fail, or ends the process there as kill -9 does.
 *
 * FAULT_FOLDER is the folder; FAULT_CONTROL is a file of `struct control`, which the test may
 * change while the program runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITES = 1, SYNCS = 2, NAMES = 4, READS = 8 };

struct control {
  int32_t calls;   /* which calls are counted: a sum of the above */
  int32_t at;      /* the number of the call that fails; 0: none */
  int32_t error;   /* what it fails with; 0: the process is killed */
  int32_t is_once; /* whether later calls succeed again */
  int32_t count;   /* calls so far */
  int32_t failed;  /* how many of them failed */
};

static struct control *control;
static const char *folder;
static size_t folder_length;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("FAULT_CONTROL");
  folder = getenv("FAULT_FOLDER");
  if (file == NULL || folder == NULL) return;
  folder_length = strlen(folder);
  int fd = open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *memory = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory != MAP_FAILED) control = memory;
}

static int is_inside(const char *path) {
  return strncmp(path, folder, folder_length) == 0 && path[folder_length] == '/';
}

static int is_file_inside(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_inside(path);
}

/* Whether this call, one of a file inside, is to fail; errno says with what. */
static int fails(void) {
  int number = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
  int at = control->at;
  if (at == 0 || number < at || (control->is_once && number > at)) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  if (control->error == 0) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  errno = control->error;
  return 1;
}

static int file_fails(int kind, int fd) {
  if (control == NULL || (control->calls & kind) == 0) return 0;
  int before = errno;
  int is_ours = is_file_inside(fd);
  errno = before;
  return is_ours && fails();
}

static int path_fails(const char *path) {
  return control != NULL && (control->calls & NAMES) != 0 && is_inside(path) && fails();
}

#define REPLACED(failure, type, name, parameters, arguments)          \
  type name parameters {                                                    \
    static type(*real) parameters;                                          \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name);   \
    if (failure) return -1;                                                 \
    return real arguments;                                                  \
  }

#define OF_FILE(kind, type, name, parameters, arguments) \
  REPLACED(file_fails(kind, fd), type, name, parameters, arguments)
#define OF_PATH(type, name, parameters, arguments) \
  REPLACED(path_fails(path), type, name, parameters, arguments)

OF_FILE(WRITES, ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
OF_FILE(WRITES, ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
OF_FILE(WRITES, ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
OF_FILE(WRITES, ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
OF_FILE(WRITES, ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
OF_FILE(WRITES, ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
OF_FILE(WRITES, int, ftruncate, (int fd, off_t size), (fd, size))
OF_FILE(WRITES, int, ftruncate64, (int fd, off64_t size), (fd, size))
OF_FILE(SYNCS, int, fsync, (int fd), (fd))
OF_FILE(SYNCS, int, fdatasync, (int fd), (fd))
OF_FILE(READS, ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))
OF_FILE(READS, ssize_t, pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))
OF_FILE(READS, ssize_t, pread64, (int fd, void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
OF_PATH(int, rename, (const char *path, const char *next), (path, next))
OF_PATH(int, link, (const char *path, const char *next), (path, next))
OF_PATH(int, unlink, (const char *path), (path))
