(** Noise that is priced by its label: the game of what is told beside the label is nowhere below.
    Code: accountant/noisymax, doc.go (the reduction). There i is the largest of the other classes and where it
    is, o one of three outcomes, and f names the third one. *)
From Coq Require Import Reals Lra Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Game Price.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** A label whose pair of laws is a mixture of others, with the same weights for both neighbours *)
Section Mixture.
Variables O O' : finType.
Variable parts : seq (laws O).
Variable pairs : seq (laws O').

(** [q] is drawn so: [i] with probability [w i], then an outcome of a part [c i], which is called [f i] of it. *)
Record mixed (I : finType) (q : laws O') (w : I -> R) (c : I -> laws O) (f : I -> O -> O') : Prop := Mixed {
  mixed_weights : forall i, 0 <= w i;
  mixed_one : \rsum_i w i = 1;
  mixed_part : forall i, List.In (c i) parts;
  mixed_first : forall o', q.1 o' = \rsum_i \rsum_(o | f i o == o') (w i * (c i).1 o);
  mixed_second : forall o', q.2 o' = \rsum_i \rsum_(o | f i o == o') (w i * (c i).2 o) }.

Lemma value_00 n : value parts n 0 0 = 0.
Proof. by have := value_scale parts n 0 0 (Rle_refl 0); rewrite !Rmult_0_l. Qed.

Lemma value_sum (T : finType) (P : pred T) n (x y : T -> R) :
  value parts n (\rsum_(k | P k) x k) (\rsum_(k | P k) y k) <= \rsum_(k | P k) value parts n (x k) (y k).
Proof.
rewrite -[\rsum_(k | P k) x k]big_filter -[\rsum_(k | P k) y k]big_filter -[X in _ <= X]big_filter.
elim: (filter _ _) => [|k s IH]; first by rewrite !big_nil value_00; apply: Rle_refl.
rewrite !big_cons; apply: Rle_trans (value_add _ _ _ _ _ _) _.
exact: Rplus_le_compat_l.
Qed.

(** The game of the parts is nowhere below that of the mixtures: to tell i and the outcome can only tell more. *)
Theorem mixture_dominated n a b :
  (forall q, List.In q pairs -> exists (I : finType) w c (f : I -> O -> O'), mixed q w c f) ->
  value pairs n a b <= value parts n a b.
Proof.
move=> h; elim: n a b => [|n IH] a b /=; first exact: Rle_refl.
set g := fun p : laws O => \rsum_o value parts n (a * p.1 o) (b * p.2 o).
have g0 : 0 <= best g parts by apply: best_ge0.
apply: Rmax_lub; first exact: Rle_trans (IH a b) (Rmax_l _ _).
apply: Rle_trans (Rmax_r _ _); apply: best_le => // q /h [I [w [c [f [w0 w1 cin q1 q2]]]]].
apply: (Rle_trans _ (\rsum_i w i * best g parts)); last first.
  by rewrite -big_distrl /= w1 Rmult_1_l; apply: Rle_refl.
apply: (Rle_trans _ (\rsum_i \rsum_o (w i * value parts n (a * (c i).1 o) (b * (c i).2 o)))); last first.
  apply: rsum_le => i _; rewrite -big_distrr /=.
  by apply: Rmult_le_compat_l; [apply: w0|apply: (best_ge g (cin i))].
apply: (Rle_trans _ (\rsum_o' \rsum_i \rsum_(o | f i o == o') (w i * value parts n (a * (c i).1 o) (b * (c i).2 o)))); last first.
  rewrite exchange_big /=; apply: rsum_le => i _.
  rewrite [X in _ <= X](partition_big (f i) xpredT) //=; exact: Rle_refl.
apply: rsum_le => o' _; apply: Rle_trans (IH _ _) _.
rewrite q1 q2 !big_distrr /=; apply: Rle_trans (value_sum _ _ _ _) _.
apply: rsum_le => i _; rewrite !big_distrr /=; apply: Rle_trans (value_sum _ _ _ _) _.
apply: rsum_le => o _; rewrite -value_scale; last exact: w0.
by rewrite -!Rmult_assoc ![_ * w i]Rmult_comm; apply: Rle_refl.
Qed.
End Mixture.
