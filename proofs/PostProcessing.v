(** Where the reached teachers may all be revealed every q is private.
    Code: constraints.Problem.PostProcessing (certificate method "post-processing"). *)
From Coq Require Import Reals Lra Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Corners.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Lemma run01 q ps l : (forall k, 0 <= q k <= 1) -> (forall p, List.In p ps -> 0 <= p <= 1) -> 0 <= run q ps l <= 1.
Proof.
move=> hq; elim: ps l => [|p ps IH] l hp /=; first exact: hq.
have h := hp p (or_introl erefl).
have h1 := IH l (fun r hr => hp r (or_intror hr)); have h2 := IH l.+1 (fun r hr => hp r (or_intror hr)).
nra.
Qed.

Section Post.
Variables (e d : R).
Hypotheses (he : 1 <= e) (hd : 0 <= d <= 1).
Notation fail j := (1 - (1 - d) ^ j).

(** One teacher more, at a corner that moves. *)
Lemma one_more i x D A B A' B' : 1 <= x -> 0 <= D <= 1 ->
  0 <= A <= 1 -> 0 <= B <= 1 -> 0 <= A' <= 1 -> 0 <= B' <= 1 ->
  A <= x * A' + D -> B <= x * B' + D ->
  (1 - (corner e d i).1) * A + (corner e d i).1 * B <=
  e * x * ((1 - (corner e d i).2) * A' + (corner e d i).2 * B') + (d + (1 - d) * D).
Proof.
move=> hx hD hA hB hA' hB' h1 h2.
have hh : high e d = e * (1 - high e d) + d by rewrite /high; field; lra.
have hb : 0 <= 1 - high e d.
  suff -> : 1 - high e d = (1 - d) / (e + 1) by apply: Rmult_le_pos; [lra|apply/Rlt_le/Rinv_0_lt_compat; lra].
  by rewrite /high; field; lra.
