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

[[kernel, max_total_threads_per_threadgroup(128)]]
void k(device half *data0 [[buffer(0)]], device const half *data1 [[buffer(1)]], device const half *data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx2 = item.z;
  int alu0 = (lidx2*512);
  int gidx1 = group.y;
  int alu1 = (gidx1*1024);
  int gidx0 = group.x;
  int alu2 = (gidx0*16);
  int lidx1 = item.y;
  int alu3 = (lidx1*8);
  int lidx0 = item.x;
  int alu4 = ((lidx0>>4)*256);
  int alu5 = (((lidx0>>1)&3)*64);
  int alu6 = ((lidx0&1)*2);
  int alu7 = (((lidx0>>3)&1)*4);
  float2 acc0 = float2(0.0f);
  for (int r2_0 = 0; r2_0 < 8; r2_0++) {
    half2 val0 = half2(*(device const packed_half2 *)(data1+(((((((r2_0*8)+alu0)+alu1)+alu4)+alu5)+alu6)+alu7)));
    half2 val1 = half2(*(device const packed_half2 *)(data2+(((((((r2_0*512)+alu2)+alu3)+alu4)+alu5)+alu6)+alu7)));
    float2 tile0 = mma8x8_float16(val0, val1, acc0);
    acc0 = tile0;
  }
  *(device packed_half2 *)(data0+(((((((alu0+alu1)+alu2)+alu3)+alu4)+alu5)+alu6)+alu7)) = packed_half2(half2((half)((half)acc0.x), (half)((half)acc0.y)));
}
