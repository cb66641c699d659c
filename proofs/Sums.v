(** Small facts on sums of real numbers. *)
From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Definition positive (x : R) : R := Rmax x 0.

Lemma positive_ge0 x : 0 <= positive x. Proof. exact: Rmax_r. Qed.
Lemma positive_ge x : x <= positive x. Proof. exact: Rmax_l. Qed.
Lemma positive_id x : 0 <= x -> positive x = x. Proof. exact: Rmax_left. Qed.
Lemma positive_0 x : x <= 0 -> positive x = 0. Proof. exact: Rmax_right. Qed.

Lemma rsum_le (T : finType) (P : pred T) (f g : T -> R) :
  (forall o, P o -> f o <= g o) -> \rsum_(o | P o) f o <= \rsum_(o | P o) g o.
Proof.
move=> h; apply: (big_ind2 (fun x y => x <= y)) => //; first exact: Rle_refl.
by move=> x y z t h1 h2; apply: Rplus_le_compat.
Qed.

Lemma rsum_ge0 (T : finType) (P : pred T) (f : T -> R) :
  (forall o, P o -> 0 <= f o) -> 0 <= \rsum_(o | P o) f o.
Proof.
move=> h; apply: (big_ind (fun x => 0 <= x)) => //; [exact: Rle_refl|exact: Rplus_le_le_0_compat].
Qed.

(** delta is the sum of positive parts: no set of outputs does worse. *)
Lemma close_positive (T : finType) (e d : R) (P P' : T -> R) :
  \rsum_o positive (P o - e * P' o) <= d -> close e d P P'.
Proof.
move=> h S; rewrite /Pr big_distrr /=.
apply: (Rle_trans _ (\rsum_(o in S) (e * P' o + positive (P o - e * P' o)))).
  by apply: rsum_le => o _; have := positive_ge (P o - e * P' o); lra.
rewrite big_split /=; apply: Rplus_le_compat_l; apply: Rle_trans h.
rewrite [X in _ <= X](bigID (mem S)) /=.
have := @rsum_ge0 _ (fun o => o \notin S) (fun o => positive (P o - e * P' o)) (fun _ _ => positive_ge0 _).
lra.
Qed.

(** A mixture of close laws is close. *)
Lemma close_mix (I T : finType) (e d : R) (w : I -> R) (f f' : I -> T -> R) :
  (forall i, 0 <= w i) -> \rsum_i w i = 1 -> (forall i, close e d (f i) (f' i)) ->
  close e d (fun o => \rsum_i (w i * f i o)) (fun o => \rsum_i (w i * f' i o)).
Proof.
move=> w0 w1 h S; rewrite /Pr exchange_big [X in _ <= e * X + _]exchange_big /=.
have -> : d = \rsum_i (w i * d) by rewrite -big_distrl /= w1 Rmult_1_l.
rewrite big_distrr -big_split /=; apply: rsum_le => i _; rewrite -!big_distrr /=.
by have := h i S; have := w0 i; rewrite /Pr => *; nra.
Qed.

Lemma rsum_const (I : finType) (x : R) : \big[Rplus/0]_(i : I) x = INR #|I| * x.
Proof. by rewrite big_const; elim: #|I| => [|n IH]; rewrite ?iterS ?S_INR /= ?IH; ring. Qed.
