#include "textflag.h"

// func raiseLoop(found *[8]float64, origin *float64, leaves *leaf, n int, atoms *atom)
//
// The operations of raiseEach in the same order, so that the bytes are the same. Loops are WebAssembly's
// own: those that Go compiles go through a table of the function's blocks each time.
TEXT ·raiseLoop(SB), NOSPLIT, $0-40
	Get SP
	I64Load found+0(FP)
	Set R0
	Get SP
	I64Load origin+8(FP)
	Set R1
	Get SP
	I64Load leaves+16(FP)
	Set R2
	Get SP
	I64Load n+24(FP)
	Set R3
	Get SP
	I64Load atoms+32(FP)
	Set R4
	Loop // over leaves
	Get R2
	I32WrapI64
	F64Load $0
	Set F24
	Get F24
	Set F16
	Get F24
	Set F17
	Get F24
	Set F18
	Get F24
	Set F19
	Get F24
	Set F20
	Get F24
	Set F21
	Get F24
	Set F22
	Get F24
	Set F23
	Get R2
	I32WrapI64
	I64Load $8
	I64Const $4
	I64Shl
	Get R4
	I64Add
	Set R5 // the end of its atoms
	Block
	Loop // over its atoms
	Get R4
	Get R5
	I64Eq
	BrIf $1
	Get R4
	I32WrapI64
	F64Load $0
	Set F24
	Get R4
	I32WrapI64
	I64Load $8
	I64Const $3
	I64Shl
	Get R1
	I64Add
	Set R6
	Get F16
	Get F24
	Get R6
	I32WrapI64
	F64Load $0
	F64Mul
	F64Add
	Set F16
	Get F17
	Get F24
	Get R6
	I32WrapI64
	F64Load $8
	F64Mul
	F64Add
	Set F17
	Get F18
	Get F24
	Get R6
	I32WrapI64
	F64Load $16
	F64Mul
	F64Add
	Set F18
	Get F19
	Get F24
	Get R6
	I32WrapI64
	F64Load $24
	F64Mul
	F64Add
	Set F19
	Get F20
	Get F24
	Get R6
	I32WrapI64
	F64Load $32
	F64Mul
	F64Add
	Set F20
	Get F21
	Get F24
	Get R6
	I32WrapI64
	F64Load $40
	F64Mul
	F64Add
	Set F21
	Get F22
	Get F24
	Get R6
	I32WrapI64
	F64Load $48
	F64Mul
	F64Add
	Set F22
	Get F23
	Get F24
	Get R6
	I32WrapI64
	F64Load $56
	F64Mul
	F64Add
	Set F23
	Get R4
	I64Const $16
	I64Add
	Set R4
	Br $0
	End
	End
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $0
	Get F16
	F64Max
	F64Store $0
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $8
	Get F17
	F64Max
	F64Store $8
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $16
	Get F18
	F64Max
	F64Store $16
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $24
	Get F19
	F64Max
	F64Store $24
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $32
	Get F20
	F64Max
	F64Store $32
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $40
	Get F21
	F64Max
	F64Store $40
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $48
	Get F22
	F64Max
	F64Store $48
	Get R0
	I32WrapI64
	Get R0
	I32WrapI64
	F64Load $56
	Get F23
	F64Max
	F64Store $56
	Get R2
	I64Const $16
	I64Add
	Set R2
	Get R3
	I64Const $1
	I64Sub
	Set R3
	Get R3
	I64Eqz
	I32Eqz
	BrIf $0
	End
	RET
