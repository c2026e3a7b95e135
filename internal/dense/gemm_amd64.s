//go:build !openblas

#include "textflag.h"

// func addProduct(k int, a, b *float64, ldb int, c *float64, ldc int)
//
// Y0 to Y7 hold the 4×8 entries of c, Y8 and Y9 a row of b, Y10 one entry of a.
TEXT ·addProduct(SB), NOSPLIT, $0-48
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ ldb+24(FP), R8
	MOVQ c+32(FP), R9
	MOVQ ldc+40(FP), R10
	SHLQ $3, R8
	SHLQ $3, R10
	LEAQ (R9)(R10*1), R11
	LEAQ (R11)(R10*1), R12
	LEAQ (R12)(R10*1), R13

	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD (R11), Y2
	VMOVUPD 32(R11), Y3
	VMOVUPD (R12), Y4
	VMOVUPD 32(R12), Y5
	VMOVUPD (R13), Y6
	VMOVUPD 32(R13), Y7

next:
	VMOVUPD (DI), Y8
	VMOVUPD 32(DI), Y9

	VBROADCASTSD (SI), Y10
	VMULPD       Y8, Y10, Y11
	VMULPD       Y9, Y10, Y12
	VADDPD       Y11, Y0, Y0
	VADDPD       Y12, Y1, Y1

	VBROADCASTSD 8(SI), Y10
	VMULPD       Y8, Y10, Y13
	VMULPD       Y9, Y10, Y14
	VADDPD       Y13, Y2, Y2
	VADDPD       Y14, Y3, Y3

	VBROADCASTSD 16(SI), Y10
	VMULPD       Y8, Y10, Y11
	VMULPD       Y9, Y10, Y12
	VADDPD       Y11, Y4, Y4
	VADDPD       Y12, Y5, Y5

	VBROADCASTSD 24(SI), Y10
	VMULPD       Y8, Y10, Y13
	VMULPD       Y9, Y10, Y14
	VADDPD       Y13, Y6, Y6
	VADDPD       Y14, Y7, Y7

	ADDQ $32, SI
	ADDQ R8, DI
	DECQ CX
	JNZ  next

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

// func dots(k int, a *float64, lda int, b *float64, ldb int, to *[8]float64)
//
// Y0 to Y7 hold the sums of 4×2 dot products, each in four lanes, Y8 and Y9 entries of two rows of b, Y10 those of a row of a.
TEXT ·dots(SB), NOSPLIT, $0-48
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ lda+16(FP), R8
	MOVQ b+24(FP), DI
	MOVQ ldb+32(FP), R9
	MOVQ to+40(FP), DX
	SHLQ $3, R8
	LEAQ (SI)(R8*1), R11
	LEAQ (R11)(R8*1), R12
	LEAQ (R12)(R8*1), R13
	LEAQ (DI)(R9*8), R9

	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

	SUBQ $4, CX
	JL   rest

four:
	VMOVUPD (DI), Y8
	VMOVUPD (R9), Y9
	VMOVUPD (SI), Y10
	VMULPD  Y8, Y10, Y11
	VMULPD  Y9, Y10, Y12
	VADDPD  Y11, Y0, Y0
	VADDPD  Y12, Y1, Y1
	VMOVUPD (R11), Y10
	VMULPD  Y8, Y10, Y13
	VMULPD  Y9, Y10, Y14
	VADDPD  Y13, Y2, Y2
	VADDPD  Y14, Y3, Y3
	VMOVUPD (R12), Y10
	VMULPD  Y8, Y10, Y11
	VMULPD  Y9, Y10, Y12
	VADDPD  Y11, Y4, Y4
	VADDPD  Y12, Y5, Y5
	VMOVUPD (R13), Y10
	VMULPD  Y8, Y10, Y13
	VMULPD  Y9, Y10, Y14
	VADDPD  Y13, Y6, Y6
	VADDPD  Y14, Y7, Y7
	ADDQ $32, SI
	ADDQ $32, R11
	ADDQ $32, R12
	ADDQ $32, R13
	ADDQ $32, DI
	ADDQ $32, R9
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JLE  sum

