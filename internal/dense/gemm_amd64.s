//go:build !openblas

#include "textflag.h"

// ARGUMENTS loads what every kernel of products is called with: CX is k, SI is at a, DI at b, whose rows are R8 bytes apart, R9, R11,
// R12 and R13 are at the four rows of c, AX at what is fetched ahead.
#define ARGUMENTS \
	MOVQ k+0(FP), CX; \
	MOVQ a+8(FP), SI; \
	MOVQ b+16(FP), DI; \
	MOVQ ldb+24(FP), R8; \
	MOVQ c+32(FP), R9; \
	MOVQ ldc+40(FP), R10; \
	MOVQ ahead+48(FP), AX; \
	SHLQ $3, R8; \
	SHLQ $3, R10; \
	LEAQ (R9)(R10*1), R11; \
	LEAQ (R11)(R10*1), R12; \
	LEAQ (R12)(R10*1), R13

// addProduct and addProductWide round each product, with t in between.
#define ADD(b, a, c, t) VMULPD b, a, t; VADDPD t, c, c
#define NARROW ·addProduct
#define WIDE ·addProductWide
#include "product_amd64.h"

// fuseProduct and fuseProductWide do not round the products.
#undef ADD
#undef NARROW
#undef WIDE
#define ADD(b, a, c, t) VFMADD231PD b, a, c
#define NARROW ·fuseProduct
#define WIDE ·fuseProductWide
#include "product_amd64.h"

// BROAD_STEP adds the products of 4 entries of a, at bytes from SI, and the row b.
#define BROAD_STEP(at, b) \
	VMOVUPD b, Y12; \
	VMOVUPD 32 b, Y13; \
	VMOVUPD 64 b, Y14; \
	VBROADCASTSD at+0(SI), Y15; \
	VFMADD231PD Y12, Y15, Y0; \
	VFMADD231PD Y13, Y15, Y1; \
	VFMADD231PD Y14, Y15, Y2; \
	VBROADCASTSD at+8(SI), Y15; \
	VFMADD231PD Y12, Y15, Y3; \
	VFMADD231PD Y13, Y15, Y4; \
	VFMADD231PD Y14, Y15, Y5; \
	VBROADCASTSD at+16(SI), Y15; \
	VFMADD231PD Y12, Y15, Y6; \
	VFMADD231PD Y13, Y15, Y7; \
	VFMADD231PD Y14, Y15, Y8; \
	VBROADCASTSD at+24(SI), Y15; \
	VFMADD231PD Y12, Y15, Y9; \
	VFMADD231PD Y13, Y15, Y10; \
	VFMADD231PD Y14, Y15, Y11

// func fuseProductBroad(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)
//
// As fuseProduct for 12 columns: Y0 to Y11 hold the entries of c, Y12 to Y14 a row of b, Y15 one entry of a.
TEXT ·fuseProductBroad(SB), NOSPLIT, $0-56
	ARGUMENTS
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 256(AX)
	PREFETCHT0 320(AX)
	PREFETCHT0 96(R9)
	PREFETCHT0 160(R9)
	PREFETCHT0 96(R11)
	PREFETCHT0 160(R11)
	PREFETCHT0 96(R12)
	PREFETCHT0 160(R12)
	PREFETCHT0 96(R13)
	PREFETCHT0 160(R13)

	VMOVUPD (R9), Y0
	VMOVUPD 32(R9), Y1
	VMOVUPD 64(R9), Y2
	VMOVUPD (R11), Y3
	VMOVUPD 32(R11), Y4
	VMOVUPD 64(R11), Y5
	VMOVUPD (R12), Y6
	VMOVUPD 32(R12), Y7
	VMOVUPD 64(R12), Y8
	VMOVUPD (R13), Y9
	VMOVUPD 32(R13), Y10
	VMOVUPD 64(R13), Y11

	LEAQ (R8)(R8*2), R10
	SUBQ $4, CX
	JL   rest

four:
	BROAD_STEP(0, (DI))
	BROAD_STEP(32, (DI)(R8*1))
	BROAD_STEP(64, (DI)(R8*2))
	BROAD_STEP(96, (DI)(R10*1))
	ADDQ $128, SI
	LEAQ (DI)(R8*4), DI
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JZ   end

one:
	BROAD_STEP(0, (DI))
	ADDQ $32, SI
	ADDQ R8, DI
	DECQ CX
	JNZ  one

end:
	VMOVUPD Y0, (R9)
	VMOVUPD Y1, 32(R9)
	VMOVUPD Y2, 64(R9)
	VMOVUPD Y3, (R11)
	VMOVUPD Y4, 32(R11)
	VMOVUPD Y5, 64(R11)
	VMOVUPD Y6, (R12)
	VMOVUPD Y7, 32(R12)
	VMOVUPD Y8, 64(R12)
	VMOVUPD Y9, (R13)
	VMOVUPD Y10, 32(R13)
	VMOVUPD Y11, 64(R13)
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

