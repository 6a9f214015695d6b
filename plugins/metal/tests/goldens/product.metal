#include <metal_stdlib>
using namespace metal;
#pragma STDC FP_CONTRACT OFF

static inline float2 mma8x8_float16(half2 a, half2 b, float2 c) {
  simdgroup_half8x8 ma, mb;
  simdgroup_float8x8 mc;
  ma.thread_elements()[0] = a.x;
  ma.thread_elements()[1] = a.y;
  mb.thread_elements()[0] = b.x;
  mb.thread_elements()[1] = b.y;
  mc.thread_elements()[0] = c.x;
  mc.thread_elements()[1] = c.y;
  simdgroup_multiply_accumulate(mc, ma, mb, mc);
  return float2(mc.thread_elements()[0], mc.thread_elements()[1]);
}

[[kernel, max_total_threads_per_threadgroup(32)]]
void k(device half *data0 [[buffer(0)]], device const half *data1 [[buffer(1)]], device const half *data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = item.x;
  int alu0 = (((((lidx0>>4)*32)+(((lidx0>>1)&3)*8))+((lidx0&1)*2))+(((lidx0>>3)&1)*4));
  half2 val0 = half2(*(device const packed_half2 *)(data1+alu0));
  half2 val1 = half2(*(device const packed_half2 *)(data2+alu0));
  float2 tile0 = mma8x8_float16(val0, val1, float2(0.0f));
  *(device packed_half2 *)(data0+alu0) = packed_half2(half2((half)((half)tile0.x), (half)((half)tile0.y)));
}
