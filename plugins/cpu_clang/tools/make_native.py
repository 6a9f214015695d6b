"""Write `plugrad_cpu_clang/_native.py`: the C functions that the plugin calls, as cffi's ABI module.

Made ahead because parsing C declarations costs 30 ms at each start. Run it after changing the declarations:

    python plugins/cpu_clang/tools/make_native.py
"""

from pathlib import Path

from cffi import FFI

DECLARATIONS = """
typedef struct { void *function; void *bufs; void *vals; long long pieces; } plugrad_launch_entry;

double plugrad_launch(char const *packed_launch);
double plugrad_launch_many(plugrad_launch_entry const *launches, long long count);
void plugrad_copy(uintptr_t to, uintptr_t from, long long nbytes, long long piece_bytes);
void plugrad_set_threads(int threads);
int plugrad_count_workers(void);
void plugrad_after_fork(void);

void *dlopen(char const *path, int flags);
void *dlsym(void *library, char const *name);
char *dlerror(void);
int dlclose(void *library);

uintptr_t mmap(uintptr_t at, size_t nbytes, int protection, int flags, int file, long offset);
int munmap(uintptr_t start, size_t nbytes);
int posix_memalign(void **out, size_t alignment, size_t nbytes);
int madvise(uintptr_t start, size_t nbytes, int advice);
void free(void *);
"""
HEADER = "# Made by tools/make_native.py.\n# ruff: noqa\n# fmt: off\n"
TARGET = Path(__file__).parents[1] / "src" / "plugrad_cpu_clang" / "_native.py"


def write(path: Path) -> None:
    """Write the module to `path`."""
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source("plugrad_cpu_clang._native", None)
    ffi.emit_python_code(str(path))
    path.write_text(HEADER + path.read_text())


if __name__ == "__main__":
    write(TARGET)
