(** Many classes: what holds between a sorted histogram and every vector of counts near it makes
    the answer to votes private.
    Code: plurality.System.checkRows, plurality.Certify; python/darrm/_plurality.py. *)
From Coq Require Import Reals Lra ZArith.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** Votes that come when one goes from h to h'. *)
Definition gained (C : nat) (h h' : histogram C) : nat := (\sum_(c < C) (tnth h' c - tnth h c))%N.
Definition votes_in (C : nat) (h : histogram C) : nat := (\sum_(c < C) tnth h c)%N.

(** Two histograms within t entries of each other, whichever classes the votes moved between.
    [full]: no vote is none, so that both have K votes. *)
Definition near_hist (full : bool) (K t C : nat) (h h' : histogram C) : Prop :=
  [/\ (if full then votes_in h = K /\ votes_in h' = K else (votes_in h <= K)%N /\ (votes_in h' <= K)%N),
      (gained h h' <= t)%N, (gained h' h <= t)%N & h <> h'].

Section Plurality.
Variables (K C t : nat) (full : bool) (g : seq nat -> option nat -> R).
Notation histogram := (histogram C).
Notation answers := (answers C).

(** ** Sorting the first histogram *)
Definition permute (s : {perm 'I_C}) (h : histogram) : histogram := [tuple tnth h (s c) | c < C].

Lemma permute_perm s h : perm_eq (permute s h) h.
Proof. by apply/tuple_permP; exists s. Qed.

Lemma sort_permute s h : sort geq (permute s h) = sort geq h.
Proof.
apply/perm_sortP; last exact: permute_perm.
- by move=> x y; rewrite /geq /=; apply: leq_total.
- by move=> x y z; rewrite /geq /= => h1 h2; apply: leq_trans h2 h1.
- by move=> x y; rewrite /geq /= andbC; apply: anti_leq.
Qed.

Lemma prob_permute s h o : prob g (permute s h) o = prob g h (omap s o).
Proof.
rewrite /prob sort_permute; case: o => [c|] //=; rewrite tnth_mktuple.
by rewrite (seq.permP (permute_perm s h)).
Qed.

Lemma gained_permute s h h' : gained (permute s h) (permute s h') = gained h h'.
Proof.
rewrite /gained [RHS](reindex_inj (@perm_inj _ s)) /=.
by apply: eq_bigr => c _; rewrite !tnth_mktuple.
Qed.

Lemma votes_permute s h : votes_in (permute s h) = votes_in h.
Proof.
rewrite /votes_in [RHS](reindex_inj (@perm_inj _ s)).
by apply: eq_bigr => c _; rewrite tnth_mktuple.
Qed.

Lemma permute_inj s : injective (permute s).
Proof.
move=> h h' e; apply: eq_from_tnth => c; have := congr1 (fun x => tnth x ((s^-1)%g c)) e.
by rewrite !tnth_mktuple permKV.
Qed.

Lemma sum_permute (s : {perm 'I_C}) (f : answers -> R) : \rsum_o f (omap s o) = \rsum_o f o.
Proof.
have inj : injective (omap s : answers -> answers) by move=> [x|] [y|] //= [] /perm_inj ->.
by rewrite [RHS](reindex_inj inj).
Qed.

Lemma sort_exists (h : histogram) : exists s, tval (permute s h) = sort geq h.
Proof.
have /tuple_permP [s e] : perm_eq (sort geq h) h by rewrite perm_sort.
by exists s; rewrite e.
Qed.

(** ** Moved votes move the histogram by as much *)
Lemma moved_sym (v v' : K.-tuple (option 'I_C)) : moved v v' = moved v' v.
Proof. by apply: eq_card => i; rewrite !inE eq_sym. Qed.

Lemma gained_moved (v v' : K.-tuple (option 'I_C)) : (gained (hist v) (hist v') <= moved v v')%N.
Proof.
have cnt (w : K.-tuple (option 'I_C)) c : count_mem (Some c) w = #|[set i | tnth w i == Some c]|.
  by rewrite -sum1_count big_tuple /= sum1dep_card.
apply: (@leq_trans (\sum_(c < C) \sum_(i | tnth v i != tnth v' i) (tnth v' i == Some c))).
  apply: leq_sum => c _; rewrite !tnth_mktuple !cnt -big_mkcondr /= sum1dep_card leq_subLR.
  apply: leq_trans (leq_card_setU _ _); apply: subset_leq_card; apply/subsetP => i.
  by rewrite !inE => /eqP ->; rewrite eqxx andbT; case: eqP.
rewrite exchange_big /moved -sum1dep_card /=.
apply: leq_sum => i _; case: (tnth v' i) => [d|]; last by rewrite big1.
by rewrite (bigD1 d) //= eqxx big1 // => c /negbTE h; rewrite eq_sym (inj_eq Some_inj) h.
Qed.

Lemma count_all (s : seq (option 'I_C)) : (\sum_(c < C) count_mem (Some c) s + count_mem None s = size s)%N.
Proof.
elim: s => [|x s IH] /=; first by rewrite big1.
rewrite big_split /= -addnA [X in (_ + X)%N]addnCA IH addnA -add1n; congr addn.
case: x => [d|]; last by rewrite big1.
by rewrite (bigD1 d) //= eqxx big1 // => c /negbTE h; rewrite eq_sym (inj_eq Some_inj) h.
Qed.

Lemma votes_hist (v : K.-tuple (option 'I_C)) :
  (votes_in (hist v) <= K)%N /\ (complete v -> votes_in (hist v) = K).
Proof.
have := count_all v; rewrite size_tuple /complete.
have -> : (\sum_(c < C) count_mem (Some c) v)%N = votes_in (hist v).
  by apply: eq_bigr => c _; rewrite tnth_mktuple.
by move=> e; split; [rewrite -[X in (_ <= X)%N]e leq_addr|move=> /count_memPn z; rewrite -[RHS]e z addn0].
Qed.

(** ** The theorem *)
Variables (E delta : R).
Hypotheses (hE : 1 <= E) (hdelta : 0 <= delta).
Hypothesis g_ge0 : forall l v, 0 <= g l v.
Hypothesis check : forall h h' : histogram, near_hist full K t h h' -> sorted geq h ->
  \rsum_o positive (prob g h o - E * prob g h' o) <= delta.

Lemma sharing_pos (h : histogram) o : 0 < INR (sharing h o).
Proof.
apply: lt_0_INR; apply/ltP; case: o => [c|] //=.
by rewrite -has_count; apply/hasP; exists (tnth h c); rewrite ?mem_tnth /=.
Qed.

Lemma prob_ge0 (h : histogram) o : 0 <= prob g h o.
Proof. by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat/sharing_pos. Qed.

Theorem plurality_private (v v' : K.-tuple (option 'I_C)) : near_votes t v v' ->
  (full -> complete v /\ complete v') -> close2 E delta (plurality g v) (plurality g v').
Proof.
suff one (w w' : K.-tuple (option 'I_C)) : near_votes t w w' -> (full -> complete w /\ complete w') ->
    close E delta (plurality g w) (plurality g w').
  move=> near c; split; apply: one => //; last by move=> /c [].
  by rewrite /near_votes moved_sym.
move=> near c; apply: close_positive; rewrite /plurality.
have [-> | ne] := eqVneq (hist w) (hist w').
  rewrite big1 // => o _; apply: positive_0; have := prob_ge0 (hist w') o; nra.
have [s e] := sort_exists (hist w).
rewrite -(sum_permute s).
have -> : \rsum_o positive (prob g (hist w) (omap s o) - E * prob g (hist w') (omap s o))
        = \rsum_o positive (prob g (permute s (hist w)) o - E * prob g (permute s (hist w')) o).
  by apply: eq_bigr => o _; rewrite !prob_permute.
apply: check; last by rewrite e; apply: sort_sorted => x y; apply: leq_total.
split; rewrite ?votes_permute ?gained_permute.
- have [[a1 a2] [b1 b2]] := (votes_hist w, votes_hist w'); case: full c => // c.
  by have [/a2 -> /b2 ->] := c isT.
- exact: leq_trans (gained_moved _ _) near.
- by apply: leq_trans (gained_moved _ _) _; rewrite moved_sym.
- by move=> /permute_inj /eqP; rewrite (negbTE ne).
Qed.

(** ** Masses whose sum is 1 in each sorted histogram make a law *)
Hypothesis unit : forall h : histogram, (if full then votes_in h = K else (votes_in h <= K)%N) ->
  \rsum_(v <- undup (sort geq h)) g (sort geq h) (Some v) + g (sort geq h) None = 1.

Theorem plurality_law (v : K.-tuple (option 'I_C)) : (full -> complete v) ->
  (forall o, 0 <= plurality g v o) /\ \rsum_o plurality g v o = 1.
Proof.
move=> full_v; split=> [o|]; first exact: prob_ge0.
have [few all] := votes_hist v.
have /unit <- : if full then votes_in (hist v) = K else (votes_in (hist v) <= K)%N.
  by case: (full) full_v => // /(_ isT)/all.
rewrite /plurality.
set h := hist v; set l := sort geq h.
have -> : \rsum_o prob g h o = \rsum_(c < C) (g l (Some (tnth h c)) / INR (count_mem (tnth h c) h)) + g l None.
  rewrite (bigD1 None) //= Rplus_comm; congr Rplus; last by rewrite /prob /= /Rdiv Rinv_1 Rmult_1_r.
  rewrite (reindex_omap Some id) //= => [|[x|]] //.
  by apply: eq_bigl => x; rewrite eqxx.
congr Rplus.
have ps : perm_eq l h by rewrite perm_sort.
rewrite -(big_tuple _ _ h xpredT (fun x => g l (Some x) / INR (count_mem x h))) -(perm_big _ ps) /=.
rewrite -big_undup_iterop_count /= big_seq [RHS]big_seq; apply: eq_bigr => x hx.
rewrite (seq.permP ps); have n0 : (0 < count_mem x h)%N.
  by rewrite -has_count has_pred1 -(perm_mem ps) -mem_undup.
have it n y : iterop n Rplus y 0 = INR n * y.
  rewrite Monoid.iteropE; elim: n => [|n IH]; first by rewrite Rmult_0_l.
  by rewrite iterS IH S_INR /=; ring.
rewrite it; move: (count_mem x h) n0 => n /ltP /lt_0_INR n0.
by field; apply: Rgt_not_eq.
Qed.
End Plurality.
