/* Preloaded, it makes a program believe that there are 64 cores: files about cores are read from the folder that
 * the variable MANY_CORES names. So barriers take the forms they have on large machines. Slower than usual, since
 * threads spin for others that have no core. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORES 64

static int open_instead(const char *path, int flags, mode_t mode) {
    static const char CPUS[] = "/sys/devices/system/cpu/";
    const char *folder = getenv("MANY_CORES");
    char other[512];
    size_t length = strlen(path);
    if (folder != NULL && strncmp(path, CPUS, sizeof CPUS - 1) == 0) {
        snprintf(other, sizeof other, "%s/%s", folder, path + sizeof CPUS - 1);
        path = other;
    } else if (folder != NULL && strncmp(path, "/proc/", 6) == 0 && length > 7 &&
               strcmp(path + length - 7, "/status") == 0) {
        snprintf(other, sizeof other, "%s/status", folder);
        path = other;
    }
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_instead(path, flags, mode);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    (void)pid;
    memset(set, 0, size);
    for (size_t core = 0; core < CORES; core++) CPU_SET_S(core, size, set);
    return 0;
}
