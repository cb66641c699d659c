(** Every mechanism on votes of two classes: with the teachers in a random order it is a function of
    the number of votes, as private and as often wrong. So a table of shape *any* that is best among
    those functions is best among all mechanisms.
    Code: gamma.Any; docs/plan.md, "Among what". *)
From Coq Require Import Reals Lra ZArith.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Corners Optimal TwoClasses Bound.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Section Teachers.
Variable K : nat.
Notation votes := (K.-tuple bool).

(** ** The teachers in another order *)
Definition act (s : {perm 'I_K}) (v : votes) : votes := [tuple tnth v (s i) | i < K].

Lemma act_act s r v : act s (act r v) = act (s * r)%g v.
Proof. by apply: eq_from_tnth => i; rewrite !tnth_mktuple permM. Qed.
Lemma act1 v : act 1%g v = v.
Proof. by apply: eq_from_tnth => i; rewrite tnth_mktuple perm1. Qed.
Lemma act_inj s : injective (act s).
Proof. by apply: (can_inj (g := act s^-1%g)) => v; rewrite act_act mulVg act1. Qed.
Lemma act_count s v : count id (act s v) = count id v.
Proof. by apply/seq.permP; apply/tuple_permP; exists s. Qed.

Lemma others (v : votes) : count (predC id) v = (K - count id v)%N.
Proof. by apply/eqP; rewrite -(eqn_add2l (count id v)) count_predC size_tuple subnKC // -[X in (_ <= X)%N](size_tuple v) count_size. Qed.

Lemma same_count (u v : votes) : count id u = count id v -> exists s, u = act s v.
Proof.
move=> h; have /tuple_permP [s e] : perm_eq u v; last by exists s; apply: val_inj.
have ids (w : votes) : count (pred1 true) w = count id w by apply: eq_count => -[].
have nots (w : votes) : count (pred1 false) w = (K - count id w)%N.
  by rewrite -(others w); apply: eq_count => -[].
by apply/allP => -[] _ /=; rewrite ?ids ?nots h.
Qed.

Lemma law_act (P : 'I_K -> dist bool_finType) (s : {perm 'I_K}) (v : votes) : law (fun i => P (s i)) (act s v) = law P v.
Proof.
by rewrite /law [RHS](reindex_inj (@perm_inj _ s)); apply: eq_bigr => i _; rewrite tnth_mktuple.
Qed.

Lemma near_act t e d (P P' : 'I_K -> dist bool_finType) (s : {perm 'I_K}) :
  near_teachers t e d P P' -> near_teachers t e d (fun i => P (s i)) (fun i => P' (s i)).
Proof.
move=> [A [hA [hin hout]]]; exists (s @^-1: A); split.
  by apply: leq_trans hA; rewrite card_preimset //; apply: perm_inj.
by split=> i; rewrite inE => h; [apply: hin|apply: hout].
Qed.

(** ** The mean over all orders is the mean over all votes of the same number *)
Variable M : votes -> dist bool_finType.
Notation size_at l := (INR #|[set v : votes | count id v == l]|).
Notation orders := (INR #|{perm 'I_K}|).

Lemma orders_pos : 0 < orders.
Proof. by apply: lt_0_INR; apply/ltP/card_gt0P; exists 1%g. Qed.

Lemma size_pos v : 0 < size_at (count id (v : votes)).
Proof. by apply: lt_0_INR; apply/ltP/card_gt0P; exists v; rewrite inE. Qed.

Lemma sum_at l x : \rsum_(v | count id (v : votes) == l) x = size_at l * x.
Proof.
rewrite big_const; have -> : #|[set v : votes | count id v == l]| = #|[pred v : votes | count id v == l]|.
  by apply: eq_card => u; rewrite !inE.
by elim: #|[pred _ | _]| => [|k IH]; [rewrite /=; ring|rewrite iterS S_INR IH; ring].
Qed.

Lemma in_any_order v : \big[Rplus/0]_(s : {perm 'I_K}) (/ orders * M (act s v) true) = of_count M (count id v).
Proof.
have p := orders_pos; have n := size_pos v; rewrite /of_count -big_distrr /=.
set S := \rsum_s _; set N := size_at _ in n *; set T := \big[_/_]_(_ | _) _.
suff e : N * S = orders * T.
  apply: (Rmult_eq_reg_l (orders * N)); last by apply: Rgt_not_eq; apply: Rmult_lt_0_compat.
  have -> : orders * N * (/ orders * S) = N * S by field; lra.
  by rewrite e; field; lra.
rewrite -rsum_const /T.
have -> : \big[Rplus/0]_(s : {perm 'I_K}) (\rsum_(u | count id (u : votes) == count id v) M u true)
        = \big[Rplus/0]_(s : {perm 'I_K}) \rsum_(u | count id (u : votes) == count id v) M (act s u) true.
  apply: eq_bigr => s _; rewrite [LHS](reindex_inj (@act_inj s)) /=.
  by apply: eq_bigl => u; rewrite act_count.
rewrite exchange_big /= (eq_bigr (fun _ => S)) => [|u hu]; last first.
  have [r ->] := same_count (eqP hu).
  rewrite /S [RHS](reindex_inj (mulIg r)); by apply: eq_bigr => s _; rewrite act_act.
by rewrite sum_at.
Qed.

Lemma mass_true (P : dist bool_finType) : P true = 1 - P false.
Proof. by rewrite mass_false; ring. Qed.

Lemma orders_sum : \big[Rplus/0]_(s : {perm 'I_K}) / orders = 1.
Proof. by rewrite rsum_const; apply: Rinv_r; apply: Rgt_not_eq; apply: orders_pos. Qed.

Lemma by_count_mean v b : by_count (of_count M) v b = \big[Rplus/0]_(s : {perm 'I_K}) (/ orders * M (act s v) b).
Proof.
rewrite /by_count -in_any_order; case: b => //.
apply: (Rplus_eq_reg_r (\big[Rplus/0]_(s : {perm 'I_K}) (/ orders * M (act s v) true))).
rewrite -[RHS]big_split /=.
have -> : forall y, 1 - y + y = 1 by move=> y; ring.
by rewrite -orders_sum; apply: eq_bigr => s _; rewrite mass_false; ring.
Qed.

Lemma answer_mean (P : 'I_K -> dist bool_finType) b :
  answer (of_count M) P b = \big[Rplus/0]_(s : {perm 'I_K}) (/ orders * output (fun v => M v) (fun i => P (s i)) b).
Proof.
rewrite /answer /output.
have -> : \big[Rplus/0]_(s : {perm 'I_K}) (/ orders * \rsum_v (law (fun i => P (s i)) v * M v b))
        = \big[Rplus/0]_(s : {perm 'I_K}) \rsum_v (law P v * (/ orders * M (act s v) b)).
  apply: eq_bigr => s _; rewrite big_distrr /= [LHS](reindex_inj (@act_inj s)) /=.
  by apply: eq_bigr => v _; rewrite law_act; ring.
by rewrite exchange_big; apply: eq_bigr => v _; rewrite -big_distrr /= by_count_mean.
Qed.

Theorem of_count_keeps t e d E delta : keeps_all t e d E delta M -> @keeps K t e d E delta (of_count M).
Proof.
move=> h P P' near; have p := orders_pos.
have w0 (s : {perm 'I_K}) : 0 <= / orders by apply/Rlt_le/Rinv_0_lt_compat.
have mixed (Q Q' : 'I_K -> dist bool_finType) :
    (forall s : {perm 'I_K}, close E delta (output (fun v => M v) (fun i => Q (s i))) (output (fun v => M v) (fun i => Q' (s i)))) ->
    close E delta (answer (of_count M) Q) (answer (of_count M) Q').
  move=> hc; have := close_mix w0 orders_sum hc; rewrite /close /Pr => hm S.
  by have := hm S; under eq_bigr do rewrite -answer_mean; under [X in _ <= _ * X + _]eq_bigr do rewrite -answer_mean.
by split; apply: mixed => s; have [] := h _ _ (near_act s near).
Qed.

(** ** A number of votes that some votes have *)
Lemma some_votes l : (l <= K)%N -> exists v : votes, count id v = l.
Proof.
move=> hl; have sz : size (nseq l true ++ nseq (K - l) false) == K by rewrite size_cat !size_nseq subnKC.
by exists (Tuple sz); rewrite /= count_cat !count_nseq /= mul1n mul0n addn0.
Qed.

(** What every vote of that number obeys, the mean obeys. *)
Lemma of_count_le l z : (l <= K)%N -> (forall v, count id (v : votes) = l -> M v true <= z) -> of_count M l <= z.
Proof.
move=> /some_votes [v <-] h; rewrite -in_any_order; have p := orders_pos.
rewrite -[z]Rmult_1_l -[X in _ <= X * z]orders_sum big_distrl /=; apply: rsum_le => s _.
by apply: Rmult_le_compat_l; [apply/Rlt_le/Rinv_0_lt_compat|apply: h; rewrite act_count].
Qed.

Lemma of_count_ge l z : (l <= K)%N -> (forall v, count id (v : votes) = l -> z <= M v true) -> z <= of_count M l.
Proof.
move=> /some_votes [v <-] h; rewrite -in_any_order; have p := orders_pos.
rewrite -[z]Rmult_1_l -[X in X * z]orders_sum big_distrl /=; apply: rsum_le => s _.
by apply: Rmult_le_compat_l; [apply/Rlt_le/Rinv_0_lt_compat|apply: h; rewrite act_count].
Qed.

Lemma of_count01 l : (l <= K)%N -> 0 <= of_count M l <= 1.
Proof.
move=> hl; split; first by apply: of_count_ge => // v _; apply: mass_ge0.
by apply: of_count_le => // v _; have := mass_ge0 (M v) false; rewrite mass_false /=; lra.
Qed.

(** ** The loss is how often the label is not the majority's *)
Definition flip (v : votes) : votes := [tuple ~~ tnth v i | i < K].
Lemma flipK : involutive flip.
Proof. by move=> v; apply: eq_from_tnth => i; rewrite !tnth_mktuple negbK. Qed.
Lemma flip_count v : count id (flip v) = (K - count id v)%N.
Proof.
have -> : tval (flip v) = [seq ~~ b | b <- v].
  by rewrite -[in RHS](map_tnth_enum v) -map_comp.
by rewrite count_map -others; apply: eq_count => -[].
Qed.
Lemma size_flip l : (l <= K)%N -> size_at (K - l)%N = size_at l.
Proof.
move=> hl; congr INR; rewrite -(card_preimset _ (inv_inj flipK)); apply: eq_card => v; rewrite !inE flip_count.
have hv : (count id v <= K)%N by rewrite -[X in (_ <= X)%N](size_tuple v) count_size.
by apply/eqP/eqP => [h|->]//; rewrite -(subKn hv) h subKn.
Qed.

Lemma count_at l (hl : (l <= K)%N) : \rsum_(v | count id (v : votes) == l) M v true = size_at l * of_count M l.
Proof.
have [v e] := some_votes hl; have := size_pos v; rewrite e => n.
by rewrite /of_count; field; lra.
Qed.
Lemma count_at_false l (hl : (l <= K)%N) : \rsum_(v | count id (v : votes) == l) M v false = size_at l * (1 - of_count M l).
Proof.
rewrite Rmult_minus_distr_l -count_at // Rmult_1_r.
apply: (Rplus_eq_reg_r (\rsum_(v | count id (v : votes) == l) M v true)).
rewrite -big_split /= (eq_bigr (fun _ => 1)) => [|v _]; last by rewrite mass_false /=; ring.
have -> : \rsum_(v | count id (v : votes) == l) 1 = size_at l.
  2: by have h a b : a = a - b + b by [ring]; apply: h.
by rewrite sum_at; apply: Rmult_1_r.
Qed.

(** Votes v are drawn with a probability that their number alone decides, the same for both labels. *)
Theorem error_is_loss (u : nat -> R) : (forall l, (l <= K)%N -> u (K - l)%N = u l) ->
  errs M u = loss K (fun l => size_at l * u l) (of_count M).
Proof.
move=> hu; rewrite /errs /loss.
have low (l : 'I_(uphalf K)) : (l <= K)%N /\ (l.*2 < K)%N.
  have h : (l.*2 < K)%N by have := ltn_ord l; rewrite -/(free K) freeE.
  by split=> //; apply: leq_trans (ltnW h); rewrite -addnn leq_addr.
have part (f : votes -> R) (sel : nat -> nat) : {in [pred l | (l.*2 < K)%N] &, injective sel} ->
    \rsum_(l < uphalf K) \rsum_(v | count id (v : votes) == sel l) f v =
    \rsum_(v | [exists l : 'I_(uphalf K), count id (v : votes) == sel l]) f v.
  move=> inj; rewrite (eq_bigr (fun l : 'I_(uphalf K) => \rsum_v (if count id (v : votes) == sel l then f v else 0))) => [|l _].
    2: exact: big_mkcond.
  rewrite exchange_big [RHS]big_mkcond /=.
  apply: eq_bigr => v _; case: existsP => [[l /eqP e]|h].
    rewrite (bigD1 l) //= e eqxx big1 ?Rplus_0_r // => k nk; case: eqP => // /inj k'.
    by case/eqP: nk; apply/val_inj/esym/k'; rewrite inE; [have [] := low l|have [] := low k].
  by rewrite big1 // => l _; case: eqP => // e; case: h; exists l; apply/eqP.
have -> : \rsum_(l < uphalf K) (size_at l * u l * (1 - (of_count M (K - l) - of_count M l))) =
    \rsum_(l < uphalf K) \rsum_(v | count id (v : votes) == l) (u (count id v) * M v true)
  + \rsum_(l < uphalf K) \rsum_(v | (count id (v : votes) == K - l)%N) (u (count id v) * M v false).
  rewrite -big_split /=; apply: eq_bigr => l _; have [hl _] := low l.
  rewrite (eq_bigr (fun v => u l * M v true)) => [|v /eqP -> //].
  rewrite [X in _ = _ + X](eq_bigr (fun v => u l * M v false)) => [|v /eqP ->]; last by rewrite hu.
  rewrite -!big_distrr /= count_at // count_at_false ?leq_subr // size_flip //.
  by have h a b c d : a * b * (1 - (d - c)) = b * (a * c) + b * (a * (1 - d)) by [ring]; apply: h.
congr Rplus.
  rewrite (part (fun v => u (count id (v : votes)) * M v true) (fun l => l)) => [|a b _ _ //].
  apply: eq_bigl => v; apply/idP/existsP => [h|[l /eqP ->]]; last by have [] := low l.
  have hf : (count id v < uphalf K)%N by rewrite -/(free K) freeE.
  by exists (Ordinal hf).
have le c : (c.*2 < K)%N -> (c <= K)%N by move=> h; apply: leq_trans (ltnW h); rewrite -addnn leq_addr.
have other c : (c <= K)%N -> (K < c.*2)%N = ((K - c).*2 < K)%N.
  by move=> h; rewrite doubleB ltn_subLR ?leq_double // -[X in _ = (X < _)%N]addnn ltn_add2r.
rewrite (part (fun v => u (count id (v : votes)) * M v false) (fun l => K - l)%N) => [|a b].
  apply: eq_bigl => v; have hv : (count id v <= K)%N by rewrite -[X in (_ <= X)%N](size_tuple v) count_size.
  rewrite other //; apply/idP/existsP => [h|[l /eqP ->]].
    have hf : (K - count id v < uphalf K)%N by rewrite -/(free K) freeE.
    by exists (Ordinal hf); rewrite /= subKn.
  by have [h1 h2] := low l; rewrite subKn.
by rewrite !inE => ha hb e; rewrite -(subKn (le _ ha)) e subKn // le.
Qed.
End Teachers.

(** ** The theorem: a yes of the checker to a table of shape *any* *)
Section Best.
Variables (x : table) (p : prior) (ms : seq multiplier) (gn gd : Z).
Hypothesis yes : optimal x Any p ms gn gd = true.
Variable M : x.(K).-tuple bool -> dist bool_finType.
Hypothesis private : keeps_all x.(t) (exp (epsilon x)) (teacher_delta x) (exp (total x)) (delta x) M.

Lemma of_count_competes : competitor x Any (of_count M).
Proof. by split; [apply: of_count_keeps|split=> // l hl; apply: of_count01]. Qed.

(** For a prior: no private mechanism on the votes loses less by more than the stated gap. *)
Theorem every_mechanism : (if p is Worst _ _ then False else True) ->
  loss x.(K) (w_of x p) (one_prob x) <= loss x.(K) (w_of x p) (of_count M) + IZR gn / IZR gd.
Proof. by move=> hp; apply: (optimal_ok yes hp of_count_competes). Qed.

(** For the worst votes. *)
Theorem every_mechanism_worst z : (if p is Worst _ _ then True else False) -> 0 <= z ->
  (forall v : x.(K).-tuple bool, ((count id v).*2 < x.(K))%N -> M v true <= z) ->
  (forall v : x.(K).-tuple bool, (x.(K) < (count id v).*2)%N -> M v false <= z) ->
  forall l, (l < uphalf x.(K))%N ->
  (1 - (one_prob x (x.(K) - l)%N - one_prob x l)) / 2 <= z + IZR gn / IZR gd.
Proof.
move=> hp z0 h1 h0; apply: (worst_ok yes hp of_count_competes z0) => l; rewrite -/(free _) freeE => hl.
have le : (l <= x.(K))%N by apply: leq_trans (ltnW hl); rewrite -addnn leq_addr.
split; first by apply: of_count_le => // v e; apply: h1; rewrite e.
suff : 1 - z <= of_count M (x.(K) - l) by lra.
apply: of_count_ge => [|v e]; first exact: leq_subr.
suff : M v false <= z by rewrite mass_false; lra.
by apply: h0; rewrite e doubleB ltn_subRL -[X in (_ < X)%N]addnn ltn_add2r.
Qed.
End Best.
