#include "textflag.h"

// func raiseAVX(found *[8]float64, origin *float64, leaves *leaf, n int, atoms *atom)
//
// Lane by lane the operations of raiseEach, in the same order: products are rounded before they are
// added, so that the bytes are the same.
TEXT ·raiseAVX(SB), NOSPLIT, $0-40
	MOVQ found+0(FP), DI
	MOVQ origin+8(FP), SI
	MOVQ leaves+16(FP), R8
	MOVQ n+24(FP), R9
	MOVQ atoms+32(FP), R10
	VMOVUPD (DI), Y6
	VMOVUPD 32(DI), Y7
	TESTQ R9, R9
	JLE done

leaf:
	VBROADCASTSD (R8), Y0
	VMOVAPD Y0, Y1
	MOVQ 8(R8), R11
	TESTQ R11, R11
	JLE largest

atom:
	VBROADCASTSD (R10), Y2
	MOVQ 8(R10), R12
	VMULPD (SI)(R12*8), Y2, Y3
	VMULPD 32(SI)(R12*8), Y2, Y4
	VADDPD Y3, Y0, Y0
	VADDPD Y4, Y1, Y1
	ADDQ $16, R10
	DECQ R11
	JNE atom

largest:
	VMAXPD Y0, Y6, Y6
	VMAXPD Y1, Y7, Y7
	ADDQ $16, R8
	DECQ R9
	JNE leaf
	VMOVUPD Y6, (DI)
	VMOVUPD Y7, 32(DI)

done:
	VZEROUPPER
	RET
