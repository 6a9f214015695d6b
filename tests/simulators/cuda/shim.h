// What CUDA C means on a CPU: included before each kernel by the stand-in for NVRTC.
//
// A kernel becomes a C++ function that is called once for each thread. Shared memory is thread-local memory of the
// host thread that runs the block; a barrier is a call into the stand-in for the driver, which runs the threads of
// a block as fibers. No header is included: compiling the C++ library would take longer than compiling kernels.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ thread_local
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __CUDA_ARCH__ PLUGRAD_ARCH

struct uint3 { unsigned int x, y, z; };
typedef uint3 dim3;

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static void (*plugrad_barrier)(void);

static inline void __syncthreads() { plugrad_barrier(); }

// --- functions that NVRTC has built in ---

#define PLUGRAD_MATH(name) \
  static inline double name(double x) { return __builtin_##name(x); } \
  static inline float name##f(float x) { return __builtin_##name##f(x); }
PLUGRAD_MATH(sqrt)
PLUGRAD_MATH(trunc)
PLUGRAD_MATH(exp2)
PLUGRAD_MATH(log2)
PLUGRAD_MATH(sin)
static inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <typename To, typename From> static inline To plugrad_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "reinterpreted bits have one size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
static inline int __float_as_int(float x) { return plugrad_bits<int>(x); }
static inline unsigned int __float_as_uint(float x) { return plugrad_bits<unsigned int>(x); }
static inline float __int_as_float(int x) { return plugrad_bits<float>(x); }
static inline float __uint_as_float(unsigned int x) { return plugrad_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return plugrad_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return plugrad_bits<double>(x); }

// Source: IEEE 754-2008, section 3.4 (binary16)
extern "C" inline __attribute__((visibility("hidden"))) float __nv_half2float(unsigned short x) {
  unsigned int sign = (unsigned int)(x & 0x8000u) << 16, low = x & 0x7fffu;
  if (low < 0x400u) return __uint_as_float(sign | __float_as_uint((float)low * 0x1p-24f));
  return __uint_as_float(sign | ((low << 13) + (low >= 0x7c00u ? 0x70000000u : 0x38000000u)));
}
extern "C" inline __attribute__((visibility("hidden"))) unsigned short __nv_float2half_rn(float x) {
  unsigned int bits = __float_as_uint(x), a = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  if (a > 0x7f800000u) return (unsigned short)0x7fffu;  // the one NaN that the instruction gives
  if (a >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (a < 0x38800000u) return (unsigned short)(sign | (__float_as_uint(__uint_as_float(a) + 0.5f) - 0x3f000000u));
  return (unsigned short)(sign | (((a + 0xfffu + (a >> 13 & 1u)) >> 13) - 0x1c000u));
}

// Source: CUDA C++ Programming Guide, section "Atomic Functions"
#define PLUGRAD_ATOMIC_INTEGER(type)                                                                              \
  static inline type atomicAdd(type *p, type x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }            \
  static inline type atomicMax(type *p, type x) {                                                                 \
    type found = __atomic_load_n(p, __ATOMIC_RELAXED);                                                            \
    while (found < x && !__atomic_compare_exchange_n(p, &found, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {} \
    return found;                                                                                                 \
  }
PLUGRAD_ATOMIC_INTEGER(int)
PLUGRAD_ATOMIC_INTEGER(unsigned int)
PLUGRAD_ATOMIC_INTEGER(unsigned long long)
static inline long long atomicMax(long long *p, long long x) {
  long long found = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (found < x && !__atomic_compare_exchange_n(p, &found, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  return found;
}
template <typename T> static inline T plugrad_atomic_add(T *p, T x) {
  T found, sum;
  __atomic_load(p, &found, __ATOMIC_RELAXED);
  do sum = found + x;
  while (!__atomic_compare_exchange(p, &found, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return found;
}
static inline float atomicAdd(float *p, float x) { return plugrad_atomic_add(p, x); }
static inline double atomicAdd(double *p, double x) { return plugrad_atomic_add(p, x); }

// Memory of the block is thread-local memory, which has addresses of 32 bits beside an element of it.
static thread_local __align__(16) unsigned char plugrad_beside_shared[16];
static inline unsigned long long __cvta_generic_to_shared(const void *p) {
  return (unsigned int)((const unsigned char *)p - plugrad_beside_shared);
}
static inline void *plugrad_shared(unsigned int address) { return plugrad_beside_shared + (int)address; }

#include "warp.h"
#include "copies.h"

// --- how the stand-in for the driver calls a kernel ---

struct plugrad_kernel {
  int parameters;
  const int *sizes;        // of each parameter, in bytes
  const char *is_pointer;  // whether each is an address
  void (*invoke)(void **);
  int bounds;   // threads in a block, at most
  int barriers; // whether its threads wait for each other
  uint3 *thread, *block, *block_dim, *grid_dim;
  void (**barrier)(void);
  plugrad_slots *(**meet)(const char *, unsigned int, int, const void *, int);
};

template <int... I> struct plugrad_numbers {};
template <int N, int... I> struct plugrad_count : plugrad_count<N - 1, N - 1, I...> {};
template <int... I> struct plugrad_count<0, I...> { typedef plugrad_numbers<I...> type; };
template <typename T> struct plugrad_is_pointer { static const char value = 0; };
template <typename T> struct plugrad_is_pointer<T *> { static const char value = 1; };
template <typename T> struct plugrad_is_pointer<T *__restrict__> { static const char value = 1; };

template <auto F> struct plugrad_call;
template <typename... A, void (*F)(A...)> struct plugrad_call<F> {
  static const int parameters = sizeof...(A);
  static constexpr int sizes[sizeof...(A) + 1] = {(int)sizeof(A)..., 0};
  static constexpr char is_pointer[sizeof...(A) + 1] = {plugrad_is_pointer<A>::value..., 0};
  template <int... I> static void unpack(void **arguments, plugrad_numbers<I...>) { F(*(A *)arguments[I]...); }
  static void invoke(void **arguments) { unpack(arguments, typename plugrad_count<sizeof...(A)>::type()); }
};

#define PLUGRAD_KERNEL(name, bounds, barriers)                                                             \
  extern "C" __attribute__((visibility("default"))) const plugrad_kernel plugrad_kernel_##name = {         \
      plugrad_call<&name>::parameters, plugrad_call<&name>::sizes, plugrad_call<&name>::is_pointer,        \
      plugrad_call<&name>::invoke, bounds, barriers, &threadIdx, &blockIdx, &blockDim, &gridDim, &plugrad_barrier,  \
      &plugrad_meet};
