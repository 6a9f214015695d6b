static void kernel_body(float *restrict data0, const float *restrict data1, const float *restrict data2, const float *restrict data3, const float *restrict data4, long long thread) {
  float local0[2048] __attribute__((aligned(64)));
  for (int i1_0 = 0; i1_0 < 14; i1_0++) {
    for (int i2_0 = 0; i2_0 < 2; i2_0++) {
      int alu0 = (i2_0*(-16));
      int alu1 = atleast_i32(alu0, (-12));
      for (int i4 = 0; i4 < 64; i4++) {
        int alu2 = (i4*32);
        int alu3 = (((i1_0*224)+(i4*3136))+(alu1*(-2)));
        f32x16 val0 = *(const f32x16u *)(data1+alu3);
        f32x16 val1 = *(const f32x16u *)(data1+(alu3+15ll));
        *(f32x16u *)(local0+alu2) = f32x16_shuffled(val0, val1, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
        f32x16 val2 = *(const f32x16u *)(data1+(alu3+112ll));
        // the line above, 2 times in all
        *(f32x16u *)(local0+(alu2+16ll)) = f32x16_shuffled(val2, val3, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
      }
      for (int i0_0 = 0; i0_0 < 16; i0_0++) {
        f32x16 acc0 = f32x16_of(0.0f);
        // the line above, 16 times in all
        for (int r3_0 = 0; r3_0 < 8; r3_0++) {
          int alu4 = (r3_0*256);
          f32x16 val4 = *(const f32x16u *)(local0+alu4);
          HOLD(val4);
          int alu5 = ((i0_0*512)+(r3_0*8));
          float val5 = *(data2+alu5);
          f32x16 val6 = f32x16_of(val5);
          acc0 = fma_f32x16(val4, val6, acc0);
          float val7 = *(data2+(alu5+64ll));
          // the 3 lines above, 7 times in all
          f32x16 val20 = f32x16_of(val19);
          acc7 = fma_f32x16(val4, val20, acc7);
          f32x16 val21 = *(const f32x16u *)(local0+(alu4+16ll));
          HOLD(val21);
          acc8 = fma_f32x16(val21, val6, acc8);
          // the line above, 8 times in all
          f32x16 val22 = *(const f32x16u *)(local0+(alu4+32ll));
          HOLD(val22);
          float val23 = *(data2+(alu5+1ll));
          f32x16 val24 = f32x16_of(val23);
          acc0 = fma_f32x16(val22, val24, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val39 = *(const f32x16u *)(local0+(alu4+48ll));
          HOLD(val39);
          acc8 = fma_f32x16(val39, val24, acc8);
          // the line above, 8 times in all
          f32x16 val40 = *(const f32x16u *)(local0+(alu4+64ll));
          HOLD(val40);
          float val41 = *(data2+(alu5+2ll));
          f32x16 val42 = f32x16_of(val41);
          acc0 = fma_f32x16(val40, val42, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val57 = *(const f32x16u *)(local0+(alu4+80ll));
          HOLD(val57);
          acc8 = fma_f32x16(val57, val42, acc8);
          // the line above, 8 times in all
          f32x16 val58 = *(const f32x16u *)(local0+(alu4+96ll));
          HOLD(val58);
          float val59 = *(data2+(alu5+3ll));
          f32x16 val60 = f32x16_of(val59);
          acc0 = fma_f32x16(val58, val60, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val75 = *(const f32x16u *)(local0+(alu4+112ll));
          HOLD(val75);
          acc8 = fma_f32x16(val75, val60, acc8);
          // the line above, 8 times in all
          f32x16 val76 = *(const f32x16u *)(local0+(alu4+128ll));
          HOLD(val76);
          float val77 = *(data2+(alu5+4ll));
          f32x16 val78 = f32x16_of(val77);
          acc0 = fma_f32x16(val76, val78, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val93 = *(const f32x16u *)(local0+(alu4+144ll));
          HOLD(val93);
          acc8 = fma_f32x16(val93, val78, acc8);
          // the line above, 8 times in all
          f32x16 val94 = *(const f32x16u *)(local0+(alu4+160ll));
          HOLD(val94);
          float val95 = *(data2+(alu5+5ll));
          f32x16 val96 = f32x16_of(val95);
          acc0 = fma_f32x16(val94, val96, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val111 = *(const f32x16u *)(local0+(alu4+176ll));
          HOLD(val111);
          acc8 = fma_f32x16(val111, val96, acc8);
          // the line above, 8 times in all
          f32x16 val112 = *(const f32x16u *)(local0+(alu4+192ll));
          HOLD(val112);
          float val113 = *(data2+(alu5+6ll));
          f32x16 val114 = f32x16_of(val113);
          acc0 = fma_f32x16(val112, val114, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val129 = *(const f32x16u *)(local0+(alu4+208ll));
          HOLD(val129);
          acc8 = fma_f32x16(val129, val114, acc8);
          // the line above, 8 times in all
          f32x16 val130 = *(const f32x16u *)(local0+(alu4+224ll));
          HOLD(val130);
          float val131 = *(data2+(alu5+7ll));
          f32x16 val132 = f32x16_of(val131);
          acc0 = fma_f32x16(val130, val132, acc0);
          // the 3 lines above, 8 times in all
          f32x16 val147 = *(const f32x16u *)(local0+(alu4+240ll));
          HOLD(val147);
          acc8 = fma_f32x16(val147, val132, acc8);
          // the line above, 8 times in all
        }
        int alu6 = (((i0_0*6272)+(i1_0*56))+(alu1*(-1)));
        int alu7 = (i0_0*8);
        float val148 = *(data3+alu7);
        f32x16 val149 = f32x16_of(val148);
        // the 2 lines above, 2 times in all
        *(f32x16u *)(data0+alu6) = ((acc0*val149)+val151);
        int alu8 = (alu7+1);
        float val152 = *(data3+(alu7+1ll));
        f32x16 val153 = f32x16_of(val152);
        float val154 = *(data4+(alu7+1ll));
        f32x16 val155 = f32x16_of(val154);
        *(f32x16u *)(data0+(alu6+784ll)) = ((acc1*val153)+val155);
        // the 6 lines above, 7 times in all
        *(f32x16u *)(data0+(alu6+28ll)) = ((acc8*val149)+val151);
        // the line above, 8 times in all
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], thread);
}
