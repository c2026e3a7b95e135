#include "go_asm.h"
#include "textflag.h"

// func expVector(fours int, dst, x, constants *float64, table *uint64) (done int)
//
// Y0 to Y9 hold the constants: lowest, highest, perUnit, shift, c1, c2, p5, p4, p3 and p2. Y15 is ones where x ≥ lowest.
TEXT ·expVector(SB), NOSPLIT, $0-48
	MOVQ fours+0(FP), CX
	MOVQ dst+8(FP), DI
	MOVQ x+16(FP), SI
	MOVQ constants+24(FP), AX
	MOVQ table+32(FP), DX
	XORQ BX, BX

	VBROADCASTSD (AX), Y0
	VBROADCASTSD 8(AX), Y1
	VBROADCASTSD 16(AX), Y2
	VBROADCASTSD 24(AX), Y3
	VBROADCASTSD 32(AX), Y4
	VBROADCASTSD 40(AX), Y5
	VBROADCASTSD 48(AX), Y6
	VBROADCASTSD 56(AX), Y7
	VBROADCASTSD 64(AX), Y8
	VBROADCASTSD 72(AX), Y9

next:
	VMOVUPD   (SI)(BX*8), Y10
	VCMPPD    $2, Y1, Y10, Y11    // x ≤ highest, and no NaN
	VMOVMSKPD Y11, AX
	CMPL      AX, $15
	JNE       end
	VCMPPD    $13, Y0, Y10, Y15   // x ≥ lowest
	VMAXPD    Y0, Y10, Y10

	VMULPD Y2, Y10, Y11
	VADDPD Y3, Y11, Y11           // the low bits are n
	VSUBPD Y3, Y11, Y12           // n as a number, t
	VMULPD Y4, Y12, Y13
	VMULPD Y5, Y12, Y12
	VSUBPD Y13, Y10, Y10
	VSUBPD Y12, Y10, Y10          // r

	VPSLLQ     $(64-const_bits), Y11, Y12
	VPSRLQ     $(64-const_bits), Y12, Y12      // n mod size
	VPCMPEQQ   Y13, Y13, Y13
	VGATHERQPD Y13, (DX)(Y12*8), Y14
	VPSLLQ     $(52-const_bits), Y11, Y11
	VPADDQ     Y11, Y14, Y14      // s

	VMULPD Y6, Y10, Y11
	VADDPD Y7, Y11, Y11
	VMULPD Y11, Y10, Y11
	VADDPD Y8, Y11, Y11
	VMULPD Y11, Y10, Y11
	VADDPD Y9, Y11, Y11
	VMULPD Y10, Y10, Y12
	VMULPD Y11, Y12, Y11
	VADDPD Y11, Y10, Y11          // p
	VMULPD Y11, Y14, Y11
	VADDPD Y11, Y14, Y11
	VANDPD Y15, Y11, Y11
	VMOVUPD Y11, (DI)(BX*8)
	ADDQ   $4, BX
	DECQ   CX
	JNZ    next

end:
	VZEROUPPER
	MOVQ BX, done+40(FP)
	RET

// func addSquaresVector(fours int, s *float64, x float64, from *float64)
TEXT ·addSquaresVector(SB), NOSPLIT, $0-32
	MOVQ         fours+0(FP), CX
	MOVQ         s+8(FP), DI
	VBROADCASTSD x+16(FP), Y0
	MOVQ         from+24(FP), SI

next:
	VSUBPD  (SI), Y0, Y1
	VMULPD  Y1, Y1, Y1
	VADDPD  (DI), Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     next
	VZEROUPPER
	RET

// func rootVector(fours int, x *float64)
TEXT ·rootVector(SB), NOSPLIT, $0-16
	MOVQ fours+0(FP), CX
	MOVQ x+8(FP), SI

next:
	VSQRTPD (SI), Y0
	VMOVUPD Y0, (SI)
	ADDQ    $32, SI
	DECQ    CX
	JNZ     next
	VZEROUPPER
	RET
