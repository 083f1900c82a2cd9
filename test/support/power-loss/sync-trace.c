/*
 * Records what a power loss would leave: for LD_PRELOAD (Linux).
 *
 * Each fsync or fdatasync of a file or directory below SYNC_TRACE_ROOT appends one record to the file SYNC_TRACE_FILE, with
 * what was there before the call: that much is on the disk when the call has returned.
 *
 *   F <id> <offset> <length>\n<bytes>\n       content of a file from an offset on, up to its end
 *   D <id> <length>\n<lines>\n                entries of a directory: "<id> <d or f> <name>\n"
 *
 * Each rename, unlink, mkdir and rmdir appends what it changed in a directory. The disk may carry it out before the next sync
 * of that directory, or lose it.
 *
 *   + <directory> <id> <d or f> <name>\n      a new entry, or another file under a known name
 *   - <directory> <name>\n                    an entry that is gone
 *
 * An id is inode and time of birth: inode numbers are used again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
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

static void write_trace(const struct buffer *out) {
  int trace = open(getenv("SYNC_TRACE_FILE"), O_WRONLY | O_APPEND);
  if (trace >= 0 && write(trace, out->bytes, out->length) != (ssize_t)out->length) abort();
  if (trace >= 0) close(trace);
}

static int is_below_root(const char *path) {
  const char *root = getenv("SYNC_TRACE_ROOT");
  return root && getenv("SYNC_TRACE_FILE") && !strncmp(path, root, strlen(root));
}

/* Appends the change of one entry: `sign` is '+' where the path is there now. */
static void record_entry(char sign, const char *path, struct buffer *out) {
  const char *name = strrchr(path, '/');
  char parent[PATH_MAX], directory[ID_BYTES], child[ID_BYTES], line[PATH_MAX];
  struct statx found;
  if (!name || !is_below_root(path)) return;
  snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
  if (identify(AT_FDCWD, parent, directory, &found)) return;
  if (sign == '-') append(out, line, snprintf(line, sizeof line, "- %s %s\n", directory, name + 1));
  else if (!identify(AT_FDCWD, path, child, &found)) {
    char type = S_ISDIR(found.stx_mode) ? 'd' : 'f';
    append(out, line, snprintf(line, sizeof line, "+ %s %s %c %s\n", directory, child, type, name + 1));
  }
}

#define TRACED_CHANGE(call, added, removed) \
  struct buffer out = {0}; \
  pthread_mutex_lock(&lock); \
  int result = (call); \
  int error = errno; \
  const char *new_path = (added), *old_path = (removed); \
  if (result == 0 && new_path) record_entry('+', new_path, &out); \
  if (result == 0 && old_path) record_entry('-', old_path, &out); \
  if (out.length) write_trace(&out); \
  pthread_mutex_unlock(&lock); \
  free(out.bytes); \
  errno = error; \
  return result;

#define REAL(name) dlsym(RTLD_NEXT, name)

int rename(const char *from, const char *to) {
  TRACED_CHANGE(((int (*)(const char *, const char *))REAL("rename"))(from, to), to, from)
}
int mkdir(const char *path, mode_t mode) {
  TRACED_CHANGE(((int (*)(const char *, mode_t))REAL("mkdir"))(path, mode), path, NULL)
}
int unlink(const char *path) { TRACED_CHANGE(((int (*)(const char *))REAL("unlink"))(path), NULL, path) }
int rmdir(const char *path) { TRACED_CHANGE(((int (*)(const char *))REAL("rmdir"))(path), NULL, path) }

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
  if (result == 0) write_trace(&out);
  pthread_mutex_unlock(&lock);
  free(out.bytes);
  return result;
}

int fsync(int fd) { return traced(fd, "fsync"); }
int fdatasync(int fd) { return traced(fd, "fdatasync"); }
