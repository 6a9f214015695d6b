/* What the machine can do at most: fused multiply-adds in registers, and moving memory. */

typedef float vec __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES = VECTOR_BYTES / 4 };

/* 12 chains of multiply-adds: enough to hide their latency. Returns their sum, so that they are not left out. */
float multiply_add(long long count) {
  vec a = {0}, b = {0}, c[12];
  for (int l = 0; l < LANES; l++) a[l] = 1.0f, b[l] = 1e-9f;
  for (int i = 0; i < 12; i++) c[i] = a * (float)i;
  __asm__ volatile("" : "+m"(a), "+m"(b));
  vec x = a, y = b;
  for (long long n = 0; n < count; n++)
    for (int i = 0; i < 12; i++) c[i] = c[i] * x + y;
  float sum = 0;
  for (int i = 0; i < 12; i++)
    for (int l = 0; l < LANES; l++) sum += c[i][l];
  return sum;
}

void copy(float *to, const float *from, long long count) {
  for (long long i = 0; i < count; i += LANES) {
    *(vec *)(to + i) = *(const vec *)(from + i);
    __asm__ volatile("" ::: "memory"); /* or it becomes a call of memcpy */
  }
}

/* Past the caches: without reading first the lines that are written. */
#if defined(__clang__)
#define STREAM(p, v) __builtin_nontemporal_store(v, (vec *)(p))
#elif defined(__AVX512F__) && VECTOR_BYTES == 64
#define STREAM(p, v) __builtin_ia32_movntps512(p, v)
#elif defined(__AVX__) && VECTOR_BYTES == 32
#define STREAM(p, v) __builtin_ia32_movntps256(p, v)
#elif defined(__SSE__) && VECTOR_BYTES == 16
#define STREAM(p, v) __builtin_ia32_movntps(p, v)
#else
#define STREAM(p, v) (*(vec *)(p) = (v))
#endif

void copy_past_caches(float *to, const float *from, long long count) {
  for (long long i = 0; i < count; i += LANES) STREAM(to + i, *(const vec *)(from + i));
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}

float read_all(const float *from, long long count) {
  vec sums[8] = {{0}};
  for (long long i = 0; i < count; i += 8 * LANES)
    for (int k = 0; k < 8; k++) sums[k] += *(const vec *)(from + i + k * LANES);
  float sum = 0;
  for (int k = 0; k < 8; k++)
    for (int l = 0; l < LANES; l++) sum += sums[k][l];
  return sum;
}
