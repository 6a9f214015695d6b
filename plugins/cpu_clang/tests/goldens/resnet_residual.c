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
static void kernel_body(float *restrict data0, const float *restrict data1, const float *restrict data2, const float *restrict data3, const float *restrict data4, const float *restrict data5, long long thread) {
  float local0[18432] __attribute__((aligned(64)));
  // the line above, 2 times in all
  for (int i0_0 = 0; i0_0 < 2; i0_0++) {
    for (int i6 = 0; i6 < 64; i6++) {
      for (int i7 = 0; i7 < 3; i7++) {
        for (int i8 = 0; i8 < 3; i8++) {
          int alu0 = (((i6*288)+(i7*96))+(i8*32));
          int alu1 = ((((i0_0*18432)+(i6*9))+(i7*3))+i8);
          float val0 = *(data2+alu1);
          float val1 = *(data2+(alu1+576ll));
          // the line above, 15 times in all
          *(f32x16u *)(local0+alu0) = (f32x16){val0, val1, val2, val3, val4, val5, val6, val7, val8, val9, val10, val11, val12, val13, val14, val15};
          float val16 = *(data2+(alu1+9216ll));
          // the line above, 16 times in all
          *(f32x16u *)(local0+(alu0+16ll)) = (f32x16){val16, val17, val18, val19, val20, val21, val22, val23, val24, val25, val26, val27, val28, val29, val30, val31};
        }
      }
    }
    int alu2 = (i0_0*32);
    f32x16 val32 = *(const f32x16u *)(data3+alu2);
    // the line above, 2 times in all
    int alu3 = (alu2+16);
    f32x16 val34 = *(const f32x16u *)(data3+(alu2+16ll));
    // the line above, 2 times in all
    for (int i1 = 0; i1 < 56; i1++) {
      for (int i2_0 = 0; i2_0 < 7; i2_0++) {
        int alu4 = (i2_0*8);
        volatile f32x16 acc0 = f32x16_of(0.0f);
        // the line above, 16 times in all
        for (int r3_0 = 0; r3_0 < 2; r3_0++) {
          f32x16 acc16 = f32x16_of(0.0f);
          // the line above, 16 times in all
          for (int r3_1 = 0; r3_1 < 32; r3_1++) {
            int alu5 = ((((i1*58)+alu4)+(r3_0*107648))+(r3_1*3364));
            float val36 = *(data1+alu5);
            f32x16 val37 = f32x16_of(val36);
            int alu6 = ((r3_0*9216)+(r3_1*288));
            f32x16 val38 = *(const f32x16u *)(local0+alu6);
            HOLD(val38);
            acc16 = fma_f32x16(val37, val38, acc16);
            f32x16 val39 = *(const f32x16u *)(local0+(alu6+16ll));
            HOLD(val39);
            acc17 = fma_f32x16(val37, val39, acc17);
            float val40 = *(data1+(alu5+1ll));
            f32x16 val41 = f32x16_of(val40);
            acc18 = fma_f32x16(val41, val38, acc18);
            // the 4 lines above, 7 times in all
            acc31 = fma_f32x16(val53, val39, acc31);
            f32x16 val54 = *(const f32x16u *)(local0+(alu6+32ll));
            HOLD(val54);
            // the 3 lines above, 2 times in all
            acc17 = fma_f32x16(val41, val55, acc17);
            // the line above, 13 times in all
            float val56 = *(data1+(alu5+8ll));
            f32x16 val57 = f32x16_of(val56);
            acc30 = fma_f32x16(val57, val54, acc30);
            // the line above, 2 times in all
            f32x16 val58 = *(const f32x16u *)(local0+(alu6+64ll));
            HOLD(val58);
            acc16 = fma_f32x16(val43, val58, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val45, val58, acc18);
            // the line above, 12 times in all
            float val60 = *(data1+(alu5+9ll));
            f32x16 val61 = f32x16_of(val60);
            acc30 = fma_f32x16(val61, val58, acc30);
            // the line above, 2 times in all
            float val62 = *(data1+(alu5+58ll));
            f32x16 val63 = f32x16_of(val62);
            f32x16 val64 = *(const f32x16u *)(local0+(alu6+96ll));
            HOLD(val64);
            acc16 = fma_f32x16(val63, val64, acc16);
            // the 3 lines above, 2 times in all
            float val66 = *(data1+(alu5+59ll));
            f32x16 val67 = f32x16_of(val66);
            acc18 = fma_f32x16(val67, val64, acc18);
            acc19 = fma_f32x16(val67, val65, acc19);
            // the 4 lines above, 7 times in all
            f32x16 val80 = *(const f32x16u *)(local0+(alu6+128ll));
            HOLD(val80);
            acc16 = fma_f32x16(val67, val80, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val69, val80, acc18);
            // the line above, 12 times in all
            float val82 = *(data1+(alu5+66ll));
            f32x16 val83 = f32x16_of(val82);
            acc30 = fma_f32x16(val83, val80, acc30);
            // the line above, 2 times in all
            f32x16 val84 = *(const f32x16u *)(local0+(alu6+160ll));
            HOLD(val84);
            acc16 = fma_f32x16(val69, val84, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val71, val84, acc18);
            // the line above, 12 times in all
            float val86 = *(data1+(alu5+67ll));
            f32x16 val87 = f32x16_of(val86);
            acc30 = fma_f32x16(val87, val84, acc30);
            // the line above, 2 times in all
            float val88 = *(data1+(alu5+116ll));
            f32x16 val89 = f32x16_of(val88);
            f32x16 val90 = *(const f32x16u *)(local0+(alu6+192ll));
            HOLD(val90);
            acc16 = fma_f32x16(val89, val90, acc16);
            // the 3 lines above, 2 times in all
            float val92 = *(data1+(alu5+117ll));
            f32x16 val93 = f32x16_of(val92);
            acc18 = fma_f32x16(val93, val90, acc18);
            acc19 = fma_f32x16(val93, val91, acc19);
            // the 4 lines above, 7 times in all
            f32x16 val106 = *(const f32x16u *)(local0+(alu6+224ll));
            HOLD(val106);
            acc16 = fma_f32x16(val93, val106, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val95, val106, acc18);
            // the line above, 12 times in all
            float val108 = *(data1+(alu5+124ll));
            f32x16 val109 = f32x16_of(val108);
            acc30 = fma_f32x16(val109, val106, acc30);
            // the line above, 2 times in all
            f32x16 val110 = *(const f32x16u *)(local0+(alu6+256ll));
            HOLD(val110);
            acc16 = fma_f32x16(val95, val110, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val97, val110, acc18);
            // the line above, 12 times in all
            float val112 = *(data1+(alu5+125ll));
            f32x16 val113 = f32x16_of(val112);
            acc30 = fma_f32x16(val113, val110, acc30);
            // the line above, 2 times in all
          }
          acc0 = (acc0+acc16);
          // the line above, 16 times in all
        }
        int alu7 = (((i0_0*100352)+(i1*56))+alu4);
        float val114 = *(data5+alu7);
        float val115 = *(data5+(alu7+3136ll));
        // the line above, 15 times in all
        f32x16 alu8 = (((acc0*val32)+val33)+(f32x16){val114, val115, val116, val117, val118, val119, val120, val121, val122, val123, val124, val125, val126, val127, val128, val129});
        *(f32x16u *)local1 = select_f32x16(((alu8 < f32x16_of(0.0f)) | (alu8 == f32x16_of(0.0f))), f32x16_of(0.0f), alu8);
        float val130 = *(data5+(alu7+50176ll));
        // the line above, 16 times in all
        f32x16 alu9 = (((acc1*val34)+val35)+(f32x16){val130, val131, val132, val133, val134, val135, val136, val137, val138, val139, val140, val141, val142, val143, val144, val145});
        *(f32x16u *)(local1+16) = select_f32x16(((alu9 < f32x16_of(0.0f)) | (alu9 == f32x16_of(0.0f))), f32x16_of(0.0f), alu9);
        float val146 = *(data5+(alu7+1ll));
        // the line above, 16 times in all
        f32x16 alu10 = (((acc2*val32)+val33)+(f32x16){val146, val147, val148, val149, val150, val151, val152, val153, val154, val155, val156, val157, val158, val159, val160, val161});
        *(f32x16u *)(local1+32) = select_f32x16(((alu10 < f32x16_of(0.0f)) | (alu10 == f32x16_of(0.0f))), f32x16_of(0.0f), alu10);
        float val162 = *(data5+(alu7+50177ll));
        // the line above, 16 times in all
        f32x16 alu11 = (((acc3*val34)+val35)+(f32x16){val162, val163, val164, val165, val166, val167, val168, val169, val170, val171, val172, val173, val174, val175, val176, val177});
        *(f32x16u *)(local1+48) = select_f32x16(((alu11 < f32x16_of(0.0f)) | (alu11 == f32x16_of(0.0f))), f32x16_of(0.0f), alu11);
        float val178 = *(data5+(alu7+2ll));
        // the line above, 16 times in all
        f32x16 alu12 = (((acc4*val32)+val33)+(f32x16){val178, val179, val180, val181, val182, val183, val184, val185, val186, val187, val188, val189, val190, val191, val192, val193});
        *(f32x16u *)(local1+64) = select_f32x16(((alu12 < f32x16_of(0.0f)) | (alu12 == f32x16_of(0.0f))), f32x16_of(0.0f), alu12);
        float val194 = *(data5+(alu7+50178ll));
        // the line above, 16 times in all
        f32x16 alu13 = (((acc5*val34)+val35)+(f32x16){val194, val195, val196, val197, val198, val199, val200, val201, val202, val203, val204, val205, val206, val207, val208, val209});
        *(f32x16u *)(local1+80) = select_f32x16(((alu13 < f32x16_of(0.0f)) | (alu13 == f32x16_of(0.0f))), f32x16_of(0.0f), alu13);
        float val210 = *(data5+(alu7+3ll));
        // the line above, 16 times in all
        f32x16 alu14 = (((acc6*val32)+val33)+(f32x16){val210, val211, val212, val213, val214, val215, val216, val217, val218, val219, val220, val221, val222, val223, val224, val225});
        *(f32x16u *)(local1+96) = select_f32x16(((alu14 < f32x16_of(0.0f)) | (alu14 == f32x16_of(0.0f))), f32x16_of(0.0f), alu14);
        float val226 = *(data5+(alu7+50179ll));
        // the line above, 16 times in all
        f32x16 alu15 = (((acc7*val34)+val35)+(f32x16){val226, val227, val228, val229, val230, val231, val232, val233, val234, val235, val236, val237, val238, val239, val240, val241});
        *(f32x16u *)(local1+112) = select_f32x16(((alu15 < f32x16_of(0.0f)) | (alu15 == f32x16_of(0.0f))), f32x16_of(0.0f), alu15);
        float val242 = *(data5+(alu7+4ll));
        // the line above, 16 times in all
        f32x16 alu16 = (((acc8*val32)+val33)+(f32x16){val242, val243, val244, val245, val246, val247, val248, val249, val250, val251, val252, val253, val254, val255, val256, val257});
        *(f32x16u *)(local1+128) = select_f32x16(((alu16 < f32x16_of(0.0f)) | (alu16 == f32x16_of(0.0f))), f32x16_of(0.0f), alu16);
        float val258 = *(data5+(alu7+50180ll));
        // the line above, 16 times in all
        f32x16 alu17 = (((acc9*val34)+val35)+(f32x16){val258, val259, val260, val261, val262, val263, val264, val265, val266, val267, val268, val269, val270, val271, val272, val273});
        *(f32x16u *)(local1+144) = select_f32x16(((alu17 < f32x16_of(0.0f)) | (alu17 == f32x16_of(0.0f))), f32x16_of(0.0f), alu17);
        float val274 = *(data5+(alu7+5ll));
        // the line above, 16 times in all
        f32x16 alu18 = (((acc10*val32)+val33)+(f32x16){val274, val275, val276, val277, val278, val279, val280, val281, val282, val283, val284, val285, val286, val287, val288, val289});
        *(f32x16u *)(local1+160) = select_f32x16(((alu18 < f32x16_of(0.0f)) | (alu18 == f32x16_of(0.0f))), f32x16_of(0.0f), alu18);
        float val290 = *(data5+(alu7+50181ll));
        // the line above, 16 times in all
        f32x16 alu19 = (((acc11*val34)+val35)+(f32x16){val290, val291, val292, val293, val294, val295, val296, val297, val298, val299, val300, val301, val302, val303, val304, val305});
        *(f32x16u *)(local1+176) = select_f32x16(((alu19 < f32x16_of(0.0f)) | (alu19 == f32x16_of(0.0f))), f32x16_of(0.0f), alu19);
        float val306 = *(data5+(alu7+6ll));
        // the line above, 16 times in all
        f32x16 alu20 = (((acc12*val32)+val33)+(f32x16){val306, val307, val308, val309, val310, val311, val312, val313, val314, val315, val316, val317, val318, val319, val320, val321});
        *(f32x16u *)(local1+192) = select_f32x16(((alu20 < f32x16_of(0.0f)) | (alu20 == f32x16_of(0.0f))), f32x16_of(0.0f), alu20);
        float val322 = *(data5+(alu7+50182ll));
        // the line above, 16 times in all
        f32x16 alu21 = (((acc13*val34)+val35)+(f32x16){val322, val323, val324, val325, val326, val327, val328, val329, val330, val331, val332, val333, val334, val335, val336, val337});
        *(f32x16u *)(local1+208) = select_f32x16(((alu21 < f32x16_of(0.0f)) | (alu21 == f32x16_of(0.0f))), f32x16_of(0.0f), alu21);
        float val338 = *(data5+(alu7+7ll));
        // the line above, 16 times in all
        f32x16 alu22 = (((acc14*val32)+val33)+(f32x16){val338, val339, val340, val341, val342, val343, val344, val345, val346, val347, val348, val349, val350, val351, val352, val353});
        *(f32x16u *)(local1+224) = select_f32x16(((alu22 < f32x16_of(0.0f)) | (alu22 == f32x16_of(0.0f))), f32x16_of(0.0f), alu22);
        float val354 = *(data5+(alu7+50183ll));
        // the line above, 16 times in all
        f32x16 alu23 = (((acc15*val34)+val35)+(f32x16){val354, val355, val356, val357, val358, val359, val360, val361, val362, val363, val364, val365, val366, val367, val368, val369});
        *(f32x16u *)(local1+240) = select_f32x16(((alu23 < f32x16_of(0.0f)) | (alu23 == f32x16_of(0.0f))), f32x16_of(0.0f), alu23);
        for (int i10 = 0; i10 < 2; i10++) {
          for (int i11 = 0; i11 < 16; i11++) {
            for (int i12 = 0; i12 < 8; i12++) {
              float val370 = *(local1+(((i10*16)+i11)+(i12*32)));
              *(data0+(((alu7+(i10*50176))+(i11*3136))+i12)) = val370;
            }
          }
        }
      }
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], bufs[5], thread);
}
