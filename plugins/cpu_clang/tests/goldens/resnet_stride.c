static void kernel_body(float *restrict data0, const float *restrict data1, long long thread) {
  for (int i0 = 0; i0 < 64; i0++) {
    for (int i1 = 0; i1 < 58; i1++) {
      int alu0 = ((i0*3364)+(i1*58));
      *(data0+alu0) = 0.0f;
      _Bool alu1 = (((i1<1)^1)&(i1<57));
      for (int i2_0_1_0 = 0; i2_0_1_0 < 2; i2_0_1_0++) {
        int alu2 = (i2_0_1_0*(-32));
        int alu3 = (atleast_i32(alu2, (-24))*(-1));
        int alu4 = (alu0+alu3);
        int alu5 = (((i0*3136)+(i1*56))+alu3);
        f32x16 val0 = (alu1 ? (f32x16)*(const f32x16u *)(data1+(alu5-56ll)) : f32x16_of(0.0f));
        *(f32x16u *)(data0+(alu4+1ll)) = val0;
        // the 2 lines above, 2 times in all
      }
      *(data0+(alu0+57ll)) = 0.0f;
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], thread);
}
static void kernel_body(float *restrict data0, const float *restrict data1, const float *restrict data2, const float *restrict data3, const float *restrict data4, long long thread) {
  float local0[36864] __attribute__((aligned(64)));
  // the line above, 2 times in all
  for (int i0_0 = 0; i0_0 < 2; i0_0++) {
    for (int i10 = 0; i10 < 8; i10++) {
      for (int i6 = 0; i6 < 64; i6++) {
        for (int i7 = 0; i7 < 3; i7++) {
          for (int i8 = 0; i8 < 3; i8++) {
            int alu0 = (((((i0_0*36864)+(i6*9))+(i7*3))+i8)+(i10*4608));
            float val0 = *(data2+alu0);
            float val1 = *(data2+(alu0+576ll));
            // the line above, 7 times in all
            *(f32x8u *)(local0+((((i6*576)+(i7*192))+(i8*64))+(i10*8))) = (f32x8){val0, val1, val2, val3, val4, val5, val6, val7};
          }
        }
      }
    }
    for (int i11 = 0; i11 < 28; i11++) {
      for (int i12 = 0; i12 < 7; i12++) {
        int alu1 = ((i11*1792)+(i12*256));
        *(f32x16u *)(local1+alu1) = f32x16_of(0.0f);
        *(f32x16u *)(local1+(alu1+16ll)) = f32x16_of(0.0f);
        // the line above, 15 times in all
      }
    }
    for (int i3_0 = 0; i3_0 < 8; i3_0++) {
      for (int i15 = 0; i15 < 28; i15++) {
        for (int i16 = 0; i16 < 7; i16++) {
          f32x16 acc0 = f32x16_of(0.0f);
          // the line above, 16 times in all
          for (int r3_1 = 0; r3_1 < 8; r3_1++) {
            int alu2 = ((((i3_0*26912)+(r3_1*3364))+(i15*116))+(i16*8));
            float val8 = *(data1+alu2);
            f32x16 val9 = f32x16_of(val8);
            int alu3 = ((i3_0*4608)+(r3_1*576));
            f32x16 val10 = *(const f32x16u *)(local0+alu3);
            HOLD(val10);
            acc0 = fma_f32x16(val9, val10, acc0);
            f32x16 val11 = *(const f32x16u *)(local0+(alu3+16ll));
            // the 3 lines above, 3 times in all
            HOLD(val13);
            acc3 = fma_f32x16(val9, val13, acc3);
            float val14 = *(data1+(alu2+2ll));
            f32x16 val15 = f32x16_of(val14);
            acc4 = fma_f32x16(val15, val10, acc4);
            acc5 = fma_f32x16(val15, val11, acc5);
            acc6 = fma_f32x16(val15, val12, acc6);
            // the 6 lines above, 3 times in all
            acc15 = fma_f32x16(val19, val13, acc15);
            float val20 = *(data1+(alu2+1ll));
            f32x16 val21 = f32x16_of(val20);
            f32x16 val22 = *(const f32x16u *)(local0+(alu3+64ll));
            HOLD(val22);
            acc0 = fma_f32x16(val21, val22, acc0);
            // the 3 lines above, 4 times in all
            float val26 = *(data1+(alu2+3ll));
            f32x16 val27 = f32x16_of(val26);
            acc4 = fma_f32x16(val27, val22, acc4);
            acc5 = fma_f32x16(val27, val23, acc5);
            acc6 = fma_f32x16(val27, val24, acc6);
            acc7 = fma_f32x16(val27, val25, acc7);
            // the 6 lines above, 3 times in all
            f32x16 val32 = *(const f32x16u *)(local0+(alu3+128ll));
            HOLD(val32);
            acc0 = fma_f32x16(val15, val32, acc0);
            // the 3 lines above, 4 times in all
            acc4 = fma_f32x16(val17, val32, acc4);
            // the line above, 8 times in all
            float val36 = *(data1+(alu2+8ll));
            f32x16 val37 = f32x16_of(val36);
            acc12 = fma_f32x16(val37, val32, acc12);
            // the line above, 4 times in all
            float val38 = *(data1+(alu2+58ll));
            f32x16 val39 = f32x16_of(val38);
            f32x16 val40 = *(const f32x16u *)(local0+(alu3+192ll));
            HOLD(val40);
            acc0 = fma_f32x16(val39, val40, acc0);
            // the 3 lines above, 4 times in all
            float val44 = *(data1+(alu2+60ll));
            f32x16 val45 = f32x16_of(val44);
            acc4 = fma_f32x16(val45, val40, acc4);
            acc5 = fma_f32x16(val45, val41, acc5);
            acc6 = fma_f32x16(val45, val42, acc6);
            acc7 = fma_f32x16(val45, val43, acc7);
            // the 6 lines above, 3 times in all
            float val50 = *(data1+(alu2+59ll));
            f32x16 val51 = f32x16_of(val50);
            f32x16 val52 = *(const f32x16u *)(local0+(alu3+256ll));
            HOLD(val52);
            acc0 = fma_f32x16(val51, val52, acc0);
            // the 3 lines above, 4 times in all
            float val56 = *(data1+(alu2+61ll));
            f32x16 val57 = f32x16_of(val56);
            acc4 = fma_f32x16(val57, val52, acc4);
            acc5 = fma_f32x16(val57, val53, acc5);
            acc6 = fma_f32x16(val57, val54, acc6);
            acc7 = fma_f32x16(val57, val55, acc7);
            // the 6 lines above, 3 times in all
            f32x16 val62 = *(const f32x16u *)(local0+(alu3+320ll));
            HOLD(val62);
            acc0 = fma_f32x16(val45, val62, acc0);
            // the 3 lines above, 4 times in all
            acc4 = fma_f32x16(val47, val62, acc4);
            // the line above, 8 times in all
            float val66 = *(data1+(alu2+66ll));
            f32x16 val67 = f32x16_of(val66);
            acc12 = fma_f32x16(val67, val62, acc12);
            // the line above, 4 times in all
            float val68 = *(data1+(alu2+116ll));
            f32x16 val69 = f32x16_of(val68);
            f32x16 val70 = *(const f32x16u *)(local0+(alu3+384ll));
            HOLD(val70);
            acc0 = fma_f32x16(val69, val70, acc0);
            // the 3 lines above, 4 times in all
            float val74 = *(data1+(alu2+118ll));
            f32x16 val75 = f32x16_of(val74);
            acc4 = fma_f32x16(val75, val70, acc4);
            acc5 = fma_f32x16(val75, val71, acc5);
            acc6 = fma_f32x16(val75, val72, acc6);
            acc7 = fma_f32x16(val75, val73, acc7);
            // the 6 lines above, 3 times in all
            float val80 = *(data1+(alu2+117ll));
            f32x16 val81 = f32x16_of(val80);
            f32x16 val82 = *(const f32x16u *)(local0+(alu3+448ll));
            HOLD(val82);
            acc0 = fma_f32x16(val81, val82, acc0);
            // the 3 lines above, 4 times in all
            float val86 = *(data1+(alu2+119ll));
            f32x16 val87 = f32x16_of(val86);
            acc4 = fma_f32x16(val87, val82, acc4);
            acc5 = fma_f32x16(val87, val83, acc5);
            acc6 = fma_f32x16(val87, val84, acc6);
            acc7 = fma_f32x16(val87, val85, acc7);
            // the 6 lines above, 3 times in all
            f32x16 val92 = *(const f32x16u *)(local0+(alu3+512ll));
            HOLD(val92);
            acc0 = fma_f32x16(val75, val92, acc0);
            // the 3 lines above, 4 times in all
            acc4 = fma_f32x16(val77, val92, acc4);
            // the line above, 8 times in all
            float val96 = *(data1+(alu2+124ll));
            f32x16 val97 = f32x16_of(val96);
            acc12 = fma_f32x16(val97, val92, acc12);
            // the line above, 4 times in all
          }
          int alu4 = ((i15*1792)+(i16*256));
          f32x16 val98 = *(const f32x16u *)(local1+alu4);
          *(f32x16u *)(local1+alu4) = (val98+acc0);
          f32x16 val99 = *(const f32x16u *)(local1+(alu4+16ll));
          *(f32x16u *)(local1+(alu4+16ll)) = (val99+acc1);
          // the 2 lines above, 15 times in all
        }
      }
    }
    int alu5 = (i0_0*64);
    f32x16 val114 = *(const f32x16u *)(data3+alu5);
    // the line above, 2 times in all
    int alu6 = (alu5+16);
    f32x16 val116 = *(const f32x16u *)(data3+(alu5+16ll));
    f32x16 val117 = *(const f32x16u *)(data4+(alu5+16ll));
    // the 3 lines above, 3 times in all
    for (int i1 = 0; i1 < 28; i1++) {
      for (int i2_0 = 0; i2_0 < 7; i2_0++) {
        int alu9 = (((i0_0*50176)+(i1*28))+(i2_0*4));
        int alu10 = ((i1*1792)+(i2_0*256));
        f32x16 val122 = *(const f32x16u *)(local1+alu10);
        f32x16 alu11 = ((val122*val114)+val115);
        f32x16 alu12 = select_f32x16(((alu11 < f32x16_of(0.0f)) | (alu11 == f32x16_of(0.0f))), f32x16_of(0.0f), alu11);
        *(data0+alu9) = alu12[0];
        *(data0+(alu9+784ll)) = alu12[1];
        // the line above, 15 times in all
        f32x16 val123 = *(const f32x16u *)(local1+(alu10+16ll));
        f32x16 alu13 = ((val123*val116)+val117);
        f32x16 alu14 = select_f32x16(((alu13 < f32x16_of(0.0f)) | (alu13 == f32x16_of(0.0f))), f32x16_of(0.0f), alu13);
        *(data0+(alu9+12544ll)) = alu14[0];
        // the line above, 16 times in all
        f32x16 val124 = *(const f32x16u *)(local1+(alu10+32ll));
        f32x16 alu15 = ((val124*val118)+val119);
        f32x16 alu16 = select_f32x16(((alu15 < f32x16_of(0.0f)) | (alu15 == f32x16_of(0.0f))), f32x16_of(0.0f), alu15);
        *(data0+(alu9+25088ll)) = alu16[0];
        // the line above, 16 times in all
        f32x16 val125 = *(const f32x16u *)(local1+(alu10+48ll));
        f32x16 alu17 = ((val125*val120)+val121);
        f32x16 alu18 = select_f32x16(((alu17 < f32x16_of(0.0f)) | (alu17 == f32x16_of(0.0f))), f32x16_of(0.0f), alu17);
        *(data0+(alu9+37632ll)) = alu18[0];
        // the line above, 16 times in all
        f32x16 val126 = *(const f32x16u *)(local1+(alu10+64ll));
        f32x16 alu19 = ((val126*val114)+val115);
        f32x16 alu20 = select_f32x16(((alu19 < f32x16_of(0.0f)) | (alu19 == f32x16_of(0.0f))), f32x16_of(0.0f), alu19);
        *(data0+(alu9+1ll)) = alu20[0];
        // the line above, 16 times in all
        f32x16 val127 = *(const f32x16u *)(local1+(alu10+80ll));
        f32x16 alu21 = ((val127*val116)+val117);
        f32x16 alu22 = select_f32x16(((alu21 < f32x16_of(0.0f)) | (alu21 == f32x16_of(0.0f))), f32x16_of(0.0f), alu21);
        *(data0+(alu9+12545ll)) = alu22[0];
        // the line above, 16 times in all
        f32x16 val128 = *(const f32x16u *)(local1+(alu10+96ll));
        f32x16 alu23 = ((val128*val118)+val119);
        f32x16 alu24 = select_f32x16(((alu23 < f32x16_of(0.0f)) | (alu23 == f32x16_of(0.0f))), f32x16_of(0.0f), alu23);
        *(data0+(alu9+25089ll)) = alu24[0];
        // the line above, 16 times in all
        f32x16 val129 = *(const f32x16u *)(local1+(alu10+112ll));
        f32x16 alu25 = ((val129*val120)+val121);
        f32x16 alu26 = select_f32x16(((alu25 < f32x16_of(0.0f)) | (alu25 == f32x16_of(0.0f))), f32x16_of(0.0f), alu25);
        *(data0+(alu9+37633ll)) = alu26[0];
        // the line above, 16 times in all
        f32x16 val130 = *(const f32x16u *)(local1+(alu10+128ll));
        f32x16 alu27 = ((val130*val114)+val115);
        f32x16 alu28 = select_f32x16(((alu27 < f32x16_of(0.0f)) | (alu27 == f32x16_of(0.0f))), f32x16_of(0.0f), alu27);
        *(data0+(alu9+2ll)) = alu28[0];
        // the line above, 16 times in all
        f32x16 val131 = *(const f32x16u *)(local1+(alu10+144ll));
        f32x16 alu29 = ((val131*val116)+val117);
        f32x16 alu30 = select_f32x16(((alu29 < f32x16_of(0.0f)) | (alu29 == f32x16_of(0.0f))), f32x16_of(0.0f), alu29);
        *(data0+(alu9+12546ll)) = alu30[0];
        // the line above, 16 times in all
        f32x16 val132 = *(const f32x16u *)(local1+(alu10+160ll));
        f32x16 alu31 = ((val132*val118)+val119);
        f32x16 alu32 = select_f32x16(((alu31 < f32x16_of(0.0f)) | (alu31 == f32x16_of(0.0f))), f32x16_of(0.0f), alu31);
        *(data0+(alu9+25090ll)) = alu32[0];
        // the line above, 16 times in all
        f32x16 val133 = *(const f32x16u *)(local1+(alu10+176ll));
        f32x16 alu33 = ((val133*val120)+val121);
        f32x16 alu34 = select_f32x16(((alu33 < f32x16_of(0.0f)) | (alu33 == f32x16_of(0.0f))), f32x16_of(0.0f), alu33);
        *(data0+(alu9+37634ll)) = alu34[0];
        // the line above, 16 times in all
        f32x16 val134 = *(const f32x16u *)(local1+(alu10+192ll));
        f32x16 alu35 = ((val134*val114)+val115);
        f32x16 alu36 = select_f32x16(((alu35 < f32x16_of(0.0f)) | (alu35 == f32x16_of(0.0f))), f32x16_of(0.0f), alu35);
        *(data0+(alu9+3ll)) = alu36[0];
        // the line above, 16 times in all
        f32x16 val135 = *(const f32x16u *)(local1+(alu10+208ll));
        f32x16 alu37 = ((val135*val116)+val117);
        f32x16 alu38 = select_f32x16(((alu37 < f32x16_of(0.0f)) | (alu37 == f32x16_of(0.0f))), f32x16_of(0.0f), alu37);
        *(data0+(alu9+12547ll)) = alu38[0];
        // the line above, 16 times in all
        f32x16 val136 = *(const f32x16u *)(local1+(alu10+224ll));
        f32x16 alu39 = ((val136*val118)+val119);
        f32x16 alu40 = select_f32x16(((alu39 < f32x16_of(0.0f)) | (alu39 == f32x16_of(0.0f))), f32x16_of(0.0f), alu39);
        *(data0+(alu9+25091ll)) = alu40[0];
        // the line above, 16 times in all
        f32x16 val137 = *(const f32x16u *)(local1+(alu10+240ll));
        f32x16 alu41 = ((val137*val120)+val121);
        f32x16 alu42 = select_f32x16(((alu41 < f32x16_of(0.0f)) | (alu41 == f32x16_of(0.0f))), f32x16_of(0.0f), alu41);
        *(data0+(alu9+37635ll)) = alu42[0];
        // the line above, 16 times in all
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], thread);
}
