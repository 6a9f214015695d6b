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
    for (int i6 = 0; i6 < 64; i6++) {
      for (int i7 = 0; i7 < 3; i7++) {
        for (int i8 = 0; i8 < 3; i8++) {
          int alu0 = (((i6*576)+(i7*192))+(i8*64));
          int alu1 = ((((i0_0*36864)+(i6*9))+(i7*3))+i8);
          float val0 = *(data2+alu1);
          float val1 = *(data2+(alu1+576ll));
          // the line above, 15 times in all
          *(f32x16u *)(local0+alu0) = (f32x16){val0, val1, val2, val3, val4, val5, val6, val7, val8, val9, val10, val11, val12, val13, val14, val15};
          float val16 = *(data2+(alu1+9216ll));
          // the line above, 16 times in all
          *(f32x16u *)(local0+(alu0+16ll)) = (f32x16){val16, val17, val18, val19, val20, val21, val22, val23, val24, val25, val26, val27, val28, val29, val30, val31};
          float val32 = *(data2+(alu1+18432ll));
          // the line above, 16 times in all
          *(f32x16u *)(local0+(alu0+32ll)) = (f32x16){val32, val33, val34, val35, val36, val37, val38, val39, val40, val41, val42, val43, val44, val45, val46, val47};
          float val48 = *(data2+(alu1+27648ll));
          // the line above, 16 times in all
          *(f32x16u *)(local0+(alu0+48ll)) = (f32x16){val48, val49, val50, val51, val52, val53, val54, val55, val56, val57, val58, val59, val60, val61, val62, val63};
        }
      }
    }
    for (int i10 = 0; i10 < 28; i10++) {
      for (int i11 = 0; i11 < 7; i11++) {
        int alu2 = ((i10*1792)+(i11*256));
        *(f32x16u *)(local1+alu2) = f32x16_of(0.0f);
        *(f32x16u *)(local1+(alu2+16ll)) = f32x16_of(0.0f);
        // the line above, 15 times in all
      }
    }
    for (int i3_0 = 0; i3_0 < 8; i3_0++) {
      for (int i14 = 0; i14 < 28; i14++) {
        for (int i15 = 0; i15 < 7; i15++) {
          f32x16 acc0 = f32x16_of(0.0f);
          // the line above, 16 times in all
          for (int r3_1 = 0; r3_1 < 8; r3_1++) {
            int alu3 = ((((i3_0*26912)+(r3_1*3364))+(i14*116))+(i15*8));
            float val64 = *(data1+alu3);
            f32x16 val65 = f32x16_of(val64);
            int alu4 = ((i3_0*4608)+(r3_1*576));
            f32x16 val66 = *(const f32x16u *)(local0+alu4);
            HOLD(val66);
            acc0 = fma_f32x16(val65, val66, acc0);
            f32x16 val67 = *(const f32x16u *)(local0+(alu4+16ll));
            // the 3 lines above, 3 times in all
            HOLD(val69);
            acc3 = fma_f32x16(val65, val69, acc3);
            float val70 = *(data1+(alu3+2ll));
            f32x16 val71 = f32x16_of(val70);
            acc4 = fma_f32x16(val71, val66, acc4);
            acc5 = fma_f32x16(val71, val67, acc5);
            acc6 = fma_f32x16(val71, val68, acc6);
            // the 6 lines above, 3 times in all
            acc15 = fma_f32x16(val75, val69, acc15);
            float val76 = *(data1+(alu3+1ll));
            f32x16 val77 = f32x16_of(val76);
            f32x16 val78 = *(const f32x16u *)(local0+(alu4+64ll));
            HOLD(val78);
            acc0 = fma_f32x16(val77, val78, acc0);
            // the 3 lines above, 4 times in all
            float val82 = *(data1+(alu3+3ll));
            f32x16 val83 = f32x16_of(val82);
            acc4 = fma_f32x16(val83, val78, acc4);
            acc5 = fma_f32x16(val83, val79, acc5);
            acc6 = fma_f32x16(val83, val80, acc6);
            acc7 = fma_f32x16(val83, val81, acc7);
            // the 6 lines above, 3 times in all
            f32x16 val88 = *(const f32x16u *)(local0+(alu4+128ll));
            HOLD(val88);
            acc0 = fma_f32x16(val71, val88, acc0);
            // the 3 lines above, 4 times in all
            acc4 = fma_f32x16(val73, val88, acc4);
            // the line above, 8 times in all
            float val92 = *(data1+(alu3+8ll));
            f32x16 val93 = f32x16_of(val92);
            acc12 = fma_f32x16(val93, val88, acc12);
            // the line above, 4 times in all
            float val94 = *(data1+(alu3+58ll));
            f32x16 val95 = f32x16_of(val94);
            f32x16 val96 = *(const f32x16u *)(local0+(alu4+192ll));
            HOLD(val96);
            acc0 = fma_f32x16(val95, val96, acc0);
            // the 3 lines above, 4 times in all
            float val100 = *(data1+(alu3+60ll));
            f32x16 val101 = f32x16_of(val100);
            acc4 = fma_f32x16(val101, val96, acc4);
            acc5 = fma_f32x16(val101, val97, acc5);
            acc6 = fma_f32x16(val101, val98, acc6);
            acc7 = fma_f32x16(val101, val99, acc7);
            // the 6 lines above, 3 times in all
            float val106 = *(data1+(alu3+59ll));
            f32x16 val107 = f32x16_of(val106);
            f32x16 val108 = *(const f32x16u *)(local0+(alu4+256ll));
            HOLD(val108);
            acc0 = fma_f32x16(val107, val108, acc0);
            // the 3 lines above, 4 times in all
            float val112 = *(data1+(alu3+61ll));
            f32x16 val113 = f32x16_of(val112);
            acc4 = fma_f32x16(val113, val108, acc4);
            acc5 = fma_f32x16(val113, val109, acc5);
            acc6 = fma_f32x16(val113, val110, acc6);
            acc7 = fma_f32x16(val113, val111, acc7);
            // the 6 lines above, 3 times in all
            f32x16 val118 = *(const f32x16u *)(local0+(alu4+320ll));
            HOLD(val118);
            acc0 = fma_f32x16(val101, val118, acc0);
            // the 3 lines above, 4 times in all
            acc4 = fma_f32x16(val103, val118, acc4);
            // the line above, 8 times in all
            float val122 = *(data1+(alu3+66ll));
            f32x16 val123 = f32x16_of(val122);
            acc12 = fma_f32x16(val123, val118, acc12);
            // the line above, 4 times in all
            float val124 = *(data1+(alu3+116ll));
            f32x16 val125 = f32x16_of(val124);
            f32x16 val126 = *(const f32x16u *)(local0+(alu4+384ll));
            HOLD(val126);
            acc0 = fma_f32x16(val125, val126, acc0);
            // the 3 lines above, 4 times in all
            float val130 = *(data1+(alu3+118ll));
            f32x16 val131 = f32x16_of(val130);
            acc4 = fma_f32x16(val131, val126, acc4);
            acc5 = fma_f32x16(val131, val127, acc5);
            acc6 = fma_f32x16(val131, val128, acc6);
            acc7 = fma_f32x16(val131, val129, acc7);
            // the 6 lines above, 3 times in all
            float val136 = *(data1+(alu3+117ll));
            f32x16 val137 = f32x16_of(val136);
            f32x16 val138 = *(const f32x16u *)(local0+(alu4+448ll));
            HOLD(val138);
            acc0 = fma_f32x16(val137, val138, acc0);
            // the 3 lines above, 4 times in all
            float val142 = *(data1+(alu3+119ll));
            f32x16 val143 = f32x16_of(val142);
            acc4 = fma_f32x16(val143, val138, acc4);
            acc5 = fma_f32x16(val143, val139, acc5);
            acc6 = fma_f32x16(val143, val140, acc6);
            acc7 = fma_f32x16(val143, val141, acc7);
            // the 6 lines above, 3 times in all
            f32x16 val148 = *(const f32x16u *)(local0+(alu4+512ll));
            HOLD(val148);
            acc0 = fma_f32x16(val131, val148, acc0);
            // the 3 lines above, 4 times in all
            acc4 = fma_f32x16(val133, val148, acc4);
            // the line above, 8 times in all
            float val152 = *(data1+(alu3+124ll));
            f32x16 val153 = f32x16_of(val152);
            acc12 = fma_f32x16(val153, val148, acc12);
            // the line above, 4 times in all
          }
          int alu5 = ((i14*1792)+(i15*256));
          f32x16 val154 = *(const f32x16u *)(local1+alu5);
          *(f32x16u *)(local1+alu5) = (val154+acc0);
          f32x16 val155 = *(const f32x16u *)(local1+(alu5+16ll));
          *(f32x16u *)(local1+(alu5+16ll)) = (val155+acc1);
          // the 2 lines above, 15 times in all
        }
      }
    }
    int alu6 = (i0_0*64);
    f32x16 val170 = *(const f32x16u *)(data3+alu6);
    // the line above, 2 times in all
    int alu7 = (alu6+16);
    f32x16 val172 = *(const f32x16u *)(data3+(alu6+16ll));
    f32x16 val173 = *(const f32x16u *)(data4+(alu6+16ll));
    // the 3 lines above, 3 times in all
    for (int i1 = 0; i1 < 28; i1++) {
      for (int i2_0 = 0; i2_0 < 7; i2_0++) {
        int alu10 = (((i0_0*50176)+(i1*28))+(i2_0*4));
        int alu11 = ((i1*1792)+(i2_0*256));
        f32x16 val178 = *(const f32x16u *)(local1+alu11);
        f32x16 alu12 = ((val178*val170)+val171);
        f32x16 alu13 = select_f32x16(((alu12 < f32x16_of(0.0f)) | (alu12 == f32x16_of(0.0f))), f32x16_of(0.0f), alu12);
        *(data0+alu10) = alu13[0];
        *(data0+(alu10+784ll)) = alu13[1];
        // the line above, 15 times in all
        f32x16 val179 = *(const f32x16u *)(local1+(alu11+16ll));
        f32x16 alu14 = ((val179*val172)+val173);
        f32x16 alu15 = select_f32x16(((alu14 < f32x16_of(0.0f)) | (alu14 == f32x16_of(0.0f))), f32x16_of(0.0f), alu14);
        *(data0+(alu10+12544ll)) = alu15[0];
        // the line above, 16 times in all
        f32x16 val180 = *(const f32x16u *)(local1+(alu11+32ll));
        f32x16 alu16 = ((val180*val174)+val175);
        f32x16 alu17 = select_f32x16(((alu16 < f32x16_of(0.0f)) | (alu16 == f32x16_of(0.0f))), f32x16_of(0.0f), alu16);
        *(data0+(alu10+25088ll)) = alu17[0];
        // the line above, 16 times in all
        f32x16 val181 = *(const f32x16u *)(local1+(alu11+48ll));
        f32x16 alu18 = ((val181*val176)+val177);
        f32x16 alu19 = select_f32x16(((alu18 < f32x16_of(0.0f)) | (alu18 == f32x16_of(0.0f))), f32x16_of(0.0f), alu18);
        *(data0+(alu10+37632ll)) = alu19[0];
        // the line above, 16 times in all
        f32x16 val182 = *(const f32x16u *)(local1+(alu11+64ll));
        f32x16 alu20 = ((val182*val170)+val171);
        f32x16 alu21 = select_f32x16(((alu20 < f32x16_of(0.0f)) | (alu20 == f32x16_of(0.0f))), f32x16_of(0.0f), alu20);
        *(data0+(alu10+1ll)) = alu21[0];
        // the line above, 16 times in all
        f32x16 val183 = *(const f32x16u *)(local1+(alu11+80ll));
        f32x16 alu22 = ((val183*val172)+val173);
        f32x16 alu23 = select_f32x16(((alu22 < f32x16_of(0.0f)) | (alu22 == f32x16_of(0.0f))), f32x16_of(0.0f), alu22);
        *(data0+(alu10+12545ll)) = alu23[0];
        // the line above, 16 times in all
        f32x16 val184 = *(const f32x16u *)(local1+(alu11+96ll));
        f32x16 alu24 = ((val184*val174)+val175);
        f32x16 alu25 = select_f32x16(((alu24 < f32x16_of(0.0f)) | (alu24 == f32x16_of(0.0f))), f32x16_of(0.0f), alu24);
        *(data0+(alu10+25089ll)) = alu25[0];
        // the line above, 16 times in all
        f32x16 val185 = *(const f32x16u *)(local1+(alu11+112ll));
        f32x16 alu26 = ((val185*val176)+val177);
        f32x16 alu27 = select_f32x16(((alu26 < f32x16_of(0.0f)) | (alu26 == f32x16_of(0.0f))), f32x16_of(0.0f), alu26);
        *(data0+(alu10+37633ll)) = alu27[0];
        // the line above, 16 times in all
        f32x16 val186 = *(const f32x16u *)(local1+(alu11+128ll));
        f32x16 alu28 = ((val186*val170)+val171);
        f32x16 alu29 = select_f32x16(((alu28 < f32x16_of(0.0f)) | (alu28 == f32x16_of(0.0f))), f32x16_of(0.0f), alu28);
        *(data0+(alu10+2ll)) = alu29[0];
        // the line above, 16 times in all
        f32x16 val187 = *(const f32x16u *)(local1+(alu11+144ll));
        f32x16 alu30 = ((val187*val172)+val173);
        f32x16 alu31 = select_f32x16(((alu30 < f32x16_of(0.0f)) | (alu30 == f32x16_of(0.0f))), f32x16_of(0.0f), alu30);
        *(data0+(alu10+12546ll)) = alu31[0];
        // the line above, 16 times in all
        f32x16 val188 = *(const f32x16u *)(local1+(alu11+160ll));
        f32x16 alu32 = ((val188*val174)+val175);
        f32x16 alu33 = select_f32x16(((alu32 < f32x16_of(0.0f)) | (alu32 == f32x16_of(0.0f))), f32x16_of(0.0f), alu32);
        *(data0+(alu10+25090ll)) = alu33[0];
        // the line above, 16 times in all
        f32x16 val189 = *(const f32x16u *)(local1+(alu11+176ll));
        f32x16 alu34 = ((val189*val176)+val177);
        f32x16 alu35 = select_f32x16(((alu34 < f32x16_of(0.0f)) | (alu34 == f32x16_of(0.0f))), f32x16_of(0.0f), alu34);
        *(data0+(alu10+37634ll)) = alu35[0];
        // the line above, 16 times in all
        f32x16 val190 = *(const f32x16u *)(local1+(alu11+192ll));
        f32x16 alu36 = ((val190*val170)+val171);
        f32x16 alu37 = select_f32x16(((alu36 < f32x16_of(0.0f)) | (alu36 == f32x16_of(0.0f))), f32x16_of(0.0f), alu36);
        *(data0+(alu10+3ll)) = alu37[0];
        // the line above, 16 times in all
        f32x16 val191 = *(const f32x16u *)(local1+(alu11+208ll));
        f32x16 alu38 = ((val191*val172)+val173);
        f32x16 alu39 = select_f32x16(((alu38 < f32x16_of(0.0f)) | (alu38 == f32x16_of(0.0f))), f32x16_of(0.0f), alu38);
        *(data0+(alu10+12547ll)) = alu39[0];
        // the line above, 16 times in all
        f32x16 val192 = *(const f32x16u *)(local1+(alu11+224ll));
        f32x16 alu40 = ((val192*val174)+val175);
        f32x16 alu41 = select_f32x16(((alu40 < f32x16_of(0.0f)) | (alu40 == f32x16_of(0.0f))), f32x16_of(0.0f), alu40);
        *(data0+(alu10+25091ll)) = alu41[0];
        // the line above, 16 times in all
        f32x16 val193 = *(const f32x16u *)(local1+(alu11+240ll));
        f32x16 alu42 = ((val193*val176)+val177);
        f32x16 alu43 = select_f32x16(((alu42 < f32x16_of(0.0f)) | (alu42 == f32x16_of(0.0f))), f32x16_of(0.0f), alu42);
        *(data0+(alu10+37635ll)) = alu43[0];
        // the line above, 16 times in all
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], thread);
}