// func addDotsWide(k int, alpha float64, a *float64, lda int, b *float64, ldb int, c *float64, ldc int)
//
// Z0 to Z7 hold the sums of 4×4 dot products, each in four lanes, those with two rows of b side by side; Z8 and Z9 hold entries
// of four rows of b, Z10 those of a row of a, twice.
TEXT ·addDotsWide(SB), NOSPLIT, $0-64
	MOVQ k+0(FP), CX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R8
	MOVQ b+32(FP), DI
	MOVQ ldb+40(FP), R9
	MOVQ c+48(FP), DX
	MOVQ ldc+56(FP), R10
	SHLQ $3, R8
	SHLQ $3, R9
	SHLQ $3, R10
	LEAQ (SI)(R8*1), R11
	LEAQ (R11)(R8*1), R12
	LEAQ (R12)(R8*1), R13
	LEAQ (DI)(R9*2), AX
	LEAQ (AX)(R9*1), BX
	LEAQ (DI)(R9*1), R9

	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7

	SUBQ $4, CX
	JL   rest

four:
	VMOVUPD         (DI), Y8
	VMOVUPD         (AX), Y9
	VINSERTF64X4    $1, (R9), Z8, Z8
	VINSERTF64X4    $1, (BX), Z9, Z9
	VBROADCASTF64X4 (SI), Z10
	VMULPD          Z8, Z10, Z11
	VMULPD          Z9, Z10, Z12
	VADDPD          Z11, Z0, Z0
	VADDPD          Z12, Z4, Z4
	VBROADCASTF64X4 (R11), Z10
	VMULPD          Z8, Z10, Z13
	VMULPD          Z9, Z10, Z14
	VADDPD          Z13, Z1, Z1
	VADDPD          Z14, Z5, Z5
	VBROADCASTF64X4 (R12), Z10
	VMULPD          Z8, Z10, Z11
	VMULPD          Z9, Z10, Z12
	VADDPD          Z11, Z2, Z2
	VADDPD          Z12, Z6, Z6
	VBROADCASTF64X4 (R13), Z10
	VMULPD          Z8, Z10, Z13
	VMULPD          Z9, Z10, Z14
	VADDPD          Z13, Z3, Z3
	VADDPD          Z14, Z7, Z7
	ADDQ $32, SI
	ADDQ $32, R11
	ADDQ $32, R12
	ADDQ $32, R13
	ADDQ $32, DI
	ADDQ $32, R9
	ADDQ $32, AX
	ADDQ $32, BX
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX
	JLE  sum

one: // the upper lanes are zeros
	VMOVSD       (DI), X8
	VMOVSD       (R9), X10
	VINSERTF64X4 $1, Y10, Z8, Z8
	VMOVSD       (AX), X9
	VMOVSD       (BX), X10
	VINSERTF64X4 $1, Y10, Z9, Z9
	VMOVSD       (SI), X10
	VINSERTF64X4 $1, Y10, Z10, Z10
	VMULPD       Z8, Z10, Z11
	VMULPD       Z9, Z10, Z12
	VADDPD       Z11, Z0, Z0
	VADDPD       Z12, Z4, Z4
	VMOVSD       (R11), X10
	VINSERTF64X4 $1, Y10, Z10, Z10
	VMULPD       Z8, Z10, Z13
	VMULPD       Z9, Z10, Z14
	VADDPD       Z13, Z1, Z1
	VADDPD       Z14, Z5, Z5
	VMOVSD       (R12), X10
	VINSERTF64X4 $1, Y10, Z10, Z10
	VMULPD       Z8, Z10, Z11
	VMULPD       Z9, Z10, Z12
	VADDPD       Z11, Z2, Z2
	VADDPD       Z12, Z6, Z6
	VMOVSD       (R13), X10
	VINSERTF64X4 $1, Y10, Z10, Z10
	VMULPD       Z8, Z10, Z13
	VMULPD       Z9, Z10, Z14
	VADDPD       Z13, Z3, Z3
	VADDPD       Z14, Z7, Z7
	ADDQ $8, SI
	ADDQ $8, R11
	ADDQ $8, R12
	ADDQ $8, R13
	ADDQ $8, DI
	ADDQ $8, R9
	ADDQ $8, AX
	ADDQ $8, BX
	DECQ CX
	JNZ  one

