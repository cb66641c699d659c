(** A missing vote that becomes a coin keeps every promise.
    Code: votes.MissingCoin (--missing coin). *)
From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Section Missing.
Variables (K t : nat) (V O : finType) (v0 : V).

Lemma fill_moved (v v' : K.-tuple (option V)) (c : K.-tuple V) : (moved (fill v c) (fill v' c) <= moved v v')%N.
Proof.
apply: subset_leq_card; apply/subsetP => i; rewrite !inE !tnth_mktuple.
by apply: contraNN => /eqP ->.
Qed.

Lemma coins_pos : 0 < INR #|{: K.-tuple V}|.
Proof. by apply: lt_0_INR; apply/ltP; apply/card_gt0P; exists [tuple v0 | _ < K]. Qed.

Theorem coins_private (M : K.-tuple V -> O -> R) eps delta :
  private (near_votes t) eps delta M -> private (near_votes t) eps delta (with_coins M).
Proof.
move=> h v v' near; have p := coins_pos.
pose w (c : K.-tuple V) := / INR #|{: K.-tuple V}|.
have w0 c : 0 <= w c by apply/Rlt_le/Rinv_0_lt_compat.
have w1 : \rsum_c w c = 1.
  by rewrite /w rsum_const; apply: Rinv_r; apply: Rgt_not_eq.
have e u : with_coins M u = (fun o => \rsum_c (w c * M (fill u c) o)).
  by apply: FunctionalExtensionality.functional_extensionality => o; apply: eq_bigr => c _; rewrite /w /Rdiv Rmult_comm.
have nf c : near_votes t (fill v c) (fill v' c) by apply: leq_trans (fill_moved _ _ _) near.
by rewrite !e; split; apply: close_mix => // c; have [] := h _ _ (nf c).
Qed.
End Missing.

(** The same for a teacher whose vote or silence is private: after the coin it is as private. *)
Section Teacher.
Variables (V : finType) (v0 : V).
Definition coin (P : option V -> R) (x : V) : R := P (Some x) + P None / INR #|V|.

Lemma size_pos : 0 < INR #|V|.
Proof. by apply: lt_0_INR; apply/ltP; apply/card_gt0P; exists v0. Qed.

Lemma sum_option (f : option V -> R) : \rsum_o f o = f None + \rsum_x f (Some x).
Proof.
rewrite (bigD1 None) //=; congr Rplus.
rewrite (reindex_omap Some id) //= => [|[x|]] //.
by apply: eq_bigl => x; rewrite eqxx.
Qed.

Definition coined (P : dist [finType of option V]) : dist V.
refine (@Dist V (coin P) _ _).
- move=> x; have := mass_ge0 P (Some x); have := mass_ge0 P None => a b.
  have := Rlt_le _ _ (Rinv_0_lt_compat _ size_pos); rewrite /coin /Rdiv; nra.
- rewrite /coin big_split /= rsum_const -[RHS](mass_sum P) sum_option.
  rewrite Rplus_comm; congr Rplus; rewrite /Rdiv -Rmult_assoc Rmult_comm -Rmult_assoc Rinv_l ?Rmult_1_l //.
  by apply: Rgt_not_eq; apply: size_pos.
Defined.

Theorem coined_private e d (P P' : dist [finType of option V]) : teacher e d P P' -> teacher e d (coined P) (coined P').
Proof.
suff one (Q Q' : dist [finType of option V]) : close e d Q Q' -> close e d (coined Q) (coined Q').
  by move=> [h h']; split; apply: one.
move=> h S; have n := size_pos.
(* A coin is a mixture over the class x that fills the silence. *)
pose up x : {set option V} := [set o | odflt x o \in S].
have mix (R0 : dist [finType of option V]) : Pr (coined R0) S = \rsum_x (/ INR #|V| * Pr R0 (up x)).
  rewrite -big_distrr /= /Pr /coined /coin /= big_split /=.
  have -> : \rsum_x (\rsum_(o in up x) R0 o) =
      \rsum_x ((if x \in S then R0 None else 0) + \rsum_(y in S) R0 (Some y)).
    apply: eq_bigr => x _; rewrite big_mkcond sum_option /= inE /=; congr Rplus.
    by rewrite [RHS]big_mkcond; apply: eq_bigr => y _; rewrite inE.
  rewrite big_split /= rsum_const -big_mkcond /=.
  have -> : \rsum_(x in S) (R0 None / INR #|V|) = / INR #|V| * \rsum_(x in S) R0 None.
    by rewrite big_distrr /=; apply: eq_bigr => x _; rewrite /Rdiv Rmult_comm.
  rewrite Rmult_plus_distr_l -[X in _ = _ + X]Rmult_assoc Rinv_l; first by rewrite Rmult_1_l Rplus_comm.
  by apply: Rgt_not_eq.
rewrite !mix; have -> : d = \big[Rplus/0]_(x : V) (/ INR #|V| * d).
  by rewrite rsum_const -Rmult_assoc Rinv_r ?Rmult_1_l //; apply: Rgt_not_eq.
rewrite [X in _ <= X + _]big_distrr -big_split /=; apply: rsum_le => x _ /=.
apply: (Rle_trans _ (/ INR #|V| * (e * Pr Q' (up x) + d))); last by apply: Req_le => /=; ring.
by apply: Rmult_le_compat_l; [apply/Rlt_le/Rinv_0_lt_compat|apply: h].
Qed.
End Teacher.
