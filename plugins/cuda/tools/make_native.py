"""Write `plugrad_cuda/_native.py`, the ABI module of cffi for the driver and NVRTC.

Made ahead because parsing C declarations costs 30 ms at each start. Run it after changing the declarations:

    python plugins/cuda/tools/make_native.py

Source: CUDA Driver API and NVRTC reference manuals, 12.x. The suffixes _v2 name the entry points that today's
headers map the plain names to.
"""

from pathlib import Path

from cffi import FFI

DECLARATIONS = """
int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, char const **name);
int cuGetErrorString(int error, char const **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *nbytes, int device);

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);

int cuMemAlloc_v2(unsigned long long *address, size_t nbytes);
int cuMemFree_v2(unsigned long long address);
typedef struct {
    int kind, handle_types, location_kind, location;
    void *security;
    unsigned char reserved[64];
} PoolProperties;
int cuMemPoolCreate(void **pool, PoolProperties const *properties);
int cuMemPoolDestroy(void *pool);
int cuMemPoolSetAttribute(void *pool, int attribute, void *value);
int cuMemPoolTrimTo(void *pool, size_t nbytes);
int cuMemAllocFromPoolAsync(unsigned long long *address, size_t nbytes, void *pool, void *stream);
int cuMemFreeAsync(unsigned long long address, void *stream);
typedef struct {
    int location_kind, location, flags;
} PoolAccess;
int cuMemPoolSetAccess(void *pool, PoolAccess const *access, size_t count);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuCtxEnablePeerAccess(void *peer, unsigned int flags);
int cuMemcpyPeerAsync(unsigned long long to, void *to_context, unsigned long long from, void *from_context,
    size_t nbytes, void *stream);
int cuMemAllocHost_v2(void **memory, size_t nbytes);
int cuMemFreeHost(void *memory);
int cuMemcpyHtoDAsync_v2(unsigned long long to, void const *from, size_t nbytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t nbytes, void *stream);

int cuStreamCreate(void **stream, unsigned int flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned int flags);
int cuEventCreate(void **event, unsigned int flags);
int cuEventDestroy_v2(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuEventElapsedTime(float *milliseconds, void *start, void *end);

int cuLinkCreate_v2(unsigned int count, int *options, void **values, void **link);
int cuLinkAddData_v2(void *link, int type, void *data, size_t nbytes, char const *name,
    unsigned int count, int *options, void **values);
int cuLinkComplete(void *link, void **image, size_t *nbytes);
int cuLinkDestroy(void *link);
int cuModuleLoadData(void **module, void const *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, char const *name);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
    unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_nbytes,
    void *stream, void **parameters, void **extra);

typedef struct {
    void *function;
    unsigned int grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_nbytes;
    void **parameters;
    void **extra;
    void *kernel;
    void *context;
} KernelNode;
int cuGraphCreate(void **graph, unsigned int flags);
int cuGraphDestroy(void *graph);
int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *after, size_t count,
    KernelNode const *what);
int cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags);
int cuGraphExecKernelNodeSetParams_v2(void *ready, void *node, KernelNode const *what);
int cuGraphExecDestroy(void *ready);
int cuGraphLaunch(void *ready, void *stream);

char const *plugrad_stand_in(void);

int nvrtcVersion(int *major, int *minor);
char const *nvrtcGetErrorString(int error);
int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetSupportedArchs(int *archs);
int nvrtcCreateProgram(void **program, char const *source, char const *name, int headers,
    char const *const *contents, char const *const *names);
int nvrtcDestroyProgram(void **program);
int nvrtcCompileProgram(void *program, int count, char const *const *options);
int nvrtcGetCUBINSize(void *program, size_t *nbytes);
int nvrtcGetCUBIN(void *program, char *out);
int nvrtcGetPTXSize(void *program, size_t *nbytes);
int nvrtcGetPTX(void *program, char *out);
int nvrtcGetProgramLogSize(void *program, size_t *nbytes);
int nvrtcGetProgramLog(void *program, char *out);
"""
HEADER = "# Made by tools/make_native.py.\n# ruff: noqa\n# fmt: off\n# pyright: basic\n"
TARGET = Path(__file__).parents[1] / "src" / "plugrad_cuda" / "_native.py"


def write(path: Path) -> None:
    """Write the module to `path`."""
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source("plugrad_cuda._native", None)
    ffi.emit_python_code(str(path))
    path.write_text(HEADER + path.read_text())


if __name__ == "__main__":
    write(TARGET)
