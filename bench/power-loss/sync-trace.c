/*
 * Records what a power loss would leave: for LD_PRELOAD (Linux).
 *
 * Each fsync or fdatasync of a file or directory below SYNC_TRACE_ROOT appends one record to the file SYNC_TRACE_FILE, with
 * what was there before the call: that much is on the disk when the call has returned.
 *
 *   F <id> <offset> <length>\n<bytes>\n       content of a file from an offset on, up to its end
 *   D <id> <length>\n<lines>\n                entries of a directory: "<id> <d or f> <name>\n"
 *
 * An id is inode and time of birth: inode numbers are used again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 65536
#define ID_BYTES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char id[ID_BYTES]; long length; } known[FILES];
static int files = 0;

struct buffer { char *bytes; size_t length, capacity; };

static void append(struct buffer *buffer, const void *bytes, size_t length) {
  if (buffer->length + length > buffer->capacity) {
    buffer->capacity = 2 * (buffer->length + length);
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    if (!buffer->bytes) abort();
  }
  memcpy(buffer->bytes + buffer->length, bytes, length);
  buffer->length += length;
}

static int identify(int directory, const char *name, char *id, struct statx *found) {
  int flags = AT_SYMLINK_NOFOLLOW | (name[0] ? 0 : AT_EMPTY_PATH);
  if (statx(directory, name, flags, STATX_INO | STATX_BTIME | STATX_TYPE | STATX_SIZE, found)) return -1;
  snprintf(id, ID_BYTES, "%llu.%lld.%u", (unsigned long long)found->stx_ino, (long long)found->stx_btime.tv_sec,
           found->stx_btime.tv_nsec);
  return 0;
}

/* How much of a file is in the trace. A file that is not only appended to is recorded whole. */
static long *recorded(const char *id) {
  for (int i = 0; i < files; i++) if (!strcmp(known[i].id, id)) return &known[i].length;
  if (files == FILES) abort();
  strcpy(known[files].id, id);
  known[files].length = 0;
  return &known[files++].length;
}

static void record_file(int fd, const char *path, const char *id, long size, struct buffer *out) {
  size_t name = strlen(path);
  long *length = recorded(id);
  int replaced = size < *length || (name > 5 && !strcmp(path + name - 5, ".seal"));
  long offset = replaced ? 0 : *length;
  char *bytes = malloc(size - offset + 1);
  int reader = open(path, O_RDONLY);
  long count = reader < 0 ? pread(fd, bytes, size - offset, offset) : pread(reader, bytes, size - offset, offset);
  if (reader >= 0) close(reader);
  if (count < 0) count = 0;
  char head[128];
  append(out, head, snprintf(head, sizeof head, "F %s %ld %ld\n", id, offset, count));
  append(out, bytes, count);
  append(out, "\n", 1);
  *length = offset + count;
  free(bytes);
}

static void record_directory(const char *path, const char *id, struct buffer *out) {
  struct buffer lines = {0};
  DIR *directory = opendir(path);
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char child[ID_BYTES], line[ID_BYTES + NAME_MAX + 8];
    struct statx found;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (identify(dirfd(directory), entry->d_name, child, &found)) continue;
    char type = S_ISDIR(found.stx_mode) ? 'd' : 'f';
    append(&lines, line, snprintf(line, sizeof line, "%s %c %s\n", child, type, entry->d_name));
  }
  closedir(directory);
  char head[128];
  append(out, head, snprintf(head, sizeof head, "D %s %zu\n", id, lines.length));
  append(out, lines.bytes ? lines.bytes : "", lines.length);
  append(out, "\n", 1);
  free(lines.bytes);
}

static int traced(int fd, const char *call) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
  const char *root = getenv("SYNC_TRACE_ROOT"), *file = getenv("SYNC_TRACE_FILE");
  char link[64], path[PATH_MAX], id[ID_BYTES];
  struct statx found;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = root && file ? readlink(link, path, sizeof path - 1) : -1;
  if (length > 0) path[length] = 0;
  if (length <= 0 || strncmp(path, root, strlen(root)) || identify(fd, "", id, &found)) return real(fd);
  struct buffer out = {0};
  pthread_mutex_lock(&lock);
  if (S_ISDIR(found.stx_mode)) record_directory(path, id, &out);
  else record_file(fd, path, id, (long)found.stx_size, &out);
  int result = real(fd);
  int trace = open(file, O_WRONLY | O_APPEND);
  if (result == 0 && trace >= 0 && write(trace, out.bytes, out.length) != (ssize_t)out.length) abort();
  if (trace >= 0) close(trace);
  pthread_mutex_unlock(&lock);
  free(out.bytes);
  return result;
}

int fsync(int fd) { return traced(fd, "fsync"); }
int fdatasync(int fd) { return traced(fd, "fdatasync"); }
