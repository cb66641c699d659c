(** A table of two classes, from exact decimals to differential privacy.
    Code: gamma.Verify, constraints.Problem.PostProcessing; python/darrm/check.py. *)
From Coq Require Import Reals Lra ZArith List.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Corners PostProcessing Code2 Check2 Exp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** The numbers of a table: ε = a/b, total ε = c/f, Δ = dn/dd, δ = pn/pd, φ(l) = phi l / one.
    Teachers that promise nothing have ε = 0 and Δ = 1. [terms] of the series of e^x are summed. *)
Record table := Table {
  K : nat; t : nat; terms : nat;
  ea : Z; eb : Z; tc : Z; tf : Z; Dn : Z; Dd : Z; pn : Z; pd : Z; one : Z; phi : list Z }.

(** e^ε is rounded up, e^total down. *)
Definition rounded (x : table) : problem :=
  let '(en, ed) := exp_up x.(ea) x.(eb) x.(terms) in
  let '(top, bottom) := exp_down x.(tc) x.(tf) x.(terms) in
  Problem en ed x.(Dn) x.(Dd) top bottom x.(pn) x.(pd).
Definition formed (x : table) : bool :=
  [&& Z.leb 0 x.(ea), Z.ltb 0 x.(eb), Z.leb 0 x.(tc), Z.ltb 0 x.(tf), Z.ltb 0 x.(Dd), Z.leb 0 x.(Dn),
      Z.leb x.(Dn) x.(Dd), Z.ltb 0 x.(pd), Z.leb 0 x.(pn),
      Z.leb (2 * x.(ea)) (x.(eb) * Z.of_nat (x.(terms) + 2)) & phi_ok x.(K) x.(one) x.(phi)].
Definition private (x : table) : bool :=
  formed x && (revealed x.(ea) x.(eb) x.(tc) x.(tf) x.(Dn) x.(Dd) x.(pn) x.(pd) x.(t)
               || swept (rounded x) x.(K) x.(t) x.(one) x.(phi)).

Open Scope R_scope.
Definition epsilon (x : table) : R := IZR x.(ea) / IZR x.(eb).
Definition total (x : table) : R := IZR x.(tc) / IZR x.(tf).
Definition teacher_delta (x : table) : R := IZR x.(Dn) / IZR x.(Dd).
Definition delta (x : table) : R := IZR x.(pn) / IZR x.(pd).
(** The probability that ensemble draws the answer 1 with. *)
Definition one_prob (x : table) (l : nat) : R := (1 + IZR (List.nth l x.(phi) 0%Z) / IZR x.(one)) / 2.

Definition keeps_its_promise (x : table) : Prop :=
  @keeps x.(K) x.(t) (exp (epsilon x)) (teacher_delta x) (exp (total x)) (delta x) (one_prob x).

Lemma formedP x : formed x = true ->
  [/\ (0 <= x.(ea))%Z, (0 < x.(eb))%Z, (0 <= x.(tc))%Z & (0 < x.(tf))%Z] /\
  [/\ (0 < x.(Dd))%Z, (0 <= x.(Dn) <= x.(Dd))%Z, (0 < x.(pd))%Z & (0 <= x.(pn))%Z] /\
  (2 * x.(ea) <= x.(eb) * Z.of_nat (x.(terms) + 2))%Z /\ phi_ok x.(K) x.(one) x.(phi) = true.
Proof.
by move=> /andP [/Z.leb_le a1 /andP [/Z.ltb_lt a2 /andP [/Z.leb_le a3 /andP [/Z.ltb_lt a4
  /andP [/Z.ltb_lt a5 /andP [/Z.leb_le a6 /andP [/Z.leb_le a7 /andP [/Z.ltb_lt a8 /andP [/Z.leb_le a9
  /andP [/Z.leb_le a10 a11]]]]]]]]]].
Qed.

Lemma one_prob01 x l : phi_ok x.(K) x.(one) x.(phi) = true -> 0 <= one_prob x l <= 1.
Proof. by move=> h; apply: q01 h l. Qed.