have xA : 0 <= x * A' by nra.
have xB : 0 <= x * B' by nra.
have eA : x * A' <= e * x * A' by nra.
have eB : x * B' <= e * x * B' by nra.
have mA : (1 - d) * A <= (1 - d) * (x * A' + D) by apply: Rmult_le_compat_l; lra.
have mB : (1 - d) * B <= (1 - d) * (x * B' + D) by apply: Rmult_le_compat_l; lra.
have gA : (1 - d) * (x * A') <= (1 - d) * (e * x * A') by apply: Rmult_le_compat_l; lra.
have gB : (1 - d) * (x * B') <= (1 - d) * (e * x * B') by apply: Rmult_le_compat_l; lra.
have dA : d * A <= d by nra.
have dB : d * B <= d by nra.
have d1 : 0 <= d * (x * A') by nra.
have d2 : 0 <= d * (x * B') by nra.
have d3 : 0 <= d * (e * x * A') by nra.
have d4 : 0 <= d * (e * x * B') by nra.
pose b := 1 - high e d; rewrite -/b in hh hb.
have eq1 : (1 + e) * b = 1 - d by rewrite /b in hh *; lra.
have bA : b * A <= b * (x * A' + D) by apply: Rmult_le_compat_l; lra.
have bB : b * B <= b * (x * B' + D) by apply: Rmult_le_compat_l; lra.
have ebA : e * b * A <= e * b * (x * A' + D) by apply: Rmult_le_compat_l; nra.
have ebB : e * b * B <= e * b * (x * B' + D) by apply: Rmult_le_compat_l; nra.
have b1 : b <= 1 - b by nra.
have low : b <= e * (1 - b) by nra.
have bxA : b * (x * A') <= e * (1 - b) * (x * A') by apply: Rmult_le_compat_r.
have bxB : b * (x * B') <= e * (1 - b) * (x * B') by apply: Rmult_le_compat_r.
have eb : high e d = 1 - b by rewrite /b; ring.
have hB2 : (1 - b) * B = e * b * B + d * B by rewrite -eb hh; ring.
have hA2 : (1 - b) * A = e * b * A + d * A by rewrite -eb hh; ring.
have eqD : b * D + e * b * D = (1 - d) * D by rewrite -eq1; ring.
by rewrite /corner eb; do 7?[case: i => [|i]]; rewrite /= ?nth_default //=; lra.
Qed.

Lemma pow_ge1 j : 1 <= e ^ j. Proof. by elim: j => [|j IH] /=; nra. Qed.
Lemma fail01 j : 0 <= fail j <= 1.
Proof. by elim: j => [|j IH] /=; [lra|nra]. Qed.

Lemma corner01 i : 0 <= (corner e d i).1 <= 1 /\ 0 <= (corner e d i).2 <= 1.
Proof.
have h1 : 0 <= high e d <= 1.
  split; first by apply: Rmult_le_pos; [lra|apply/Rlt_le/Rinv_0_lt_compat; lra].
  by apply: (Rmult_le_reg_r (e + 1)); rewrite /high /Rdiv ?Rmult_assoc ?Rinv_l; lra.
by rewrite /corner; do 7?[case: i => [|i]] => /=; rewrite ?nth_default //=; lra.
Qed.

Lemma post_run q s l : (forall k, 0 <= q k <= 1) ->
  run q [seq (corner e d i).1 | i <- s] l <=
  e ^ count (leq 2) s * run q [seq (corner e d i).2 | i <- s] l + fail (count (leq 2) s).
Proof.
move=> hq; have r01 (f : point -> R) k s' : (forall i, 0 <= f (corner e d i) <= 1) ->
    0 <= run q [seq f (corner e d i) | i <- s'] k <= 1.
  move=> hf; apply: run01 => // p; elim: s' => //= i s' IH [<-|/IH] //.
elim: s l => [|i s IH] l; first by rewrite /= ; lra.
have A := r01 fst l s (fun i => proj1 (corner01 i)); have B := r01 fst l.+1 s (fun i => proj1 (corner01 i)).
have A' := r01 snd l s (fun i => proj2 (corner01 i)); have B' := r01 snd l.+1 s (fun i => proj2 (corner01 i)).
have hA := IH l; have hB := IH l.+1; move: hA hB A B A' B' => /=.
case: (leqP 2 i) => hi /= hA hB A B A' B'.
  have := one_more i (pow_ge1 _) (fail01 _) A B A' B' hA hB.
  by move=> h; apply: Rle_trans h _; apply: Req_le; ring.
by rewrite add0n; case: i hi => [|[|//]] _; [rewrite -[corner e d 0]/(0, 0)|rewrite -[corner e d 1]/(1, 1)]; rewrite /=; lra.
Qed.

Lemma post_checked K t E delta q : e ^ t <= E -> fail t <= delta -> (forall k, 0 <= q k <= 1) ->
  checked K t e d E delta q.
Proof.
move=> hE hdelta hq s [_ _ _ ht]; rewrite /gain -!map_comp /comp; have := post_run s 0 hq.
set j := count (leq 2) s in ht *; set x := run q _ _; set y := run q _ _ => h.
have y0 : 0 <= y.
  suff : 0 <= y <= 1 by lra.
  by apply: run01 => // p; elim: (s) => //= i s' IH [<-|/IH] //; have := corner01 i; lra.
have m1 : e ^ j <= e ^ t by apply: Rle_pow => //; apply/leP.
have m2 : fail j <= fail t.
  rewrite -(subnKC ht) pow_add; have := fail01 j; have := fail01 (t - j); nra.
nra.
Qed.

(** Every q is private, symmetric or not. *)
Theorem post_private K t E delta q : e ^ t <= E -> fail t <= delta -> (forall k, 0 <= q k <= 1) ->
  @keeps K t e d E delta q.
Proof.
move=> hE hdelta hq; have := pow_ge1 t; have := fail01 t => f p.
have hq' k : 0 <= 1 - q k <= 1 by have := hq k; lra.
by apply: corners_private => //; try lra; apply: post_checked.
Qed.
End Post.