one: // the upper lanes are zeros
	VMOVSD  (DI), X8
	VMOVSD  (R9), X9
	VMOVSD  (SI), X10
	VMULPD  Y8, Y10, Y11
	VMULPD  Y9, Y10, Y12
	VADDPD  Y11, Y0, Y0
	VADDPD  Y12, Y1, Y1
	VMOVSD  (R11), X10
	VMULPD  Y8, Y10, Y13
	VMULPD  Y9, Y10, Y14
	VADDPD  Y13, Y2, Y2
	VADDPD  Y14, Y3, Y3
	VMOVSD  (R12), X10
	VMULPD  Y8, Y10, Y11
	VMULPD  Y9, Y10, Y12
	VADDPD  Y11, Y4, Y4
	VADDPD  Y12, Y5, Y5
	VMOVSD  (R13), X10
	VMULPD  Y8, Y10, Y13
	VMULPD  Y9, Y10, Y14
	VADDPD  Y13, Y6, Y6
	VADDPD  Y14, Y7, Y7
	ADDQ $8, SI
	ADDQ $8, R11
	ADDQ $8, R12
	ADDQ $8, R13
	ADDQ $8, DI
	ADDQ $8, R9
	DECQ CX
	JNZ  one

sum: // lanes 0 and 2, 1 and 3, then both
	VEXTRACTF128 $1, Y0, X8
	VEXTRACTF128 $1, Y1, X9
	VADDPD       X8, X0, X0
	VADDPD       X9, X1, X1
	VHADDPD      X1, X0, X0
	VMOVUPD      X0, 0(DX)
	VEXTRACTF128 $1, Y2, X8
	VEXTRACTF128 $1, Y3, X9
	VADDPD       X8, X2, X2
	VADDPD       X9, X3, X3
	VHADDPD      X3, X2, X2
	VMOVUPD      X2, 16(DX)
	VEXTRACTF128 $1, Y4, X8
	VEXTRACTF128 $1, Y5, X9
	VADDPD       X8, X4, X4
	VADDPD       X9, X5, X5
	VHADDPD      X5, X4, X4
	VMOVUPD      X4, 32(DX)
	VEXTRACTF128 $1, Y6, X8
	VEXTRACTF128 $1, Y7, X9
	VADDPD       X8, X6, X6
	VADDPD       X9, X7, X7
	VHADDPD      X7, X6, X6
	VMOVUPD      X6, 48(DX)
	VZEROUPPER
	RET

// func reflect(n int, k float64, a, b, x, y *float64)
//
// Y0 holds k four times, Y1 and Y2 entries of x and y.
TEXT ·reflect(SB), NOSPLIT, $0-48
	MOVQ         n+0(FP), CX
	VBROADCASTSD k+8(FP), Y0
	MOVQ         a+16(FP), SI
	MOVQ         b+24(FP), DI
	MOVQ         x+32(FP), R8
	MOVQ         y+40(FP), R9
	SUBQ         $4, CX
	JL           last

four:
	VMOVUPD (R8), Y1
	VMOVUPD (R9), Y2
	VMULPD  Y2, Y0, Y3
	VMULPD  Y1, Y0, Y4
	VADDPD  Y1, Y3, Y3
	VADDPD  Y2, Y4, Y4
	VMOVUPD Y3, (SI)
	VMOVUPD Y4, (DI)
	ADDQ    $32, R8
	ADDQ    $32, R9
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, CX
	JGE     four

last:
	ADDQ $4, CX
	JLE  end

one:
	VMOVSD (R8), X1
	VMOVSD (R9), X2
	VMULSD X2, X0, X3
	VMULSD X1, X0, X4
	VADDSD X1, X3, X3
	VADDSD X2, X4, X4
	VMOVSD X3, (SI)
	VMOVSD X4, (DI)
	ADDQ   $8, R8
	ADDQ   $8, R9
	ADDQ   $8, SI
	ADDQ   $8, DI
	DECQ   CX
	JNZ    one

end:
	VZEROUPPER
	RET
