(** The optimality of a table of many classes, executable: the multipliers of its proof bound how
    often any private mechanism on the votes is right.
    Code: plurality.Table, plurality.System.UpperBound, plurality.Objective.Weights; _plurality.bound. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Plurality Exp ManyClasses ManyVotes.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Close Scope Q_scope.

(** ** How many votes have a sorted histogram *)
Definition factorials (T : finType) (r : seq T) : nat := (\prod_x (count_mem x r)`!)%N.

Lemma factorials_rem (T : finType) (r : seq T) x : x \in r ->
  factorials r = (count_mem x r * factorials (rem x r))%N.
Proof.
move=> hx; rewrite /factorials (bigD1 x) // [in RHS](bigD1 x) //= mulnA; congr muln.
  have := seq.permP (perm_to_rem hx) (pred1 x); rewrite /= eqxx add1n => ->.
  by rewrite factS.
apply: eq_bigr => y ny; have := seq.permP (perm_to_rem hx) (pred1 y).
by rewrite /= eq_sym (negbTE ny) add0n => ->.
Qed.

(** Orders of a list: n! over the factorials of how often each member occurs. *)
Lemma arrangements (T : finType) n (r : seq T) : size r = n ->
  ((\sum_(s : n.-tuple T) perm_eq s r) * factorials r = n`!)%N.
Proof.
elim: n r => [|n IH] r sz.
  case: r sz => // _; rewrite (big_pred1 (in_tuple [::])) => [|s]; last by apply/esym/eqP/val_inj; case: s => [[]].
  by rewrite /factorials big1 // => x _; rewrite /= fact0.
have split_head (F : n.+1.-tuple T -> nat) : (\sum_v F v = \sum_x \sum_(v : n.-tuple T) F [tuple of x :: v])%N.
  rewrite (reindex (fun c : T * n.-tuple T => [tuple of c.1 :: c.2])) /=; last first.
    exists (fun v => (thead v, [tuple of behead v])) => [[b v]|v] _; last by rewrite [RHS]tuple_eta.
    by congr pair; apply: val_inj.
  by rewrite -(pair_bigA _ (fun b (v : n.-tuple T) => F [tuple of b :: v])).
rewrite split_head big_distrl /= (eq_bigr (fun x => count_mem x r * n`!)%N) => [|x _].
  rewrite -big_distrl /= factS; congr (_ * _)%N; rewrite -sz; elim: r {IH sz} => [|y r IH]; first by rewrite big1.
  rewrite /= big_split /= IH (bigD1 y) //= eqxx big1 // => x n'; by rewrite eq_sym (negbTE n').
have [hx|hx] := boolP (x \in r); last first.
  rewrite (count_memPn hx) mul0n big1 // => s _; case pe : perm_eq => //.
  by move/perm_mem: pe => /(_ x); rewrite in_cons eqxx (negbTE hx).
rewrite (factorials_rem hx) mulnCA -(IH (rem x r)); last by rewrite size_rem // sz.
congr (_ * (_ * _))%N; apply: eq_bigr => s _; congr nat_of_bool.
by rewrite (permPr (perm_to_rem hx)) perm_cons.
Qed.

Section Ways.
Variables K C : nat.
Notation votes := (K.-tuple 'I_C).

Lemma tallyE (v w : votes) : (tally v == tally w) = perm_eq v w.
Proof.
apply/eqP/idP => [e|/seq.permP e]; last by apply: eq_from_tnth => c; rewrite !tnth_mktuple e.
by apply/allP => c _; have /eqP := congr1 (fun h => tnth h c) e; rewrite !tnth_mktuple.
Qed.

(** Votes with one histogram. *)
Lemma ways_tally (h : histogram C) : votes_in h = K -> ((\sum_(v : votes) (tally v == h)) * \prod_c (tnth h c)`! = K`!)%N.
Proof.
move=> e; have [v [_ [<- _ _]]] := near_votes_of e e (leqnn _).
rewrite -(arrangements (size_tuple v)); congr (_ * _)%N; last by apply: eq_bigr => c _; rewrite tnth_mktuple.
by apply: eq_bigr => w _; rewrite tallyE.
Qed.

Lemma sort_perm (s l : seq nat) : sorted geq l -> (sort geq s == l) = perm_eq s l.
Proof.
move=> so; have tr : transitive geq by move=> x y z h1 h2; apply: leq_trans h2 h1.
apply/eqP/idP => [<-|pe]; first by rewrite perm_sym perm_sort.
apply: (sorted_eq tr) so _; rewrite ?perm_sort //; first by move=> x y; rewrite /geq /= andbC; apply: anti_leq.
by apply: sort_sorted => x y; apply: leq_total.
Qed.

Variable l : seq nat.
Hypotheses (l_size : size l = C) (l_sum : sumn l = K) (l_sorted : sorted geq l).

(** Votes with one sorted histogram. *)
Theorem ways_sorted : (#|[set v : votes | sorted_tally v == l]| *
  (\prod_(a <- l) a`! * \prod_(a <- iota 0 K.+1) (count_mem a l)`!) = K`! * C`!)%N.
Proof.
pose plain (h : C.-tuple 'I_K.+1) : histogram C := [tuple val (tnth h c) | c < C].
pose code (v : votes) : C.-tuple 'I_K.+1 := [tuple inord (tnth (tally v) c) | c < C].
have codeK v : plain (code v) = tally v.
  apply: eq_from_tnth => c; rewrite !tnth_mktuple /= inordK // ltnS -[X in (_ <= X)%N](size_tuple v).
  exact: count_size.
have plain_inj : injective plain.
  by move=> h h' e; apply: eq_from_tnth => c; apply: val_inj; have := congr1 (fun x => tnth x c) e; rewrite !tnth_mktuple.
have tails : all (fun a => a < K.+1)%N l.
  by apply/allP => a; rewrite -l_sum ltnS; elim: (l) => //= b s IH; rewrite in_cons => /orP [/eqP ->|/IH h]; [apply: leq_addr|apply: leq_trans h (leq_addl _ _)].
pose lt : seq 'I_K.+1 := [seq inord a | a <- l].
have ltE : map val lt = l.
  by rewrite -map_comp -[RHS]map_id; apply/eq_in_map => a ha /=; rewrite inordK //; apply: (allP tails).
have plainE h : tval (plain h) = map val h by rewrite -[in RHS](map_tnth_enum h) -map_comp.
have each h : ((\sum_(v : votes) (tally v == plain h)) * (sort geq (plain h) == l) * \prod_(a <- l) a`! =
    perm_eq h lt * K`!)%N.
  have -> : (sort geq (plain h) == l) = perm_eq h lt.
    by rewrite sort_perm // plainE -[X in perm_eq _ X]ltE; apply/idP/idP => [/(perm_map_inj val_inj)|/(perm_map val)].
  case pe : perm_eq; last by rewrite muln0 !mul0n.
  have ph : perm_eq (plain h) l by rewrite plainE -ltE perm_map.
  rewrite muln1 mul1n -(@ways_tally (plain h)); last by rewrite -l_sum -(perm_sumn ph) sumnE big_tuple.
  by rewrite -(perm_big _ ph) big_tuple.
have all_votes : #|[set v : votes | sorted_tally v == l]| =
    (\sum_(h : C.-tuple 'I_K.+1) (\sum_(v : votes) (tally v == plain h)) * (sort geq (plain h) == l))%N.
  rewrite cardsE -sum1_card big_mkcond (partition_big code xpredT) //; apply: eq_bigr => h _.
  rewrite [RHS]big_distrl [LHS]big_mkcond; apply: eq_bigr => v _.
  rewrite -(inj_eq plain_inj) codeK unfold_in andTb; case: eqP => [<-|_]; last by rewrite [RHS]mul0n.
  by rewrite [RHS]mul1n.
have facts : factorials lt = (\prod_(a <- iota 0 K.+1) (count_mem a l)`!)%N.
  have -> : iota 0 K.+1 = index_iota 0 K.+1 by rewrite /index_iota subn0.
  rewrite big_mkord; apply: eq_bigr => x _; congr factorial.
  rewrite -ltE [RHS]count_map; apply: eq_count => y; exact: (inj_eq val_inj).
rewrite mulnA all_votes big_distrl /= (eq_bigr (fun h : C.-tuple 'I_K.+1 => perm_eq h lt * K`!)%N) => [|h _].
  rewrite -[X in (X * _)%N]big_distrl -facts -mulnA [(K`! * factorials lt)%N]mulnC [LHS]mulnA.
  by rewrite (@arrangements _ C) ?size_map // mulnC.
exact: each.
Qed.
End Ways.
