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
            f32x16 val10 = (f32x16){val8[0], val8[2], val8[4], val8[6], val8[8], val8[10], val8[12], val8[14], val9[1], val9[3], val9[5], val9[7], val9[9], val9[11], val9[13], val9[15]};
            int alu5 = (((i0_0*1176)+(r3*392))+(r4*56));
            float val11 = *(local0+alu5);
            f32x16 val12 = f32x16_of(val11);
            acc0 = fma_f32x16(val10, val12, acc0);
            __builtin_prefetch((data1+(alu4+32ll))+460, 0, 2);
            f32x16 val13 = *(const f32x16u *)(data1+(alu4+32ll));
            // the line above, 2 times in all
            f32x16 val15 = (f32x16){val13[0], val13[2], val13[4], val13[6], val13[8], val13[10], val13[12], val13[14], val14[1], val14[3], val14[5], val14[7], val14[9], val14[11], val14[13], val14[15]};
            acc1 = fma_f32x16(val15, val12, acc1);
            float val16 = *(local0+(alu5+1ll));
            f32x16 val17 = f32x16_of(val16);
            acc2 = fma_f32x16(val10, val17, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val15, val29, acc15);
            f32x16 val30 = *(const f32x16u *)(data1+(alu4+1ll));
            __builtin_prefetch((data1+(alu4+16ll))+460, 0, 2);
            f32x16 val31 = *(const f32x16u *)(data1+(alu4+16ll));
            f32x16 val32 = (f32x16){val30[0], val30[2], val30[4], val30[6], val30[8], val30[10], val30[12], val30[14], val31[1], val31[3], val31[5], val31[7], val31[9], val31[11], val31[13], val31[15]};
            float val33 = *(local0+(alu5+8ll));
            f32x16 val34 = f32x16_of(val33);
            acc0 = fma_f32x16(val32, val34, acc0);
            f32x16 val35 = *(const f32x16u *)(data1+(alu4+33ll));
            __builtin_prefetch((data1+(alu4+48ll))+460, 0, 2);
            f32x16 val36 = *(const f32x16u *)(data1+(alu4+48ll));
            f32x16 val37 = (f32x16){val35[0], val35[2], val35[4], val35[6], val35[8], val35[10], val35[12], val35[14], val36[1], val36[3], val36[5], val36[7], val36[9], val36[11], val36[13], val36[15]};
            acc1 = fma_f32x16(val37, val34, acc1);
            float val38 = *(local0+(alu5+9ll));
            f32x16 val39 = f32x16_of(val38);
            acc2 = fma_f32x16(val32, val39, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val37, val51, acc15);
            f32x16 val52 = *(const f32x16u *)(data1+(alu4+2ll));
            // the line above, 2 times in all
            f32x16 val54 = (f32x16){val52[0], val52[2], val52[4], val52[6], val52[8], val52[10], val52[12], val52[14], val53[1], val53[3], val53[5], val53[7], val53[9], val53[11], val53[13], val53[15]};
            float val55 = *(local0+(alu5+16ll));
            f32x16 val56 = f32x16_of(val55);
            acc0 = fma_f32x16(val54, val56, acc0);
            f32x16 val57 = *(const f32x16u *)(data1+(alu4+34ll));
            // the line above, 2 times in all
            f32x16 val59 = (f32x16){val57[0], val57[2], val57[4], val57[6], val57[8], val57[10], val57[12], val57[14], val58[1], val58[3], val58[5], val58[7], val58[9], val58[11], val58[13], val58[15]};
            acc1 = fma_f32x16(val59, val56, acc1);
            float val60 = *(local0+(alu5+17ll));
            f32x16 val61 = f32x16_of(val60);
            acc2 = fma_f32x16(val54, val61, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val59, val73, acc15);
            f32x16 val74 = *(const f32x16u *)(data1+(alu4+3ll));
            // the line above, 2 times in all
            f32x16 val76 = (f32x16){val74[0], val74[2], val74[4], val74[6], val74[8], val74[10], val74[12], val74[14], val75[1], val75[3], val75[5], val75[7], val75[9], val75[11], val75[13], val75[15]};
            float val77 = *(local0+(alu5+24ll));
            f32x16 val78 = f32x16_of(val77);
            acc0 = fma_f32x16(val76, val78, acc0);
            f32x16 val79 = *(const f32x16u *)(data1+(alu4+35ll));
            // the line above, 2 times in all
            f32x16 val81 = (f32x16){val79[0], val79[2], val79[4], val79[6], val79[8], val79[10], val79[12], val79[14], val80[1], val80[3], val80[5], val80[7], val80[9], val80[11], val80[13], val80[15]};
            acc1 = fma_f32x16(val81, val78, acc1);
            float val82 = *(local0+(alu5+25ll));
            f32x16 val83 = f32x16_of(val82);
            acc2 = fma_f32x16(val76, val83, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val81, val95, acc15);
            f32x16 val96 = *(const f32x16u *)(data1+(alu4+4ll));
            // the line above, 2 times in all
            f32x16 val98 = (f32x16){val96[0], val96[2], val96[4], val96[6], val96[8], val96[10], val96[12], val96[14], val97[1], val97[3], val97[5], val97[7], val97[9], val97[11], val97[13], val97[15]};
            float val99 = *(local0+(alu5+32ll));
            f32x16 val100 = f32x16_of(val99);
            acc0 = fma_f32x16(val98, val100, acc0);
            f32x16 val101 = *(const f32x16u *)(data1+(alu4+36ll));
            // the line above, 2 times in all
            f32x16 val103 = (f32x16){val101[0], val101[2], val101[4], val101[6], val101[8], val101[10], val101[12], val101[14], val102[1], val102[3], val102[5], val102[7], val102[9], val102[11], val102[13], val102[15]};
            acc1 = fma_f32x16(val103, val100, acc1);
            float val104 = *(local0+(alu5+33ll));
            f32x16 val105 = f32x16_of(val104);
            acc2 = fma_f32x16(val98, val105, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val103, val117, acc15);
            f32x16 val118 = *(const f32x16u *)(data1+(alu4+5ll));
            // the line above, 2 times in all
            f32x16 val120 = (f32x16){val118[0], val118[2], val118[4], val118[6], val118[8], val118[10], val118[12], val118[14], val119[1], val119[3], val119[5], val119[7], val119[9], val119[11], val119[13], val119[15]};
            float val121 = *(local0+(alu5+40ll));
            f32x16 val122 = f32x16_of(val121);
            acc0 = fma_f32x16(val120, val122, acc0);
            f32x16 val123 = *(const f32x16u *)(data1+(alu4+37ll));
            // the line above, 2 times in all
            f32x16 val125 = (f32x16){val123[0], val123[2], val123[4], val123[6], val123[8], val123[10], val123[12], val123[14], val124[1], val124[3], val124[5], val124[7], val124[9], val124[11], val124[13], val124[15]};
            acc1 = fma_f32x16(val125, val122, acc1);
            float val126 = *(local0+(alu5+41ll));
            f32x16 val127 = f32x16_of(val126);
            acc2 = fma_f32x16(val120, val127, acc2);
            // the 4 lines above, 7 times in all
            acc15 = fma_f32x16(val125, val139, acc15);
            f32x16 val140 = *(const f32x16u *)(data1+(alu4+6ll));
            // the line above, 2 times in all
            f32x16 val142 = (f32x16){val140[0], val140[2], val140[4], val140[6], val140[8], val140[10], val140[12], val140[14], val141[1], val141[3], val141[5], val141[7], val141[9], val141[11], val141[13], val141[15]};
            float val143 = *(local0+(alu5+48ll));
            f32x16 val144 = f32x16_of(val143);
            acc0 = fma_f32x16(val142, val144, acc0);
            f32x16 val145 = *(const f32x16u *)(data1+(alu4+38ll));
            // the line above, 2 times in all
            f32x16 val147 = (f32x16){val145[0], val145[2], val145[4], val145[6], val145[8], val145[10], val145[12], val145[14], val146[1], val146[3], val146[5], val146[7], val146[9], val146[11], val146[13], val146[15]};
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
