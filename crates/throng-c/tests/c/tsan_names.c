/* Names that rustc's instrumented code calls and that gcc's libtsan does not have; weak, for clang's does. */
#include <stddef.h>
#include <string.h>

__attribute__((weak)) void *__tsan_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
__attribute__((weak)) void *__tsan_memmove(void *to, const void *from, size_t size) { return memmove(to, from, size); }
__attribute__((weak)) void *__tsan_memset(void *to, int byte, size_t size) { return memset(to, byte, size); }