sum: // lanes 0 and 2, 1 and 3: of a row of a with four rows of b
	VSHUFF64X2 $0x88, Z4, Z0, Z8
	VSHUFF64X2 $0xdd, Z4, Z0, Z9
	VADDPD     Z8, Z9, Z0
	VSHUFF64X2 $0x88, Z5, Z1, Z8
	VSHUFF64X2 $0xdd, Z5, Z1, Z9
	VADDPD     Z8, Z9, Z1
	VSHUFF64X2 $0x88, Z6, Z2, Z8
	VSHUFF64X2 $0xdd, Z6, Z2, Z9
	VADDPD     Z8, Z9, Z2
	VSHUFF64X2 $0x88, Z7, Z3, Z8
	VSHUFF64X2 $0xdd, Z7, Z3, Z9
	VADDPD     Z8, Z9, Z3

	// then both: of two rows of a by turns, which are put side by side
	VMOVDQU64    ·rowByRow(SB), Z10
	VBROADCASTSD alpha+8(FP), Z11
	VUNPCKLPD    Z1, Z0, Z8
	VUNPCKHPD    Z1, Z0, Z9
	VADDPD       Z8, Z9, Z8
	VPERMPD      Z8, Z10, Z8
	VMULPD       Z8, Z11, Z8
	VADDPD       (DX), Y8, Y9
	VMOVUPD      Y9, (DX)
	ADDQ         R10, DX
	VEXTRACTF64X4 $1, Z8, Y8
	VADDPD       (DX), Y8, Y8
	VMOVUPD      Y8, (DX)
	ADDQ         R10, DX
	VUNPCKLPD    Z3, Z2, Z8
	VUNPCKHPD    Z3, Z2, Z9
	VADDPD       Z8, Z9, Z8
	VPERMPD      Z8, Z10, Z8
	VMULPD       Z8, Z11, Z8
	VADDPD       (DX), Y8, Y9
	VMOVUPD      Y9, (DX)
	ADDQ         R10, DX
	VEXTRACTF64X4 $1, Z8, Y8
	VADDPD       (DX), Y8, Y8
	VMOVUPD      Y8, (DX)
	VZEROUPPER
	RET

DATA ·rowByRow+0(SB)/8, $0
DATA ·rowByRow+8(SB)/8, $2
DATA ·rowByRow+16(SB)/8, $4
DATA ·rowByRow+24(SB)/8, $6
DATA ·rowByRow+32(SB)/8, $1
DATA ·rowByRow+40(SB)/8, $3
DATA ·rowByRow+48(SB)/8, $5
DATA ·rowByRow+56(SB)/8, $7
GLOBL ·rowByRow(SB), RODATA|NOPTR, $64

// func packTransposed(k, panels int, alpha float64, a *float64, lda int, to *float64)
//
// SI and DI go along a row of a and through the panels.
TEXT ·packTransposed(SB), NOSPLIT, $0-48
	MOVQ         k+0(FP), CX
	MOVQ         panels+8(FP), DX
	VBROADCASTSD alpha+16(FP), Y0
	MOVQ         a+24(FP), R9
	MOVQ         lda+32(FP), R8
	MOVQ         to+40(FP), R10
	MOVQ         CX, R11
	SHLQ         $3, R8
	SHLQ         $5, R11

row:
	MOVQ R9, SI
	MOVQ R10, DI
	MOVQ DX, AX

next:
	VMULPD  (SI), Y0, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, SI
	ADDQ    R11, DI
	DECQ    AX
	JNZ     next
	ADDQ    R8, R9
	ADDQ    $32, R10
	DECQ    CX
	JNZ     row
	VZEROUPPER
	RET

// func transposeFour(k int, alpha float64, a *float64, lda int, to *float64, ldto int)
//
// Y1 to Y4 hold four entries of each row, then each column.
TEXT ·transposeFour(SB), NOSPLIT, $0-48
	MOVQ         k+0(FP), CX
	VBROADCASTSD alpha+8(FP), Y0
	MOVQ         a+16(FP), SI
	MOVQ         lda+24(FP), R8
	MOVQ         to+32(FP), DI
	MOVQ         ldto+40(FP), R9
	SHLQ         $3, R8
	SHLQ         $3, R9
	LEAQ         (SI)(R8*1), R11
	LEAQ         (R11)(R8*1), R12
	LEAQ         (R12)(R8*1), R13
	LEAQ         (R9)(R9*2), R10

four:
	PREFETCHT0 (SI)(R8*4)
	PREFETCHT0 (R11)(R8*4)
	PREFETCHT0 (R12)(R8*4)
	PREFETCHT0 (R13)(R8*4)
	VMULPD     (SI), Y0, Y1
	VMULPD     (R11), Y0, Y2
	VMULPD     (R12), Y0, Y3
	VMULPD     (R13), Y0, Y4
	VUNPCKLPD  Y2, Y1, Y5
	VUNPCKHPD  Y2, Y1, Y6
	VUNPCKLPD  Y4, Y3, Y7
	VUNPCKHPD  Y4, Y3, Y8
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x20, Y8, Y6, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VPERM2F128 $0x31, Y8, Y6, Y4
	VMOVUPD    Y1, (DI)
	VMOVUPD    Y2, (DI)(R9*1)
	VMOVUPD    Y3, (DI)(R9*2)
	VMOVUPD    Y4, (DI)(R10*1)
	ADDQ       $32, SI
	ADDQ       $32, R11
	ADDQ       $32, R12
	ADDQ       $32, R13
	LEAQ       (DI)(R9*4), DI
	SUBQ       $4, CX
	JG         four
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
