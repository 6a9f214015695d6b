#include <metal_stdlib>
using namespace metal;
#pragma STDC FP_CONTRACT OFF

[[kernel, max_total_threads_per_threadgroup(16)]]
void k(device float *data0 [[buffer(0)]], device const float *data1 [[buffer(1)]], uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = group.x;
  int lidx0 = item.x;
  int alu0 = ((gidx0*64)+(lidx0*4));
  float4 val0 = float4(*(device const packed_float4 *)(data1+alu0));
  *(device packed_float4 *)(data0+alu0) = packed_float4(float4(((val0.x*2.0f)+1.0f), ((val0.y*2.0f)+1.0f), ((val0.z*2.0f)+1.0f), ((val0.w*2.0f)+1.0f)));
}