Lemma pow_IZR' (z : Z) n : IZR (Z.pow z (Z.of_nat n)) = IZR z ^ n. Proof. by rewrite pow_IZR. Qed.

Lemma revealed_ok x : formed x = true ->
  revealed x.(ea) x.(eb) x.(tc) x.(tf) x.(Dn) x.(Dd) x.(pn) x.(pd) x.(t) = true ->
  exp (epsilon x) ^ x.(t) <= exp (total x) /\ 1 - (1 - teacher_delta x) ^ x.(t) <= delta x.
Proof.
move=> /formedP [[a1 a2 a3 a4] [[a5 a6 a7 a8] _]] /andP [/Z.leb_le h1 /Z.leb_le h2].
have p2 := IZR_lt _ _ a2; have p4 := IZR_lt _ _ a4; have p5 := IZR_lt _ _ a5; have p7 := IZR_lt _ _ a7.
split.
  have -> : exp (epsilon x) ^ x.(t) = exp (INR x.(t) * epsilon x).
    elim: x.(t) => [|n IH]; first by rewrite /= Rmult_0_l exp_0.
    by rewrite [LHS]/= IH S_INR Rmult_plus_distr_r Rmult_1_l exp_plus Rmult_comm.
  have : INR x.(t) * epsilon x <= total x.
    have := IZR_le _ _ h1; rewrite !mult_IZR -INR_IZR_INZ /epsilon /total => h.
    apply: (Rmult_le_reg_r (IZR x.(eb) * IZR x.(tf))); first exact: Rmult_lt_0_compat.
    have -> : INR x.(t) * (IZR x.(ea) / IZR x.(eb)) * (IZR x.(eb) * IZR x.(tf)) = INR x.(t) * IZR x.(ea) * IZR x.(tf)
      by field; lra.
    by have -> : IZR x.(tc) / IZR x.(tf) * (IZR x.(eb) * IZR x.(tf)) = IZR x.(tc) * IZR x.(eb) by field; lra.
  exact: exp_le.
have := IZR_le _ _ h2; rewrite !(mult_IZR, minus_IZR, pow_IZR') /teacher_delta /delta => h.
have pn' : 0 < IZR x.(Dd) ^ x.(t) by apply: pow_lt.
set r := 1 - IZR x.(Dn) / IZR x.(Dd).
have er : r ^ x.(t) * IZR x.(Dd) ^ x.(t) = (IZR x.(Dd) - IZR x.(Dn)) ^ x.(t).
  by rewrite -Rpow_mult_distr /r; congr (_ ^ _); field; lra.
apply: (Rmult_le_reg_r (IZR x.(pd) * IZR x.(Dd) ^ x.(t))); first exact: Rmult_lt_0_compat.
have -> : IZR x.(pn) / IZR x.(pd) * (IZR x.(pd) * IZR x.(Dd) ^ x.(t)) = IZR x.(pn) * IZR x.(Dd) ^ x.(t) by field; lra.
apply: Rle_trans h; apply: Req_le; rewrite -er; ring.
Qed.

Theorem private_ok x : private x = true -> keeps_its_promise x.
Proof.
move=> /andP [hf]; have [[a1 a2 a3 a4] [[a5 a6 a7 a8] [a9 a10]]] := formedP hf.
have dd : 0 <= teacher_delta x <= 1.
  by rewrite /teacher_delta; split; [apply: ratio_pos|apply: ratio_ge1] => //; case: a6.
case/orP => [/(revealed_ok hf) [h1 h2]|yes].
  apply: post_private h1 h2 _ => //; last by move=> k; apply: one_prob01.
  by apply: exp_ge1; apply: ratio_pos.
move: (@exp_up_ok x.(ea) x.(eb) x.(terms) a1 a2 a9) (@exp_down_ok x.(tc) x.(tf) x.(terms) a3 a4) yes; rewrite /rounded.
case: (exp_up _ _ _) => en ed; case: (exp_down _ _ _) => top bottom hup hdown yes.
exact: (swept_keeps yes hup hdown).
Qed.
