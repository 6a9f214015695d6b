// What the threads of a warp do together on a CPU: shuffles, and products of matrices.
//
// A thread gives what others need of it, waits for them in the stand-in for the driver, and computes its own part of
// the result. Included by shim.h.
//
// Source: PTX ISA, sections "shfl.sync" and "Matrix Multiply-Accumulate Operation Using mma Instruction".
#pragma once

static const int plugrad_slot = 32;  // bytes that a thread may give
typedef const unsigned char plugrad_slots[32][plugrad_slot];

// Gives bytes to the threads in `members`, of which all must come (those that ended need not, unless it is `whole`);
// returns what each of the warp gave, for the time until this thread gives again.
static plugrad_slots *(*plugrad_meet)(const char *what, unsigned members, int whole, const void *mine, int nbytes);

static inline unsigned int plugrad_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

template <typename T> static inline T plugrad_given(plugrad_slots &slots, unsigned int lane) {
  T out;
  __builtin_memcpy(&out, slots[lane], sizeof(out));
  return out;
}

// --- shuffles ---

enum plugrad_mode { plugrad_up, plugrad_down, plugrad_bfly, plugrad_idx };

// `clamp` holds the last lane in its lowest bits, and above bit 8 those bits of the lane that say its part of the warp.
template <plugrad_mode mode, typename T>
static inline T plugrad_shuffle(unsigned int members, T value, unsigned int by, unsigned int clamp, bool *is_inside) {
  static_assert(sizeof(T) <= plugrad_slot, "a thread gives a few bytes");
  static const char *const names[] = {"shfl.sync.up", "shfl.sync.down", "shfl.sync.bfly", "shfl.sync.idx"};
  plugrad_slots &slots = *plugrad_meet(names[mode], members, 0, &value, sizeof(value));
  unsigned int lane = plugrad_lane(), part = clamp >> 8 & 31u, last = clamp & 31u;
  by &= 31u;
  unsigned int least = lane & part, most = least | (last & ~part), from = least | (by & ~part);
  if (mode == plugrad_up) from = lane - by;
  if (mode == plugrad_down) from = lane + by;
  if (mode == plugrad_bfly) from = lane ^ by;
  bool inside = mode == plugrad_up ? (int)from >= (int)most : from <= most;
  if (is_inside) *is_inside = inside;
  return plugrad_given<T>(slots, inside ? from : lane);
}

template <typename T> static inline T __shfl_sync(unsigned int members, T value, int from, int width = 32) {
  return plugrad_shuffle<plugrad_idx>(members, value, (unsigned)from, (unsigned)(32 - width) << 8 | 31u, nullptr);
}
template <typename T> static inline T __shfl_up_sync(unsigned int members, T value, unsigned int by, int width = 32) {
  return plugrad_shuffle<plugrad_up>(members, value, by, (unsigned)(32 - width) << 8, nullptr);
}
template <typename T> static inline T __shfl_down_sync(unsigned int members, T value, unsigned int by, int width = 32) {
  return plugrad_shuffle<plugrad_down>(members, value, by, (unsigned)(32 - width) << 8 | 31u, nullptr);
}
template <typename T> static inline T __shfl_xor_sync(unsigned int members, T value, int by, int width = 32) {
  return plugrad_shuffle<plugrad_bfly>(members, value, (unsigned)by, (unsigned)(32 - width) << 8 | 31u, nullptr);
}

// --- products of matrices ---

// Elements of A and B, by their name in the instruction: what its threads wait at, their bits, and their value.
struct plugrad_f16 {
  static constexpr const char *name = "mma.sync of f16";
  static const int bits = 16;
  static float value(unsigned int x) { return __nv_half2float((unsigned short)x); }
};
struct plugrad_bf16 {
  static constexpr const char *name = "mma.sync of bf16";
  static const int bits = 16;
  static float value(unsigned int x) { return __uint_as_float(x << 16); }
};
struct plugrad_tf32 {
  static constexpr const char *name = "mma.sync of tf32";
  static const int bits = 32;
  static float value(unsigned int x) { return __uint_as_float(x & ~0x1fffu); }  // the rest is not looked at
};
struct plugrad_s8 {
  static constexpr const char *name = "mma.sync of s8";
  static const int bits = 8;
  static int value(unsigned int x) { return (signed char)x; }
};
struct plugrad_u8 {
  static constexpr const char *name = "mma.sync of u8";
  static const int bits = 8;
  static int value(unsigned int x) { return (int)x; }
};
struct plugrad_e5m2 {
  static constexpr const char *name = "mma.sync of e5m2";
  static const int bits = 8;
  static float value(unsigned int x) { return __nv_half2float((unsigned short)(x << 8)); }
};
// Source: Open Compute Project, "OCP 8-bit Floating Point Specification (OFP8)", section 5
struct plugrad_e4m3 {
  static constexpr const char *name = "mma.sync of e4m3";
  static const int bits = 8;
  static float value(unsigned int x) {
    unsigned int exponent = x >> 3 & 15u, fraction = x & 7u;
    if ((x & 0x7fu) == 0x7fu) return __uint_as_float(0x7fffffffu);
    float digits = (float)(exponent ? fraction | 8u : fraction);
    float scale = __uint_as_float((127u - 10u + (exponent ? exponent : 1u)) << 23);
    return x & 0x80u ? -digits * scale : digits * scale;
  }
};

