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
  float local0[9216] __attribute__((aligned(64)));
  for (int i1_0 = 0; i1_0 < 25; i1_0++) {
    int alu0 = (i1_0*(-2));
    int alu1 = (atleast_i32(alu0, (-47))*(-1));
    for (int i4 = 0; i4 < 288; i4++) {
      int alu2 = (i4*32);
      int alu3 = ((i4*784)+alu1);
      float val0 = *(data1+alu3);
      float val1 = *(data1+(alu3+49ll));
      // the line above, 15 times in all
      *(f32x16u *)(local0+alu2) = (f32x16){val0, val1, val2, val3, val4, val5, val6, val7, val8, val9, val10, val11, val12, val13, val14, val15};
      float val16 = *(data1+(alu3+1ll));
      // the line above, 16 times in all
      *(f32x16u *)(local0+(alu2+16ll)) = (f32x16){val16, val17, val18, val19, val20, val21, val22, val23, val24, val25, val26, val27, val28, val29, val30, val31};
    }
    for (int i0_0 = 0; i0_0 < 64; i0_0++) {
      f32x16 acc0 = f32x16_of(0.0f);
      // the line above, 16 times in all
      for (int r3_0_0 = 0; r3_0_0 < 36; r3_0_0++) {
        int alu4 = (r3_0_0*256);
        f32x16 val32 = *(const f32x16u *)(local0+alu4);
        HOLD(val32);
        int alu5 = ((i0_0*36864)+(r3_0_0*128));
        f32x16 val33 = *(const f32x16u *)(data2+alu5);
        HOLD(val33);
        acc0 = fma_f32x16(val32, val33, acc0);
        f32x16 val34 = *(const f32x16u *)(local0+(alu4+16ll));
        HOLD(val34);
        acc1 = fma_f32x16(val34, val33, acc1);
        f32x16 val35 = *(const f32x16u *)(data2+(alu5+4608ll));
        HOLD(val35);
        acc2 = fma_f32x16(val32, val35, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val34, val41, acc15);
        f32x16 val42 = *(const f32x16u *)(local0+(alu4+32ll));
        HOLD(val42);
        f32x16 val43 = *(const f32x16u *)(data2+(alu5+16ll));
        HOLD(val43);
        acc0 = fma_f32x16(val42, val43, acc0);
        f32x16 val44 = *(const f32x16u *)(local0+(alu4+48ll));
        HOLD(val44);
        acc1 = fma_f32x16(val44, val43, acc1);
        f32x16 val45 = *(const f32x16u *)(data2+(alu5+4624ll));
        HOLD(val45);
        acc2 = fma_f32x16(val42, val45, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val44, val51, acc15);
        f32x16 val52 = *(const f32x16u *)(local0+(alu4+64ll));
        HOLD(val52);
        f32x16 val53 = *(const f32x16u *)(data2+(alu5+32ll));
        HOLD(val53);
        acc0 = fma_f32x16(val52, val53, acc0);
        f32x16 val54 = *(const f32x16u *)(local0+(alu4+80ll));
        HOLD(val54);
        acc1 = fma_f32x16(val54, val53, acc1);
        f32x16 val55 = *(const f32x16u *)(data2+(alu5+4640ll));
        HOLD(val55);
        acc2 = fma_f32x16(val52, val55, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val54, val61, acc15);
        f32x16 val62 = *(const f32x16u *)(local0+(alu4+96ll));
        HOLD(val62);
        f32x16 val63 = *(const f32x16u *)(data2+(alu5+48ll));
        HOLD(val63);
        acc0 = fma_f32x16(val62, val63, acc0);
        f32x16 val64 = *(const f32x16u *)(local0+(alu4+112ll));
        HOLD(val64);
        acc1 = fma_f32x16(val64, val63, acc1);
        f32x16 val65 = *(const f32x16u *)(data2+(alu5+4656ll));
        HOLD(val65);
        acc2 = fma_f32x16(val62, val65, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val64, val71, acc15);
        f32x16 val72 = *(const f32x16u *)(local0+(alu4+128ll));
        HOLD(val72);
        f32x16 val73 = *(const f32x16u *)(data2+(alu5+64ll));
        HOLD(val73);
        acc0 = fma_f32x16(val72, val73, acc0);
        f32x16 val74 = *(const f32x16u *)(local0+(alu4+144ll));
        HOLD(val74);
        acc1 = fma_f32x16(val74, val73, acc1);
        f32x16 val75 = *(const f32x16u *)(data2+(alu5+4672ll));
        HOLD(val75);
        acc2 = fma_f32x16(val72, val75, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val74, val81, acc15);
        f32x16 val82 = *(const f32x16u *)(local0+(alu4+160ll));
        HOLD(val82);
        f32x16 val83 = *(const f32x16u *)(data2+(alu5+80ll));
        HOLD(val83);
        acc0 = fma_f32x16(val82, val83, acc0);
        f32x16 val84 = *(const f32x16u *)(local0+(alu4+176ll));
        HOLD(val84);
        acc1 = fma_f32x16(val84, val83, acc1);
        f32x16 val85 = *(const f32x16u *)(data2+(alu5+4688ll));
        HOLD(val85);
        acc2 = fma_f32x16(val82, val85, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val84, val91, acc15);
        f32x16 val92 = *(const f32x16u *)(local0+(alu4+192ll));
        HOLD(val92);
        f32x16 val93 = *(const f32x16u *)(data2+(alu5+96ll));
        HOLD(val93);
        acc0 = fma_f32x16(val92, val93, acc0);
        f32x16 val94 = *(const f32x16u *)(local0+(alu4+208ll));
        HOLD(val94);
        acc1 = fma_f32x16(val94, val93, acc1);
        f32x16 val95 = *(const f32x16u *)(data2+(alu5+4704ll));
        HOLD(val95);
        acc2 = fma_f32x16(val92, val95, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val94, val101, acc15);
        f32x16 val102 = *(const f32x16u *)(local0+(alu4+224ll));
        HOLD(val102);
        f32x16 val103 = *(const f32x16u *)(data2+(alu5+112ll));
        HOLD(val103);
        acc0 = fma_f32x16(val102, val103, acc0);
        f32x16 val104 = *(const f32x16u *)(local0+(alu4+240ll));
        HOLD(val104);
        acc1 = fma_f32x16(val104, val103, acc1);
        f32x16 val105 = *(const f32x16u *)(data2+(alu5+4720ll));
        HOLD(val105);
        acc2 = fma_f32x16(val102, val105, acc2);
        // the 4 lines above, 7 times in all
        acc15 = fma_f32x16(val104, val111, acc15);
      }
      int alu6 = ((i0_0*392)+alu1);
      f32x8 alu7 = ((f32x8){acc0[0], acc0[1], acc0[2], acc0[3], acc0[4], acc0[5], acc0[6], acc0[7]}+(f32x8){acc0[8], acc0[9], acc0[10], acc0[11], acc0[12], acc0[13], acc0[14], acc0[15]});
      f32x4 alu8 = ((f32x4){alu7[0], alu7[1], alu7[2], alu7[3]}+(f32x4){alu7[4], alu7[5], alu7[6], alu7[7]});
      f32x2 alu9 = ((f32x2){alu8[0], alu8[1]}+(f32x2){alu8[2], alu8[3]});
      int alu10 = (i0_0*8);
      float val112 = *(data3+alu10);
      // the line above, 2 times in all
      float alu11 = (((alu9[0]+alu9[1])*val112)+val113);
      *(data0+alu6) = (((alu11<0.0f)|(alu11==0.0f)) ? 0.0f : alu11);
      f32x8 alu12 = ((f32x8){acc1[0], acc1[1], acc1[2], acc1[3], acc1[4], acc1[5], acc1[6], acc1[7]}+(f32x8){acc1[8], acc1[9], acc1[10], acc1[11], acc1[12], acc1[13], acc1[14], acc1[15]});
      f32x4 alu13 = ((f32x4){alu12[0], alu12[1], alu12[2], alu12[3]}+(f32x4){alu12[4], alu12[5], alu12[6], alu12[7]});
      f32x2 alu14 = ((f32x2){alu13[0], alu13[1]}+(f32x2){alu13[2], alu13[3]});
      float alu15 = (((alu14[0]+alu14[1])*val112)+val113);
      *(data0+(alu6+1ll)) = (((alu15<0.0f)|(alu15==0.0f)) ? 0.0f : alu15);
      f32x8 alu16 = ((f32x8){acc2[0], acc2[1], acc2[2], acc2[3], acc2[4], acc2[5], acc2[6], acc2[7]}+(f32x8){acc2[8], acc2[9], acc2[10], acc2[11], acc2[12], acc2[13], acc2[14], acc2[15]});
      f32x4 alu17 = ((f32x4){alu16[0], alu16[1], alu16[2], alu16[3]}+(f32x4){alu16[4], alu16[5], alu16[6], alu16[7]});
      f32x2 alu18 = ((f32x2){alu17[0], alu17[1]}+(f32x2){alu17[2], alu17[3]});
      int alu19 = (alu10+1);
      float val114 = *(data3+(alu10+1ll));
      // the line above, 2 times in all
      float alu20 = (((alu18[0]+alu18[1])*val114)+val115);
      *(data0+(alu6+49ll)) = (((alu20<0.0f)|(alu20==0.0f)) ? 0.0f : alu20);
      f32x8 alu21 = ((f32x8){acc3[0], acc3[1], acc3[2], acc3[3], acc3[4], acc3[5], acc3[6], acc3[7]}+(f32x8){acc3[8], acc3[9], acc3[10], acc3[11], acc3[12], acc3[13], acc3[14], acc3[15]});
      f32x4 alu22 = ((f32x4){alu21[0], alu21[1], alu21[2], alu21[3]}+(f32x4){alu21[4], alu21[5], alu21[6], alu21[7]});
      f32x2 alu23 = ((f32x2){alu22[0], alu22[1]}+(f32x2){alu22[2], alu22[3]});
      // the 5 lines above, 2 times in all
      int alu28 = (alu10+2);
      float val116 = *(data3+(alu10+2ll));
      // the line above, 2 times in all
      float alu29 = (((alu27[0]+alu27[1])*val116)+val117);
      *(data0+(alu6+98ll)) = (((alu29<0.0f)|(alu29==0.0f)) ? 0.0f : alu29);
      f32x8 alu30 = ((f32x8){acc5[0], acc5[1], acc5[2], acc5[3], acc5[4], acc5[5], acc5[6], acc5[7]}+(f32x8){acc5[8], acc5[9], acc5[10], acc5[11], acc5[12], acc5[13], acc5[14], acc5[15]});
      f32x4 alu31 = ((f32x4){alu30[0], alu30[1], alu30[2], alu30[3]}+(f32x4){alu30[4], alu30[5], alu30[6], alu30[7]});
      f32x2 alu32 = ((f32x2){alu31[0], alu31[1]}+(f32x2){alu31[2], alu31[3]});
      // the 5 lines above, 2 times in all
      int alu37 = (alu10+3);
      float val118 = *(data3+(alu10+3ll));
      // the line above, 2 times in all
      float alu38 = (((alu36[0]+alu36[1])*val118)+val119);
      *(data0+(alu6+147ll)) = (((alu38<0.0f)|(alu38==0.0f)) ? 0.0f : alu38);
      f32x8 alu39 = ((f32x8){acc7[0], acc7[1], acc7[2], acc7[3], acc7[4], acc7[5], acc7[6], acc7[7]}+(f32x8){acc7[8], acc7[9], acc7[10], acc7[11], acc7[12], acc7[13], acc7[14], acc7[15]});
      f32x4 alu40 = ((f32x4){alu39[0], alu39[1], alu39[2], alu39[3]}+(f32x4){alu39[4], alu39[5], alu39[6], alu39[7]});
      f32x2 alu41 = ((f32x2){alu40[0], alu40[1]}+(f32x2){alu40[2], alu40[3]});
      // the 5 lines above, 2 times in all
      int alu46 = (alu10+4);
      float val120 = *(data3+(alu10+4ll));
      // the line above, 2 times in all
      float alu47 = (((alu45[0]+alu45[1])*val120)+val121);
      *(data0+(alu6+196ll)) = (((alu47<0.0f)|(alu47==0.0f)) ? 0.0f : alu47);
      f32x8 alu48 = ((f32x8){acc9[0], acc9[1], acc9[2], acc9[3], acc9[4], acc9[5], acc9[6], acc9[7]}+(f32x8){acc9[8], acc9[9], acc9[10], acc9[11], acc9[12], acc9[13], acc9[14], acc9[15]});
      f32x4 alu49 = ((f32x4){alu48[0], alu48[1], alu48[2], alu48[3]}+(f32x4){alu48[4], alu48[5], alu48[6], alu48[7]});
      f32x2 alu50 = ((f32x2){alu49[0], alu49[1]}+(f32x2){alu49[2], alu49[3]});
      // the 5 lines above, 2 times in all
      int alu55 = (alu10+5);
      float val122 = *(data3+(alu10+5ll));
      // the line above, 2 times in all
      float alu56 = (((alu54[0]+alu54[1])*val122)+val123);
      *(data0+(alu6+245ll)) = (((alu56<0.0f)|(alu56==0.0f)) ? 0.0f : alu56);
      f32x8 alu57 = ((f32x8){acc11[0], acc11[1], acc11[2], acc11[3], acc11[4], acc11[5], acc11[6], acc11[7]}+(f32x8){acc11[8], acc11[9], acc11[10], acc11[11], acc11[12], acc11[13], acc11[14], acc11[15]});
      f32x4 alu58 = ((f32x4){alu57[0], alu57[1], alu57[2], alu57[3]}+(f32x4){alu57[4], alu57[5], alu57[6], alu57[7]});
      f32x2 alu59 = ((f32x2){alu58[0], alu58[1]}+(f32x2){alu58[2], alu58[3]});
      // the 5 lines above, 2 times in all
      int alu64 = (alu10+6);
      float val124 = *(data3+(alu10+6ll));
      // the line above, 2 times in all
      float alu65 = (((alu63[0]+alu63[1])*val124)+val125);
      *(data0+(alu6+294ll)) = (((alu65<0.0f)|(alu65==0.0f)) ? 0.0f : alu65);
      f32x8 alu66 = ((f32x8){acc13[0], acc13[1], acc13[2], acc13[3], acc13[4], acc13[5], acc13[6], acc13[7]}+(f32x8){acc13[8], acc13[9], acc13[10], acc13[11], acc13[12], acc13[13], acc13[14], acc13[15]});
      f32x4 alu67 = ((f32x4){alu66[0], alu66[1], alu66[2], alu66[3]}+(f32x4){alu66[4], alu66[5], alu66[6], alu66[7]});
      f32x2 alu68 = ((f32x2){alu67[0], alu67[1]}+(f32x2){alu67[2], alu67[3]});
      // the 5 lines above, 2 times in all
      int alu73 = (alu10+7);
      float val126 = *(data3+(alu10+7ll));
      // the line above, 2 times in all
      float alu74 = (((alu72[0]+alu72[1])*val126)+val127);
      *(data0+(alu6+343ll)) = (((alu74<0.0f)|(alu74==0.0f)) ? 0.0f : alu74);
      f32x8 alu75 = ((f32x8){acc15[0], acc15[1], acc15[2], acc15[3], acc15[4], acc15[5], acc15[6], acc15[7]}+(f32x8){acc15[8], acc15[9], acc15[10], acc15[11], acc15[12], acc15[13], acc15[14], acc15[15]});
      f32x4 alu76 = ((f32x4){alu75[0], alu75[1], alu75[2], alu75[3]}+(f32x4){alu75[4], alu75[5], alu75[6], alu75[7]});
      f32x2 alu77 = ((f32x2){alu76[0], alu76[1]}+(f32x2){alu76[2], alu76[3]});
      float alu78 = (((alu77[0]+alu77[1])*val126)+val127);
      *(data0+(alu6+344ll)) = (((alu78<0.0f)|(alu78==0.0f)) ? 0.0f : alu78);
    }
  }
}
void kernel(void *const *bufs, const long long *vals, long long thread) {
  kernel_body(bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], thread);
}
