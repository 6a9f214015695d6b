// What instructions of PTX mean on a CPU: included by each kernel that ptx.py translated, behind its shared memory.
//
// Source: PTX ISA, section "Instruction Set".
#pragma once

static inline float ptx_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double ptx_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float ptx_sqrt(float x) { return __builtin_sqrtf(x); }
static inline double ptx_sqrt(double x) { return __builtin_sqrt(x); }
static inline float ptx_trunc(float x) { return __builtin_truncf(x); }
static inline double ptx_trunc(double x) { return __builtin_trunc(x); }

static inline float ptx_max_nan(float a, float b) {
  if (a != a || b != b) return __uint_as_float(0x7fffffffu);
  if (a == b) return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));  // +0 is more than -0
  return a > b ? a : b;
}

// PTX leaves open what a division by zero gives: here it is a fault.
template <typename T> static inline T ptx_div(T x, T y) {
  volatile T from = x, by = y;
  return from / by;
}
template <typename T> static inline T ptx_rem(T x, T y) {
  volatile T from = x, by = y;
  return from % by;
}

// Integers of floats: beyond the range its ends, and 0 for NaN.
template <typename To, typename From> static inline To ptx_saturated(From x) {
  const bool is_signed = (To)-1 < (To)0;
  const int bits = (int)sizeof(To) * 8 - (is_signed ? 1 : 0);
  const To most = (To)(((unsigned long long)1 << (bits - 1)) - 1 + ((unsigned long long)1 << (bits - 1)));
  const To least = is_signed ? (To)(-most - 1) : (To)0;
  const From limit = (From)2 * (From)((unsigned long long)1 << (bits - 1));
  if (x != x) return 0;
  if (x >= limit) return most;
  if (x <= (is_signed ? -limit : (From)0)) return least;
  return (To)x;
}

static inline unsigned short ptx_bfloat(float x) {
  unsigned int b = __float_as_uint(x);
  return (unsigned short)(x != x ? 0x7fffu : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}

// Shifts take any distance.
template <typename T> static inline T ptx_shl(T x, unsigned int distance) {
  return distance < sizeof(T) * 8 ? (T)(x << distance) : (T)0;
}
template <typename T> static inline T ptx_shr(T x, unsigned int distance) {
  return distance < sizeof(T) * 8 ? (T)(x >> distance) : (T)(x < 0 ? -1 : 0);
}

static inline unsigned int ptx_bfe(unsigned int x, unsigned int at, unsigned int count) {
  return x >> at & (count < 32 ? (1u << count) - 1u : ~0u);
}
static inline int ptx_bfe(int x, unsigned int at, unsigned int count) {
  return (int)((unsigned int)x << (32 - at - count)) >> (32 - count);
}
static inline unsigned int ptx_bfi(unsigned int value, unsigned int into, unsigned int at, unsigned int count) {
  unsigned int mask = ptx_bfe(~0u, 0, count) << at;
  return (into & ~mask) | (value << at & mask);
}

// Addresses that no memory has, which the compiler must not know: the driver tells faults apart by them.
static const volatile unsigned long long ptx_nowhere = 0, ptx_noncanonical = 0x8000000000000000ull;
static inline void ptx_fault(unsigned long long address) { *(volatile char *)address = 0; }

template <typename T, int N> static inline T *ptx_global(unsigned long long address) {
  if (address % (sizeof(T) * N)) ptx_fault(ptx_noncanonical);
  return (T *)address;
}
template <typename T, int N> static inline T *ptx_shared(unsigned int address) {
  if (address % (sizeof(T) * N)) ptx_fault(ptx_noncanonical);
  if (address > ptx_window_bytes || ptx_window_bytes - address < sizeof(T) * N) {
    ptx_fault(ptx_nowhere);
  }
  return (T *)(ptx_window + address);
}