// The oldest architecture (a tenth of __CUDA_ARCH__) that multiplies tiles of M x 8 x K of an element; 0: none does.
template <typename Element, int M, int K> struct plugrad_since { static const int arch = 0; };
template <> struct plugrad_since<plugrad_f16, 16, 8> { static const int arch = 75; };
template <> struct plugrad_since<plugrad_f16, 16, 16> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_bf16, 16, 8> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_bf16, 16, 16> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_tf32, 16, 8> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_s8, 8, 16> { static const int arch = 75; };
template <> struct plugrad_since<plugrad_s8, 16, 16> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_s8, 16, 32> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_u8, 8, 16> { static const int arch = 75; };
template <> struct plugrad_since<plugrad_u8, 16, 16> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_u8, 16, 32> { static const int arch = 80; };
template <> struct plugrad_since<plugrad_e4m3, 16, 32> { static const int arch = 89; };
template <> struct plugrad_since<plugrad_e5m2, 16, 32> { static const int arch = 89; };

static inline float plugrad_added(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline unsigned int plugrad_added(int a, int b, unsigned int c) { return (unsigned)(a * b) + c; }  // wraps

// d = a @ b + c of one tile; in registers, as the instruction takes them.
template <typename Element, int M, int K, typename D, int OfD, int OfA, int OfB>
static inline void plugrad_mma(D (&d)[OfD], const unsigned int (&a)[OfA], const unsigned int (&b)[OfB],
                               const D (&c)[OfD]) {
  const int in_word = 32 / Element::bits, along = 4 * in_word;  // of k: in a register, and in four of as many threads
  static_assert(plugrad_since<Element, M, K>::arch, "there is no such instruction");
  static_assert(plugrad_since<Element, M, K>::arch * 10 <= __CUDA_ARCH__, "this GPU has no such instruction");
  static_assert(OfA == M / 8 * (K / along) && OfB == K / along && OfD == M / 4, "the instruction has other registers");
  struct Given {
    unsigned int a[OfA], b[OfB];
  } mine;
  __builtin_memcpy(mine.a, a, sizeof(a));
  __builtin_memcpy(mine.b, b, sizeof(b));
  static_assert(sizeof(mine) <= plugrad_slot, "a thread gives a few bytes");
  plugrad_slots &slots = *plugrad_meet(Element::name, ~0u, 1, &mine, sizeof(mine));
  const unsigned int lane = plugrad_lane();
  for (int i = 0; i < OfD; i++) {
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    D sum = c[i];
    for (int k = 0; k < K; k++) {
      const int four = k / in_word % 4, further = k / along, shift = k % in_word * Element::bits % 32;
      const unsigned int mask = Element::bits == 32 ? ~0u : (1u << Element::bits % 32) - 1u;
      Given of_row = plugrad_given<Given>(slots, row % 8 * 4 + four);
      Given of_column = plugrad_given<Given>(slots, column * 4 + four);
      sum = plugrad_added(Element::value(of_row.a[row / 8 + M / 8 * further] >> shift & mask),
                          Element::value(of_column.b[further] >> shift & mask), sum);
    }
    d[i] = sum;
  }
}

// ldmatrix: rows of 16 bytes whose addresses the threads give, eight for a matrix.
template <bool is_transposed, int N> static inline void plugrad_load_matrix(unsigned int (&d)[N], const void *row) {
  static_assert(750 <= __CUDA_ARCH__, "this GPU has no ldmatrix");
  plugrad_slots &slots = *plugrad_meet("ldmatrix", ~0u, 1, &row, sizeof(row));
  const unsigned int lane = plugrad_lane();
  for (unsigned int i = 0; i < N; i++) {
    unsigned short pair[2];
    for (unsigned int k = 0; k < 2; k++) {
      const unsigned int across = lane % 4 * 2 + k, along = lane / 4;
      const unsigned int from = is_transposed ? across : along, place = is_transposed ? along : across;
      const unsigned short *start = plugrad_given<const unsigned short *>(slots, i * 8 + from);
      if ((unsigned long long)start % 16) __builtin_trap();
      pair[k] = start[place];
    }
    d[i] = pair[0] | (unsigned int)pair[1] << 16;
  }
}

// neg.s32, which wraps
static inline void plugrad_negated(unsigned int (&to)[1], const unsigned int (&from)[1]) { to[0] = 0u - from[0]; }

// cvt.rna.tf32.f32: to nearest, ties away from zero
template <int arch = __CUDA_ARCH__> static inline void plugrad_tf32_of(unsigned int (&to)[1], const float (&from)[1]) {
  static_assert(arch >= 800, "this GPU has no tf32");
  to[0] = from[0] != from[0] ? 0x7fffffffu : (__float_as_uint(from[0]) + 0x1000u) & ~0x1fffu;
}

// Operands of asm statements, which are not converted on their way into a register.
template <typename Register, typename T> static inline Register plugrad_in_register(T value) {
  static_assert(sizeof(T) == sizeof(Register) && ((T)0.5f != 0) == ((Register)0.5f != 0), "the register is another");
  return (Register)value;
}
