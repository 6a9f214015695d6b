#pragma OPENCL FP_CONTRACT OFF

typedef float8 float8u __attribute__((aligned(4)));

static inline ushort8 half_of_float_x8(float8 x) {
  uint8 b = as_uint8(x), a = b & 0x7fffffffu;
  uint8 normal = ((a + 0xfffu + ((a >> (uint8)(13)) & 1u)) >> (uint8)(13)) - 0x1c000u;
  /* below 2**-14: adding 0.5 leaves the subnormal's bits, rounded, at the low end */
  uint8 tiny = as_uint8(as_float8(a) + 0.5f) - 0x3f000000u;
  uint8 large = a > (uint8)(0x7f800000) ? (uint8)(0x7e00) : (uint8)(0x7c00);
  uint8 y = a < (uint8)(0x38800000) ? tiny : a >= (uint8)(0x477ff000) ? large : normal;
  return convert_ushort8((y | ((b >> (uint8)(16)) & 0x8000u)));
}

typedef ushort8 ushort8u __attribute__((aligned(2)));

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k(__global ushort *restrict data0, __global const float *restrict data1, const long v_n_given, const uint shift0, const uint shift1) {
  data0 += shift0 / 2;
  data1 += shift1 / 4;
  const int v_n = v_n_given;
  for (int i0 = 0; i0 < v_n; i0++) {
    int alu0 = (i0*8);
    float8 val0 = *(const __global float8u *)(data1+alu0);
    *(__global ushort8u *)(data0+alu0) = half_of_float_x8(((val0 < (float8)(0.0f)) ? val0 : sqrt(val0)));
  }
}
