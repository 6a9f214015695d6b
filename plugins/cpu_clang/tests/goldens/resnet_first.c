static void kernel_body(float *restrict data0, const float *restrict data1, long long thread) {
  for (int i0 = 0; i0 < 3; i0++) {
    for (int i1 = 0; i1 < 230; i1++) {
      int alu0 = ((i0*52900)+(i1*230));
      for (int i2_0_0 = 0; i2_0_0 < 3; i2_0_0++) {
        *(data0+(alu0+i2_0_0)) = 0.0f;
      }
      _Bool alu1 = (((i1<3)^1)&(i1<227));
      for (int i2_0_1_0 = 0; i2_0_1_0 < 7; i2_0_1_0++) {
        int alu2 = (i2_0_1_0*32);
        int alu3 = (alu0+alu2);
        int alu4 = (((i0*50176)+(i1*224))+alu2);
        f32x16 val0 = (alu1 ? (f32x16)*(const f32x16u *)(data1+(alu4-672ll)) : f32x16_of(0.0f));
        *(f32x16u *)(data0+(alu3+3ll)) = val0;
        // the 2 lines above, 2 times in all
      }
      for (int i2_1 = 0; i2_1 < 3; i2_1++) {
        *(data0+((alu0+i2_1)+227ll)) = 0.0f;
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], thread);
}
static void kernel_body(float *restrict data0, const float *restrict data1, const float *restrict data2, const float *restrict data3, const float *restrict data4, long long thread) {
  float local0[9408] __attribute__((aligned(64)));
  for (int i6 = 0; i6 < 8; i6++) {
    int alu0 = (i6*1176);
    for (int i7 = 0; i7 < 3; i7++) {
      for (int i8 = 0; i8 < 7; i8++) {
        for (int i9 = 0; i9 < 7; i9++) {
          int alu1 = (((alu0+(i7*49))+(i8*7))+i9);
          float val0 = *(data2+alu1);
          float val1 = *(data2+(alu1+147ll));
          // the line above, 7 times in all
          *(f32x8u *)(local0+(((alu0+(i7*392))+(i8*56))+(i9*8))) = (f32x8){val0, val1, val2, val3, val4, val5, val6, val7};
        }
      }
    }
  }
  for (int i1 = 0; i1 < 112; i1++) {
    for (int i2_0 = 0; i2_0 < 4; i2_0++) {
      int alu2 = (i2_0*(-32));
      int alu3 = atleast_i32(alu2, (-80));
      for (int i0_0 = 0; i0_0 < 8; i0_0++) {
        f32x16 acc0 = f32x16_of(0.0f);
        // the line above, 16 times in all
        for (int r3 = 0; r3 < 3; r3++) {
          for (int r4 = 0; r4 < 7; r4++) {
            int alu4 = ((((i1*460)+(r3*52900))+(r4*230))+(alu3*(-2)));
            __builtin_prefetch((data1+alu4)+460, 0, 2);
            f32x16 val8 = *(const f32x16u *)(data1+alu4);
            f32x16 val9 = *(const f32x16u *)(data1+(alu4+15ll));
            f32x16 val10 = f32x16_shuffled(val8, val9, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            int alu5 = (((i0_0*1176)+(r3*392))+(r4*56));
            float val11 = *(local0+alu5);
            f32x16 val12 = f32x16_of(val11);
            acc0 = fma_f32x16(val10, val12, acc0);
            __builtin_prefetch((data1+(alu4+32ll))+460, 0, 2);
            f32x16 val13 = *(const f32x16u *)(data1+(alu4+32ll));
            // the line above, 2 times in all
            f32x16 val15 = f32x16_shuffled(val13, val14, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val15, val12, acc1);
            float val16 = *(local0+(alu5+1ll));
            f32x16 val17 = f32x16_of(val16);
            acc2 = fma_f32x16(val10, val17, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val15, val29, acc15);
            f32x16 val30 = *(const f32x16u *)(data1+(alu4+1ll));
            __builtin_prefetch((data1+(alu4+16ll))+460, 0, 2);
            f32x16 val31 = *(const f32x16u *)(data1+(alu4+16ll));
            f32x16 val32 = f32x16_shuffled(val30, val31, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            float val33 = *(local0+(alu5+8ll));
            f32x16 val34 = f32x16_of(val33);
            acc0 = fma_f32x16(val32, val34, acc0);
            f32x16 val35 = *(const f32x16u *)(data1+(alu4+33ll));
            __builtin_prefetch((data1+(alu4+48ll))+460, 0, 2);
            f32x16 val36 = *(const f32x16u *)(data1+(alu4+48ll));
            f32x16 val37 = f32x16_shuffled(val35, val36, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val37, val34, acc1);
            float val38 = *(local0+(alu5+9ll));
            f32x16 val39 = f32x16_of(val38);
            acc2 = fma_f32x16(val32, val39, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val37, val51, acc15);
            f32x16 val52 = *(const f32x16u *)(data1+(alu4+2ll));
            // the line above, 2 times in all
            f32x16 val54 = f32x16_shuffled(val52, val53, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            float val55 = *(local0+(alu5+16ll));
            f32x16 val56 = f32x16_of(val55);
            acc0 = fma_f32x16(val54, val56, acc0);
            f32x16 val57 = *(const f32x16u *)(data1+(alu4+34ll));
            // the line above, 2 times in all
            f32x16 val59 = f32x16_shuffled(val57, val58, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val59, val56, acc1);
            float val60 = *(local0+(alu5+17ll));
            f32x16 val61 = f32x16_of(val60);
            acc2 = fma_f32x16(val54, val61, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val59, val73, acc15);
            f32x16 val74 = *(const f32x16u *)(data1+(alu4+3ll));
            // the line above, 2 times in all
            f32x16 val76 = f32x16_shuffled(val74, val75, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            float val77 = *(local0+(alu5+24ll));
            f32x16 val78 = f32x16_of(val77);
            acc0 = fma_f32x16(val76, val78, acc0);
            f32x16 val79 = *(const f32x16u *)(data1+(alu4+35ll));
            // the line above, 2 times in all
            f32x16 val81 = f32x16_shuffled(val79, val80, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val81, val78, acc1);
            float val82 = *(local0+(alu5+25ll));
            f32x16 val83 = f32x16_of(val82);
            acc2 = fma_f32x16(val76, val83, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val81, val95, acc15);
            f32x16 val96 = *(const f32x16u *)(data1+(alu4+4ll));
            // the line above, 2 times in all
            f32x16 val98 = f32x16_shuffled(val96, val97, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            float val99 = *(local0+(alu5+32ll));
            f32x16 val100 = f32x16_of(val99);
            acc0 = fma_f32x16(val98, val100, acc0);
            f32x16 val101 = *(const f32x16u *)(data1+(alu4+36ll));
            // the line above, 2 times in all
            f32x16 val103 = f32x16_shuffled(val101, val102, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val103, val100, acc1);
            float val104 = *(local0+(alu5+33ll));
            f32x16 val105 = f32x16_of(val104);
            acc2 = fma_f32x16(val98, val105, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val103, val117, acc15);
            f32x16 val118 = *(const f32x16u *)(data1+(alu4+5ll));
            // the line above, 2 times in all
            f32x16 val120 = f32x16_shuffled(val118, val119, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            float val121 = *(local0+(alu5+40ll));
            f32x16 val122 = f32x16_of(val121);
            acc0 = fma_f32x16(val120, val122, acc0);
            f32x16 val123 = *(const f32x16u *)(data1+(alu4+37ll));
            // the line above, 2 times in all
            f32x16 val125 = f32x16_shuffled(val123, val124, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val125, val122, acc1);
            float val126 = *(local0+(alu5+41ll));
            f32x16 val127 = f32x16_of(val126);
            acc2 = fma_f32x16(val120, val127, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val125, val139, acc15);
            f32x16 val140 = *(const f32x16u *)(data1+(alu4+6ll));
            // the line above, 2 times in all
            f32x16 val142 = f32x16_shuffled(val140, val141, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            float val143 = *(local0+(alu5+48ll));
            f32x16 val144 = f32x16_of(val143);
            acc0 = fma_f32x16(val142, val144, acc0);
            f32x16 val145 = *(const f32x16u *)(data1+(alu4+38ll));
            // the line above, 2 times in all
            f32x16 val147 = f32x16_shuffled(val145, val146, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
            acc1 = fma_f32x16(val147, val144, acc1);
            float val148 = *(local0+(alu5+49ll));
            f32x16 val149 = f32x16_of(val148);
            acc2 = fma_f32x16(val142, val149, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val147, val161, acc15);
          }
        }
        int alu6 = (((i0_0*100352)+(i1*112))+(alu3*(-1)));
        int alu7 = (i0_0*8);
        float val162 = *(data3+alu7);
        f32x16 val163 = f32x16_of(val162);
        // the 2 lines above, 2 times in all
        f32x16 alu8 = ((acc0*val163)+val165);
        *(f32x16u *)(data0+alu6) = select_f32x16(((alu8 < f32x16_of(0.0f)) | (alu8 == f32x16_of(0.0f))), f32x16_of(0.0f), alu8);
        f32x16 alu9 = ((acc1*val163)+val165);
        *(f32x16u *)(data0+(alu6+16ll)) = select_f32x16(((alu9 < f32x16_of(0.0f)) | (alu9 == f32x16_of(0.0f))), f32x16_of(0.0f), alu9);
        int alu10 = (alu7+1);
        float val166 = *(data3+(alu7+1ll));
        f32x16 val167 = f32x16_of(val166);
        float val168 = *(data4+(alu7+1ll));
        f32x16 val169 = f32x16_of(val168);
        f32x16 alu11 = ((acc2*val167)+val169);
        *(f32x16u *)(data0+(alu6+12544ll)) = select_f32x16(((alu11 < f32x16_of(0.0f)) | (alu11 == f32x16_of(0.0f))), f32x16_of(0.0f), alu11);
        // the 9 lines above, 7 times in all
        f32x16 alu30 = ((acc15*val191)+val193);
        *(f32x16u *)(data0+(alu6+87824ll)) = select_f32x16(((alu30 < f32x16_of(0.0f)) | (alu30 == f32x16_of(0.0f))), f32x16_of(0.0f), alu30);
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], thread);
}
