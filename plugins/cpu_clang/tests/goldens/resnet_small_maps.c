static void kernel_body(float *restrict data0, const float *restrict data1, long long thread) {
  for (int i0 = 0; i0 < 512; i0++) {
    for (int i1 = 0; i1 < 9; i1++) {
      int alu0 = ((i0*81)+(i1*9));
      *(data0+alu0) = 0.0f;
      int alu1 = ((i0*49)+(i1*7));
      _Bool alu2 = (((i1<1)^1)&(i1<8));
      f32x4 val0 = (alu2 ? (f32x4)*(const f32x4u *)(data1+(alu1-7ll)) : f32x4_of(0.0f));
      *(f32x4u *)(data0+(alu0+1ll)) = val0;
      // the 2 lines above, 2 times in all
      *(data0+(alu0+8ll)) = 0.0f;
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], thread);
}
static void kernel_body(float *restrict data0, const float *restrict data1, long long thread) {
  for (int i0 = 0; i0 < 512; i0++) {
    for (int i1 = 0; i1 < 3; i1++) {
      for (int i2 = 0; i2 < 3; i2++) {
        for (int i3 = 0; i3 < 7; i3++) {
          int alu0 = ((((i0*441)+(i1*147))+(i2*49))+(i3*7));
          int alu1 = ((((i0*81)+(i1*9))+i2)+(i3*9));
          f32x4 val0 = *(const f32x4u *)(data1+alu1);
          *(f32x4u *)(data0+alu0) = val0;
          f32x4 val1 = *(const f32x4u *)(data1+(alu1+3ll));
          *(f32x4u *)(data0+(alu0+3ll)) = val1;
        }
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], thread);
}
static void kernel_body(float *restrict data0, const float *restrict data1, const float *restrict data2, const float *restrict data3, const float *restrict data4, long long thread) {
  float local0[32768] __attribute__((aligned(64)));
  for (int i4 = 0; i4 < 64; i4++) {
    for (int i5 = 0; i5 < 2; i5++) {
      int alu0 = ((i4*512)+(i5*256));
      *(f32x16u *)(local0+alu0) = f32x16_of(0.0f);
      *(f32x16u *)(local0+(alu0+16ll)) = f32x16_of(0.0f);
      // the line above, 15 times in all
    }
  }
  for (int i3_0 = 0; i3_0 < 18; i3_0++) {
    for (int i8 = 0; i8 < 64; i8++) {
      for (int i9 = 0; i9 < 2; i9++) {
        int alu1 = (i9*(-32));
        f32x16 acc0 = f32x16_of(0.0f);
        // the line above, 16 times in all
        for (int r3_1 = 0; r3_1 < 256; r3_1++) {
          int alu2 = (((i3_0*12544)+(r3_1*49))+(atleast_i32(alu1, (-17))*(-1)));
          f32x16 val0 = *(const f32x16u *)(data1+alu2);
          HOLD(val0);
          int alu3 = (((i3_0*256)+r3_1)+(i8*36864));
          float val1 = *(data2+alu3);
          f32x16 val2 = f32x16_of(val1);
          acc0 = fma_f32x16(val0, val2, acc0);
          f32x16 val3 = *(const f32x16u *)(data1+(alu2+16ll));
          HOLD(val3);
          acc1 = fma_f32x16(val3, val2, acc1);
          float val4 = *(data2+(alu3+4608ll));
          f32x16 val5 = f32x16_of(val4);
          acc2 = fma_f32x16(val0, val5, acc2);
          // the 4 lines above, 7 times in all
          acc15 = fma_f32x16(val3, val17, acc15);
        }
        int alu4 = ((i8*512)+(i9*256));
        f32x16 val18 = *(const f32x16u *)(local0+alu4);
        *(f32x16u *)(local0+alu4) = (val18+acc0);
        f32x16 val19 = *(const f32x16u *)(local0+(alu4+16ll));
        *(f32x16u *)(local0+(alu4+16ll)) = (val19+acc1);
        // the 2 lines above, 15 times in all
      }
    }
  }
  for (int i0_0 = 0; i0_0 < 64; i0_0++) {
    int alu5 = (i0_0*8);
    float val34 = *(data3+alu5);
    f32x16 val35 = f32x16_of(val34);
    // the 2 lines above, 2 times in all
    int alu6 = (alu5+1);
    float val38 = *(data3+(alu5+1ll));
    f32x16 val39 = f32x16_of(val38);
    float val40 = *(data4+(alu5+1ll));
    f32x16 val41 = f32x16_of(val40);
    // the 5 lines above, 7 times in all
    for (int i1_0 = 0; i1_0 < 2; i1_0++) {
      int alu13 = (i1_0*(-32));
      int alu14 = ((i0_0*392)+(atleast_i32(alu13, (-17))*(-1)));
      int alu15 = ((i0_0*512)+(i1_0*256));
      f32x16 val66 = *(const f32x16u *)(local0+alu15);
      f32x16 alu16 = ((val66*val35)+val37);
      *(f32x16u *)(data0+alu14) = select_f32x16(((alu16 < f32x16_of(0.0f)) | (alu16 == f32x16_of(0.0f))), f32x16_of(0.0f), alu16);
      f32x16 val67 = *(const f32x16u *)(local0+(alu15+16ll));
      f32x16 alu17 = ((val67*val35)+val37);
      *(f32x16u *)(data0+(alu14+16ll)) = select_f32x16(((alu17 < f32x16_of(0.0f)) | (alu17 == f32x16_of(0.0f))), f32x16_of(0.0f), alu17);
      // the 3 lines above, 15 times in all
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], thread);
}
