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
    for (int i10 = 0; i10 < 4; i10++) {
      for (int i6 = 0; i6 < 64; i6++) {
        for (int i7 = 0; i7 < 3; i7++) {
          for (int i8 = 0; i8 < 3; i8++) {
            int alu0 = (((((i0_0*18432)+(i6*9))+(i7*3))+i8)+(i10*4608));
            float val0 = *(data2+alu0);
            float val1 = *(data2+(alu0+576ll));
            // the line above, 7 times in all
            *(f32x8u *)(local0+((((i6*288)+(i7*96))+(i8*32))+(i10*8))) = (f32x8){val0, val1, val2, val3, val4, val5, val6, val7};
          }
        }
      }
    }
    int alu1 = (i0_0*32);
    f32x16 val8 = *(const f32x16u *)(data3+alu1);
    // the line above, 2 times in all
    int alu2 = (alu1+16);
    f32x16 val10 = *(const f32x16u *)(data3+(alu1+16ll));
    // the line above, 2 times in all
    for (int i1 = 0; i1 < 56; i1++) {
      for (int i2_0 = 0; i2_0 < 7; i2_0++) {
        int alu3 = (i2_0*8);
        volatile f32x16 acc0 = f32x16_of(0.0f);
        // the line above, 16 times in all
        for (int r3_0 = 0; r3_0 < 2; r3_0++) {
          f32x16 acc16 = f32x16_of(0.0f);
          // the line above, 16 times in all
          for (int r3_1 = 0; r3_1 < 32; r3_1++) {
            int alu4 = ((((i1*58)+alu3)+(r3_0*107648))+(r3_1*3364));
            float val12 = *(data1+alu4);
            f32x16 val13 = f32x16_of(val12);
            int alu5 = ((r3_0*9216)+(r3_1*288));
            f32x16 val14 = *(const f32x16u *)(local0+alu5);
            HOLD(val14);
            acc16 = fma_f32x16(val13, val14, acc16);
            f32x16 val15 = *(const f32x16u *)(local0+(alu5+16ll));
            HOLD(val15);
            acc17 = fma_f32x16(val13, val15, acc17);
            float val16 = *(data1+(alu4+1ll));
            f32x16 val17 = f32x16_of(val16);
            acc18 = fma_f32x16(val17, val14, acc18);
            // the 4 lines above, 7 times in all
            acc31 = fma_f32x16(val29, val15, acc31);
            f32x16 val30 = *(const f32x16u *)(local0+(alu5+32ll));
            HOLD(val30);
            // the 3 lines above, 2 times in all
            acc17 = fma_f32x16(val17, val31, acc17);
            // the line above, 13 times in all
            float val32 = *(data1+(alu4+8ll));
            f32x16 val33 = f32x16_of(val32);
            acc30 = fma_f32x16(val33, val30, acc30);
            // the line above, 2 times in all
            f32x16 val34 = *(const f32x16u *)(local0+(alu5+64ll));
            HOLD(val34);
            acc16 = fma_f32x16(val19, val34, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val21, val34, acc18);
            // the line above, 12 times in all
            float val36 = *(data1+(alu4+9ll));
            f32x16 val37 = f32x16_of(val36);
            acc30 = fma_f32x16(val37, val34, acc30);
            // the line above, 2 times in all
            float val38 = *(data1+(alu4+58ll));
            f32x16 val39 = f32x16_of(val38);
            f32x16 val40 = *(const f32x16u *)(local0+(alu5+96ll));
            HOLD(val40);
            acc16 = fma_f32x16(val39, val40, acc16);
            // the 3 lines above, 2 times in all
            float val42 = *(data1+(alu4+59ll));
            f32x16 val43 = f32x16_of(val42);
            acc18 = fma_f32x16(val43, val40, acc18);
            acc19 = fma_f32x16(val43, val41, acc19);
            // the 4 lines above, 7 times in all
            f32x16 val56 = *(const f32x16u *)(local0+(alu5+128ll));
            HOLD(val56);
            acc16 = fma_f32x16(val43, val56, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val45, val56, acc18);
            // the line above, 12 times in all
            float val58 = *(data1+(alu4+66ll));
            f32x16 val59 = f32x16_of(val58);
            acc30 = fma_f32x16(val59, val56, acc30);
            // the line above, 2 times in all
            f32x16 val60 = *(const f32x16u *)(local0+(alu5+160ll));
            HOLD(val60);
            acc16 = fma_f32x16(val45, val60, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val47, val60, acc18);
            // the line above, 12 times in all
            float val62 = *(data1+(alu4+67ll));
            f32x16 val63 = f32x16_of(val62);
            acc30 = fma_f32x16(val63, val60, acc30);
            // the line above, 2 times in all
            float val64 = *(data1+(alu4+116ll));
            f32x16 val65 = f32x16_of(val64);
            f32x16 val66 = *(const f32x16u *)(local0+(alu5+192ll));
            HOLD(val66);
            acc16 = fma_f32x16(val65, val66, acc16);
            // the 3 lines above, 2 times in all
            float val68 = *(data1+(alu4+117ll));
            f32x16 val69 = f32x16_of(val68);
            acc18 = fma_f32x16(val69, val66, acc18);
            acc19 = fma_f32x16(val69, val67, acc19);
            // the 4 lines above, 7 times in all
            f32x16 val82 = *(const f32x16u *)(local0+(alu5+224ll));
            HOLD(val82);
            acc16 = fma_f32x16(val69, val82, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val71, val82, acc18);
            // the line above, 12 times in all
            float val84 = *(data1+(alu4+124ll));
            f32x16 val85 = f32x16_of(val84);
            acc30 = fma_f32x16(val85, val82, acc30);
            // the line above, 2 times in all
            f32x16 val86 = *(const f32x16u *)(local0+(alu5+256ll));
            HOLD(val86);
            acc16 = fma_f32x16(val71, val86, acc16);
            // the 3 lines above, 2 times in all
            acc18 = fma_f32x16(val73, val86, acc18);
            // the line above, 12 times in all
            float val88 = *(data1+(alu4+125ll));
            f32x16 val89 = f32x16_of(val88);
            acc30 = fma_f32x16(val89, val86, acc30);
            // the line above, 2 times in all
          }
          acc0 = (acc0+acc16);
          // the line above, 16 times in all
        }
        int alu6 = (((i0_0*100352)+(i1*56))+alu3);
        float val90 = *(data5+alu6);
        float val91 = *(data5+(alu6+3136ll));
        // the line above, 15 times in all
        f32x16 alu7 = (((acc0*val8)+val9)+(f32x16){val90, val91, val92, val93, val94, val95, val96, val97, val98, val99, val100, val101, val102, val103, val104, val105});
        *(f32x16u *)local1 = select_f32x16(((alu7 < f32x16_of(0.0f)) | (alu7 == f32x16_of(0.0f))), f32x16_of(0.0f), alu7);
        float val106 = *(data5+(alu6+50176ll));
        // the line above, 16 times in all
        f32x16 alu8 = (((acc1*val10)+val11)+(f32x16){val106, val107, val108, val109, val110, val111, val112, val113, val114, val115, val116, val117, val118, val119, val120, val121});
        *(f32x16u *)(local1+16) = select_f32x16(((alu8 < f32x16_of(0.0f)) | (alu8 == f32x16_of(0.0f))), f32x16_of(0.0f), alu8);
        float val122 = *(data5+(alu6+1ll));
        // the line above, 16 times in all
        f32x16 alu9 = (((acc2*val8)+val9)+(f32x16){val122, val123, val124, val125, val126, val127, val128, val129, val130, val131, val132, val133, val134, val135, val136, val137});
        *(f32x16u *)(local1+32) = select_f32x16(((alu9 < f32x16_of(0.0f)) | (alu9 == f32x16_of(0.0f))), f32x16_of(0.0f), alu9);
        float val138 = *(data5+(alu6+50177ll));
        // the line above, 16 times in all
        f32x16 alu10 = (((acc3*val10)+val11)+(f32x16){val138, val139, val140, val141, val142, val143, val144, val145, val146, val147, val148, val149, val150, val151, val152, val153});
        *(f32x16u *)(local1+48) = select_f32x16(((alu10 < f32x16_of(0.0f)) | (alu10 == f32x16_of(0.0f))), f32x16_of(0.0f), alu10);
        float val154 = *(data5+(alu6+2ll));
        // the line above, 16 times in all
        f32x16 alu11 = (((acc4*val8)+val9)+(f32x16){val154, val155, val156, val157, val158, val159, val160, val161, val162, val163, val164, val165, val166, val167, val168, val169});
        *(f32x16u *)(local1+64) = select_f32x16(((alu11 < f32x16_of(0.0f)) | (alu11 == f32x16_of(0.0f))), f32x16_of(0.0f), alu11);
        float val170 = *(data5+(alu6+50178ll));
        // the line above, 16 times in all
        f32x16 alu12 = (((acc5*val10)+val11)+(f32x16){val170, val171, val172, val173, val174, val175, val176, val177, val178, val179, val180, val181, val182, val183, val184, val185});
        *(f32x16u *)(local1+80) = select_f32x16(((alu12 < f32x16_of(0.0f)) | (alu12 == f32x16_of(0.0f))), f32x16_of(0.0f), alu12);
        float val186 = *(data5+(alu6+3ll));
        // the line above, 16 times in all
        f32x16 alu13 = (((acc6*val8)+val9)+(f32x16){val186, val187, val188, val189, val190, val191, val192, val193, val194, val195, val196, val197, val198, val199, val200, val201});
        *(f32x16u *)(local1+96) = select_f32x16(((alu13 < f32x16_of(0.0f)) | (alu13 == f32x16_of(0.0f))), f32x16_of(0.0f), alu13);
        float val202 = *(data5+(alu6+50179ll));
        // the line above, 16 times in all
        f32x16 alu14 = (((acc7*val10)+val11)+(f32x16){val202, val203, val204, val205, val206, val207, val208, val209, val210, val211, val212, val213, val214, val215, val216, val217});
        *(f32x16u *)(local1+112) = select_f32x16(((alu14 < f32x16_of(0.0f)) | (alu14 == f32x16_of(0.0f))), f32x16_of(0.0f), alu14);
        float val218 = *(data5+(alu6+4ll));
        // the line above, 16 times in all
        f32x16 alu15 = (((acc8*val8)+val9)+(f32x16){val218, val219, val220, val221, val222, val223, val224, val225, val226, val227, val228, val229, val230, val231, val232, val233});
        *(f32x16u *)(local1+128) = select_f32x16(((alu15 < f32x16_of(0.0f)) | (alu15 == f32x16_of(0.0f))), f32x16_of(0.0f), alu15);
        float val234 = *(data5+(alu6+50180ll));
        // the line above, 16 times in all
        f32x16 alu16 = (((acc9*val10)+val11)+(f32x16){val234, val235, val236, val237, val238, val239, val240, val241, val242, val243, val244, val245, val246, val247, val248, val249});
        *(f32x16u *)(local1+144) = select_f32x16(((alu16 < f32x16_of(0.0f)) | (alu16 == f32x16_of(0.0f))), f32x16_of(0.0f), alu16);
        float val250 = *(data5+(alu6+5ll));
        // the line above, 16 times in all
        f32x16 alu17 = (((acc10*val8)+val9)+(f32x16){val250, val251, val252, val253, val254, val255, val256, val257, val258, val259, val260, val261, val262, val263, val264, val265});
        *(f32x16u *)(local1+160) = select_f32x16(((alu17 < f32x16_of(0.0f)) | (alu17 == f32x16_of(0.0f))), f32x16_of(0.0f), alu17);
        float val266 = *(data5+(alu6+50181ll));
        // the line above, 16 times in all
        f32x16 alu18 = (((acc11*val10)+val11)+(f32x16){val266, val267, val268, val269, val270, val271, val272, val273, val274, val275, val276, val277, val278, val279, val280, val281});
        *(f32x16u *)(local1+176) = select_f32x16(((alu18 < f32x16_of(0.0f)) | (alu18 == f32x16_of(0.0f))), f32x16_of(0.0f), alu18);
        float val282 = *(data5+(alu6+6ll));
        // the line above, 16 times in all
        f32x16 alu19 = (((acc12*val8)+val9)+(f32x16){val282, val283, val284, val285, val286, val287, val288, val289, val290, val291, val292, val293, val294, val295, val296, val297});
        *(f32x16u *)(local1+192) = select_f32x16(((alu19 < f32x16_of(0.0f)) | (alu19 == f32x16_of(0.0f))), f32x16_of(0.0f), alu19);
        float val298 = *(data5+(alu6+50182ll));
        // the line above, 16 times in all
        f32x16 alu20 = (((acc13*val10)+val11)+(f32x16){val298, val299, val300, val301, val302, val303, val304, val305, val306, val307, val308, val309, val310, val311, val312, val313});
        *(f32x16u *)(local1+208) = select_f32x16(((alu20 < f32x16_of(0.0f)) | (alu20 == f32x16_of(0.0f))), f32x16_of(0.0f), alu20);
        float val314 = *(data5+(alu6+7ll));
        // the line above, 16 times in all
        f32x16 alu21 = (((acc14*val8)+val9)+(f32x16){val314, val315, val316, val317, val318, val319, val320, val321, val322, val323, val324, val325, val326, val327, val328, val329});
        *(f32x16u *)(local1+224) = select_f32x16(((alu21 < f32x16_of(0.0f)) | (alu21 == f32x16_of(0.0f))), f32x16_of(0.0f), alu21);
        float val330 = *(data5+(alu6+50183ll));
        // the line above, 16 times in all
        f32x16 alu22 = (((acc15*val10)+val11)+(f32x16){val330, val331, val332, val333, val334, val335, val336, val337, val338, val339, val340, val341, val342, val343, val344, val345});
        *(f32x16u *)(local1+240) = select_f32x16(((alu22 < f32x16_of(0.0f)) | (alu22 == f32x16_of(0.0f))), f32x16_of(0.0f), alu22);
        for (int i11 = 0; i11 < 2; i11++) {
          for (int i12 = 0; i12 < 16; i12++) {
            for (int i13 = 0; i13 < 8; i13++) {
              float val346 = *(local1+(((i11*16)+i12)+(i13*32)));
              *(data0+(((alu6+(i11*50176))+(i12*3136))+i13)) = val346;
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
