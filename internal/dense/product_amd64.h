// The two kernels of products. gemm_amd64.s includes this file twice, with two definitions of ADD(b, a, c, t), which adds a·b to c
// and may use t. What the processor does not foresee they fetch into the cache: the entries of c to the right, and 4 lines at ahead,
// the WIDE one 8, a share of the matrix that b comes from in the next product. Both may lie outside of any memory.

// NARROW_STEP adds the products of 4 entries of a, at bytes from SI, and the row b.
#ifndef NARROW_STEP
#define NARROW_STEP(at, b) \
	VMOVUPD b, Y8; \
	VMOVUPD 32 b, Y9; \
	VBROADCASTSD at+0(SI), Y10; \
	ADD(Y8, Y10, Y0, Y11); \
	ADD(Y9, Y10, Y1, Y12); \
	VBROADCASTSD at+8(SI), Y10; \
	ADD(Y8, Y10, Y2, Y13); \
	ADD(Y9, Y10, Y3, Y14); \
	VBROADCASTSD at+16(SI), Y10; \
	ADD(Y8, Y10, Y4, Y11); \
	ADD(Y9, Y10, Y5, Y12); \
	VBROADCASTSD at+24(SI), Y10; \
	ADD(Y8, Y10, Y6, Y13); \
	ADD(Y9, Y10, Y7, Y14)
#endif

// func NARROW(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)
//
// Y0 to Y7 hold the 4×8 entries of c, Y8 and Y9 a row of b, Y10 one entry of a.
TEXT NARROW(SB), NOSPLIT, $0-56
	ARGUMENTS
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 64(R9)
	PREFETCHT0 64(R11)
	PREFETCHT0 64(R12)
	PREFETCHT0 64(R13)

	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD (R11), Y2
	VMOVUPD 32(R11), Y3
	VMOVUPD (R12), Y4
	VMOVUPD 32(R12), Y5
	VMOVUPD (R13), Y6
	VMOVUPD 32(R13), Y7

	LEAQ (R8)(R8*2), R10
	SUBQ $4, CX
	JL   rest

four:
	NARROW_STEP(0, (DI))
	NARROW_STEP(32, (DI)(R8*1))
	NARROW_STEP(64, (DI)(R8*2))
	NARROW_STEP(96, (DI)(R10*1))
	ADDQ $128, SI
	LEAQ (DI)(R8*4), DI
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   end

one:
	NARROW_STEP(0, (DI))
	ADDQ $32, SI
	ADDQ R8, DI
	DECQ CX
	JNZ  one

end:
	VMOVUPD Y0, (R9)
	VMOVUPD Y1, 32(R9)
	VMOVUPD Y2, (R11)
	VMOVUPD Y3, 32(R11)
	VMOVUPD Y4, (R12)
	VMOVUPD Y5, 32(R12)
	VMOVUPD Y6, (R13)
	VMOVUPD Y7, 32(R13)
	VZEROUPPER
	RET

// func WIDE(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)
//
// Z0 to Z7 hold the 4×16 entries of c, Z8 and Z9 a row of b, Z10 one entry of a.
TEXT WIDE(SB), NOSPLIT, $0-56
	ARGUMENTS
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 256(AX)
	PREFETCHT0 320(AX)
	PREFETCHT0 384(AX)
	PREFETCHT0 448(AX)
	PREFETCHT0 128(R9)
	PREFETCHT0 192(R9)
	PREFETCHT0 128(R11)
	PREFETCHT0 192(R11)
	PREFETCHT0 128(R12)
	PREFETCHT0 192(R12)
	PREFETCHT0 128(R13)
	PREFETCHT0 192(R13)

	VMOVUPD (R9), Z0
	VMOVUPD 64(R9), Z1
	VMOVUPD (R11), Z2
	VMOVUPD 64(R11), Z3
	VMOVUPD (R12), Z4
	VMOVUPD 64(R12), Z5
	VMOVUPD (R13), Z6
	VMOVUPD 64(R13), Z7

next:
	VMOVUPD (DI), Z8
	VMOVUPD 64(DI), Z9

	VBROADCASTSD (SI), Z10
	ADD(Z8, Z10, Z0, Z11)
	ADD(Z9, Z10, Z1, Z12)

	VBROADCASTSD 8(SI), Z10
	ADD(Z8, Z10, Z2, Z13)
	ADD(Z9, Z10, Z3, Z14)

	VBROADCASTSD 16(SI), Z10
	ADD(Z8, Z10, Z4, Z11)
	ADD(Z9, Z10, Z5, Z12)

	VBROADCASTSD 24(SI), Z10
	ADD(Z8, Z10, Z6, Z13)
	ADD(Z9, Z10, Z7, Z14)

	ADDQ $32, SI
	ADDQ R8, DI
	DECQ CX
	JNZ  next

	VMOVUPD Z0, (R9)
	VMOVUPD Z1, 64(R9)
	VMOVUPD Z2, (R11)
	VMOVUPD Z3, 64(R11)
	VMOVUPD Z4, (R12)
	VMOVUPD Z5, 64(R12)
	VMOVUPD Z6, (R13)
	VMOVUPD Z7, 64(R13)
	VZEROUPPER
	RET
