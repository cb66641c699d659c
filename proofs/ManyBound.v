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

(** ** Numbers *)
Fixpoint zfact (n : nat) : Z := if n is n'.+1 then (Z.of_nat n * zfact n')%Z else 1%Z.
Definition Zsum : seq Z -> Z := foldr Z.add 0%Z.
Definition Zprod : seq Z -> Z := foldr Z.mul 1%Z.
Definition Qprod (s : seq Q) : Q := foldr (fun a b => Qred (Qmult a b)) 1%Q s.
Definition Qmost (s : seq Q) : Q := foldr (fun a b => if Qle_bool a b then b else a) (head 0%Q s) s.
Definition Qpow (a : Q) (n : nat) : Q := Qprod (nseq n a).
Definition Qrising (a : Q) (n : nat) : Q := Qprod [seq Qplus a (inject_Z (Z.of_nat i)) | i <- iota 0 n].

(** How votes come: by a teacher's accuracy n/d, by the concentration n/d of the classes' shares, or
    by counts of histograms. *)
Inductive prior := Accuracy (n d : Z) | Concentration (n d : Z) | Counts (c : seq (seq nat * Z)).
Definition prior_ok (C : nat) (p : prior) : bool := (1 < C)%N &&
  match p with
  | Accuracy n d => [&& Z.leb 0 n, Z.leb n d & Z.ltb 0 d]
  | Concentration n d => Z.ltb 0 n && Z.ltb 0 d
  | Counts c => all (fun e => Z.leb 0 e.2) c && Z.ltb 0 (Zsum [seq e.2 | e <- c])
  end.

Section Weights.
Variables (K C : nat) (p : prior).
(** How many votes have the sorted histogram l, and the probability of each. *)
Definition ways (l : seq nat) : Q :=
  Qof (zfact K * zfact C) (Zprod [seq zfact a | a <- l] * Zprod [seq zfact (count_mem a l) | a <- iota 0 K.+1]).
Definition each (l : seq nat) : Q :=
  match p with
  | Accuracy n d =>
    let wrong := Qmult (Qminus 1 (Qof n d)) (Qof 1 (Z.of_nat C - 1)) in
    Qmult (Qof 1 (Z.of_nat C)) (Qsum [seq Qmult (Qpow (Qof n d) a) (Qpow wrong (K - a)) | a <- l])
  | Concentration n d => Qmult (Qprod [seq Qrising (Qof n (d * Z.of_nat C)) a | a <- l]) (Qinv (Qrising (Qof n d) K))
  | Counts _ => 0%Q
  end.
Definition chance_of (l : seq nat) : Q :=
  match p with
  | Counts c => Qof (Zsum [seq e.2 | e <- c & sort geq e.1 == l]) (Zsum [seq e.2 | e <- c])
  | _ => Qmult (ways l) (each l)
  end.
End Weights.

(** Multipliers of the answers to two neighbouring histograms: yd times those of *no class* and of
    each class. *)
Record row := Row { row_from : seq nat; row_to : seq nat; ys : seq Z; yd : Z }.

Section Code.
Variable x : table.
Notation KK := x.(K).
Notation CC := x.(C).
Definition row_formed (m : row) : bool :=
  [&& size m.(row_from) == CC, size m.(row_to) == CC, sumn m.(row_from) == KK, sumn m.(row_to) == KK,
      (gains m.(row_to) m.(row_from) <= x.(t))%N, size m.(ys) == CC.+1, all (Z.leb 0) m.(ys) & Z.ltb 0 m.(yd)].
Definition sorted_lists : seq (seq nat) := partitions CC KK KK.
Definition keys (l : seq nat) : seq (option nat) := (if x.(abstains) then [:: None] else [::]) ++ [seq Some b | b <- undup l].

Definition share_of (h : seq nat) (m : row) (k : option nat) : Q :=
  Qof (if k is Some b then Zsum [seq e.2 | e <- zip h (behead m.(ys)) & e.1 == b] else head 0%Z m.(ys)) m.(yd).
Definition members_of (l : seq nat) (k : option nat) : Z := if k is Some b then Z.of_nat (count_mem b l) else 1%Z.
Definition objective_of (a : Q) (l : seq nat) (k : option nat) : Q :=
  if k is Some b then (if b == head 0%N l then inject_Z (members_of l k) else 0%Q) else a.

(** A row with the sorted forms of its histograms. *)
Definition with_sorted (m : row) : seq nat * seq nat * row := (sort geq m.(row_from), sort geq m.(row_to), m).
Definition effect_of (E : Q) (l : seq nat) (k : option nat) (r : seq nat * seq nat * row) : Q :=
  Qminus (if r.1.1 == l then share_of r.2.(row_from) r.2 k else 0%Q)
         (Qmult E (if r.1.2 == l then share_of r.2.(row_to) r.2 k else 0%Q)).
Definition best_of (E a : Q) (p : prior) (rs : seq (seq nat * seq nat * row)) (l : seq nat) : Q :=
  let here := [seq r <- rs | (r.1.1 == l) || (r.1.2 == l)] in
  let w := chance_of KK CC p l in
  Qmost [seq Qmult (Qminus (Qmult w (objective_of a l k)) (Qsum [seq effect_of E l k r | r <- here])) (Qof 1 (members_of l k)) |
         k <- keys l].
(** No private mechanism is right more often. *)
Definition ceiling (E a : Q) (p : prior) (ms : seq row) : Q :=
  let rs := [seq with_sorted m | m <- ms] in
  Qplus (Qmult (Qof x.(pn) x.(pd)) (Qsum [seq Qof (foldr Z.max 0%Z m.(ys)) m.(yd) | m <- ms]))
        (Qsum [seq best_of E a p rs l | l <- sorted_lists]).
(** How often the table is. *)
Definition own (a : Q) (p : prior) : Q :=
  Qsum [seq Qmult (chance_of KK CC p l) (Qplus (Qof (group x l (Some (head 0%N l))) x.(one))
                                               (Qmult a (Qof (group x l None) x.(one)))) | l <- sorted_lists].

(** e^total, rounded up: then what is private obeys the rows. *)
Definition above : Q := let '(top, bottom) := exp_up x.(tc) x.(tf) x.(terms) in Qof top bottom.
(** *No class* counts an/ad; the stated gap is gn/gd. *)
Definition optimal (p : prior) (an ad : Z) (ms : seq row) (gn gd : Z) : bool :=
  [&& ~~ x.(missing), Z.leb 0 x.(tc), Z.ltb 0 x.(tf), Z.leb (2 * x.(tc)) (x.(tf) * Z.of_nat (x.(terms) + 2)),
      Z.ltb 0 x.(pd), Z.ltb 0 x.(one), [&& Z.leb 0 an, Z.leb an ad & Z.ltb 0 ad], x.(abstains) || Z.eqb an 0, Z.ltb 0 gd,
      prior_ok CC p, all row_formed ms, Qeq_bool (Qsum [seq chance_of KK CC p l | l <- sorted_lists]) 1 &
      let U := ceiling above (Qof an ad) p ms in
      Qle_bool (Qminus (if Qle_bool U 1 then U else 1%Q) (own (Qof an ad) p)) (Qof gn gd)].
End Code.

Open Scope R_scope.
Close Scope Q_scope.

(** ** The walk *)
Lemma partitions_are C n most l : l \in partitions C n most ->
  [/\ size l = C, sumn l = n, sorted geq l & all (geq most) l].
Proof.
elim: C n most l => [|C IH] n most l; first by case: n => [|n] //=; rewrite inE => /eqP ->.
rewrite partitionsS => /flatten_mapP [b]; rewrite mem_iota add0n ltnS leq_min /= => /andP [hn hm] /mapP [l' /IH [s1 s2 s3 s4] ->] /=.
split; rewrite ?s1 ?s2 ?subnKC //.
  by move: s3 s4; case: (l') => //= c s -> /andP [-> _].
by rewrite /geq /= hm; apply: sub_all s4 => c h; apply: leq_trans h hm.
Qed.

Lemma partitions_uniq C n most : uniq (partitions C n most).
Proof.
elim: C n most => [|C IH] n most; first by case: n.
rewrite partitionsS.
apply: (allpairs_uniq_dep (f := fun b l => b :: l) (t := fun b => partitions C (n - b) b)); first exact: iota_uniq.
  by move=> b _; apply: IH.
by move=> [b l] [b' l'] _ _ /= [-> ->].
Qed.

(** ** Rational numbers *)
Lemma Q2R_prod s : Q2R (Qprod s) = \big[Rmult/1]_(a <- s) Q2R a.
Proof.
elim: s => [|a s IH]; first by rewrite big_nil RMicromega.Q2R_1.
by rewrite big_cons -IH -Q2R_mult; apply: Qeq_eqR; apply: Qred_correct.
Qed.

Lemma Q2R_pow a n : Q2R (Qpow a n) = Q2R a ^ n.
Proof. by rewrite Q2R_prod; elim: n => [|n IH]; rewrite ?big_nil //= big_cons IH. Qed.

Lemma Q2R_Z z : Q2R (inject_Z z) = IZR z.
Proof. by rewrite /Q2R /= Rinv_1 Rmult_1_r. Qed.

Lemma Q2R_rising a n : Q2R (Qrising a n) = rising (Q2R a) n.
Proof.
rewrite Q2R_prod big_map -{1}(subn0 n) -/(index_iota 0 n) big_mkord; apply: eq_bigr => i _.
by rewrite Q2R_plus Q2R_Z INR_IZR_INZ.
Qed.

Lemma Q2R_most (T : eqType) (F : T -> Q) s k : k \in s -> Q2R (F k) <= Q2R (Qmost [seq F j | j <- s]).
Proof.
rewrite /Qmost; move: (head _ _) => z; elim: s => //= j s IH; rewrite in_cons.
case e : Qle_bool => /orP [/eqP ->|/IH h] //; first by move/Qle_bool_iff/Qle_Rle: e.
  exact: Rle_refl.
apply: Rle_trans h _; apply: Rlt_le; apply: Rnot_le_lt => n.
by move/Rle_Qle/Qle_bool_iff: n; rewrite e.
Qed.

Lemma zsum_ok s : IZR (Zsum s) = \rsum_(z <- s) IZR z.
Proof. by elim: s => [|z s IH]; rewrite ?big_nil // big_cons -IH -plus_IZR. Qed.

Lemma zprod_ok (s : seq nat) (f : nat -> nat) : Zprod [seq zfact (f a) | a <- s] = Z.of_nat (\prod_(a <- s) (f a)`!)%N.
Proof.
have fact_ok n : zfact n = Z.of_nat n`!.
  by elim: n => [|n IH] //; rewrite factS Nat2Z.inj_mul -IH.
by elim: s => [|a s IH]; rewrite ?big_nil // big_cons Nat2Z.inj_mul -IH -fact_ok.
Qed.

(** ** The prior *)
Lemma votes_tally K C (v : K.-tuple 'I_C) : votes_in (tally v) = K.
Proof.
rewrite /votes_in (eq_bigr (fun c => count_mem c v)) => [|c _]; last by rewrite tnth_mktuple.
rewrite -[RHS](size_tuple v); elim: (tval v) => [|y r IH] /=; first by rewrite big1.
by rewrite big_split /= IH (bigD1 y) //= eqxx big1 // => c n; rewrite eq_sym (negbTE n).
Qed.

Lemma prod_if (T : eqType) (s : seq T) c (a b : R) :
  \big[Rmult/1]_(y <- s) (if y == c then a else b) = a ^ count_mem c s * b ^ (size s - count_mem c s).
Proof.
elim: s => [|y s IH]; first by rewrite big_nil /=; ring.
rewrite big_cons IH /=; case: (y == c); first by rewrite add1n subSS /=; ring.
by rewrite add0n subSn ?count_size //=; ring.
Qed.

Lemma over_tally K C (v : K.-tuple 'I_C) idx (op : Monoid.com_law idx) (F : nat -> R) :
  \big[op/idx]_(a <- sorted_tally v) F a = \big[op/idx]_(c < C) F (count_mem c v).
Proof.
rewrite (perm_big (tally v)); last by rewrite /sorted_tally perm_sort.
by rewrite big_tuple; apply: eq_bigr => c _; rewrite tnth_mktuple.
Qed.

(** The law of the votes that a table is best for. *)
Definition law_of (K C : nat) (p : prior) (v : K.-tuple 'I_C) : R :=
  match p with
  | Accuracy n d => skilled (IZR n / IZR d) v
  | Concentration n d => uneven (IZR n / IZR d) v
  | Counts c => counted (fun l => (\big[Rplus/0]_(e <- c | sort geq e.1 == l) IZR e.2) / \rsum_(e <- c) IZR e.2) v
  end.

Section Prior.
Variables (K C : nat) (p : prior).
Hypothesis ok : prior_ok C p.
Notation votes := (K.-tuple 'I_C).

Lemma C_pos : 0 < INR C /\ 0 < INR C - 1.
Proof. by case/andP: ok => h _; have := lt_INR 1 C (elimT ltP h); rewrite /=; lra. Qed.

Definition each_real (l : seq nat) : R :=
  match p with
  | Counts c => (\big[Rplus/0]_(e <- c | sort geq e.1 == l) IZR e.2) / (\rsum_(e <- c) IZR e.2)
                / INR #|[set v' : votes | sorted_tally v' == l]|
  | _ => Q2R (each K C p l)
  end.

Lemma rising_ge0 a n : 0 <= a -> 0 <= rising a n.
Proof.
move=> h; apply: (big_ind (fun y => 0 <= y)); [lra|by move=> y z; apply: Rmult_le_pos|].
by move=> i _; have := pos_INR i; lra.
Qed.
Lemma rising_pos a n : 0 < a -> 0 < rising a n.
Proof.
move=> h; apply: (big_ind (fun y => 0 < y)); [lra|by move=> y z; apply: Rmult_lt_0_compat|].
by move=> i _; have := pos_INR i; lra.
Qed.

Lemma law_sorted (v : votes) : law_of p v = each_real (sorted_tally v).
Proof.
have [c0 c1] := C_pos.
have ec : IZR (Z.of_nat C) = INR C by rewrite INR_IZR_INZ.
have zc : (0 < Z.of_nat C)%Z by apply: lt_IZR; rewrite ec.
rewrite /law_of /each_real /each; case: p ok => [n d|n d|c] /andP [hC hp] //.
- case/andP: hp => _ /andP [_ /Z.ltb_lt hd]; have d0 := IZR_lt _ _ hd.
  have zc1 : (0 < Z.of_nat C - 1)%Z by apply: lt_IZR; rewrite minus_IZR ec.
  rewrite Q2R_mult Q2R_sum big_map !Q2R_of // ec /skilled -big_distrr /=.
  have -> : 1 / INR C = / INR C by rewrite /Rdiv Rmult_1_l.
  congr Rmult.
  rewrite (over_tally v Rplus_com); apply: eq_bigr => c _; rewrite Q2R_mult !Q2R_pow Q2R_mult Q2R_minus !Q2R_of // minus_IZR ec.
  rewrite -(big_tuple _ _ v xpredT (fun y => if y == c then _ else _)) prod_if size_tuple.
  have -> : (1 - IZR n / IZR d) / (INR C - 1) = (Q2R 1 - IZR n / IZR d) * (1 / (INR C - 1)) by rewrite RMicromega.Q2R_1; field; split; lra.
  by [].
- case/andP: hp => /Z.ltb_lt hn /Z.ltb_lt hd.
  have [n0 d0] := (IZR_lt _ _ hn, IZR_lt _ _ hd).
  have a0 : 0 < IZR n / IZR d by apply: Rdiv_lt_0_compat.
  have e : Q2R (Qrising (Qof n d) K) = rising (IZR n / IZR d) K by rewrite Q2R_rising Q2R_of.
  rewrite Q2R_mult Q2R_inv => [|z]; last first.
    by have := rising_pos K a0; rewrite -e (Qeq_eqR _ _ z) RMicromega.Q2R_0; lra.
  rewrite Q2R_prod big_map e /uneven; congr (_ * _).
  rewrite (over_tally v Rmult_com); apply: eq_bigr => c _; rewrite Q2R_rising Q2R_of; last lia.
  by congr rising; rewrite mult_IZR ec; field; split; lra.
Qed.

Lemma law_ge0 (v : votes) : 0 <= law_of p v.
Proof.
have [c0 c1] := C_pos; rewrite /law_of; case: p ok => [n d|n d|c] /andP [hC hp].
- case/andP: hp => /Z.leb_le/IZR_le n0 /andP [/Z.leb_le/IZR_le n1 /Z.ltb_lt/IZR_lt d0].
  have m0 : 0 <= IZR n / IZR d by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
  have m1 : IZR n / IZR d <= 1.
    by apply: (Rmult_le_reg_r (IZR d)) => //; have -> : IZR n / IZR d * IZR d = IZR n by [field; lra]; lra.
  apply: rsum_ge0 => c _; apply: Rmult_le_pos; first exact/Rlt_le/Rinv_0_lt_compat.
  apply: (big_ind (fun y => 0 <= y)); [lra|by move=> y z; apply: Rmult_le_pos|move=> i _].
  by case: ifP => _ //; apply: Rmult_le_pos; [lra|apply/Rlt_le/Rinv_0_lt_compat].
- case/andP: hp => /Z.ltb_lt/IZR_lt n0 /Z.ltb_lt/IZR_lt d0.
  have a0 : 0 < IZR n / IZR d by apply: Rdiv_lt_0_compat.
  apply: Rmult_le_pos; last exact/Rlt_le/Rinv_0_lt_compat/rising_pos.
  apply: (big_ind (fun y => 0 <= y)); [lra|by move=> y z; apply: Rmult_le_pos|move=> c _].
  by apply/rising_ge0/Rlt_le/Rdiv_lt_0_compat.
- case/andP: hp => hc /Z.ltb_lt/IZR_lt; rewrite zsum_ok big_map => t0.
  have some : 0 < INR #|[set v' : votes | sorted_tally v' == sorted_tally v]|.
    by apply/lt_0_INR/ltP/card_gt0P; exists v; rewrite inE.
  apply: Rmult_le_pos; last exact/Rlt_le/Rinv_0_lt_compat.
  apply: Rmult_le_pos; last exact/Rlt_le/Rinv_0_lt_compat.
  elim: (c) hc => [_|e s IH /= /andP [/Z.leb_le/IZR_le he /IH h]]; rewrite ?big_nil ?big_cons; first lra.
  by case: ifP => _ //; apply: Rplus_le_le_0_compat.
Qed.

Lemma sum_votes (P : pred votes) y : \big[Rplus/0]_(v | P v) y = INR #|[set v | P v]| * y.
Proof.
rewrite big_const (_ : #|P| = #|[set v | P v]|); last by apply: eq_card => v; rewrite !inE.
by elim: #|_| => [|k IH]; [rewrite /=; ring|rewrite iterS S_INR IH; ring].
Qed.

(** The checker's weights are those of the law. *)
Lemma chance_ok l : l \in partitions C K K -> Q2R (chance_of K C p l) = weight (law_of p : votes -> R) l.
Proof.
case/partitions_are => l1 l2 l3 _.
have := @ways_sorted K C l l1 l2 l3; set n := #|_|; set D := (\prod_(a <- l) _ * _)%N => en.
have f0 k : (0 < k`!)%N := fact_gt0 k.
have [n0 D0] : (0 < n)%N /\ (0 < D)%N by apply/andP; rewrite -muln_gt0 en muln_gt0 !f0.
have [n0' D0'] : 0 < INR n /\ 0 < INR D by split; apply/lt_0_INR/ltP.
have ways_ok : Q2R (ways K C l) = INR n.
  have fz k : zfact k = Z.of_nat k`! by have := zprod_ok [:: k] id; rewrite big_cons big_nil muln1 /= Z.mul_1_r.
  rewrite /ways (zprod_ok l id) (zprod_ok _ (fun a => count_mem a l)) !fz -!Nat2Z.inj_mul Q2R_of; last first.
    by apply: (inj_lt 0); apply/ltP.
  by rewrite -!INR_IZR_INZ !multE -/D -en mult_INR; field; lra.
have -> : weight (law_of p : votes -> R) l = INR n * each_real l.
  rewrite /weight /n -sum_votes; apply: eq_bigr => v /eqP <-; exact: law_sorted.
rewrite /chance_of /each_real; case: p ok => [a b|a b|c] /andP [hC hp]; rewrite ?Q2R_mult ?ways_ok //.
case/andP: hp => _ /Z.ltb_lt t0; rewrite Q2R_of // !zsum_ok !big_map big_filter -/n.
have := IZR_lt _ _ t0; rewrite zsum_ok big_map => t0'; field; lra.
Qed.
End Prior.

(** ** Mechanisms that may answer *no class* where it counts nothing: naming a class is no worse *)
Section Naming.
Variables (K C : nat) (c0 : 'I_C).
Notation votes := (K.-tuple 'I_C).
Definition name_of (o : answers C) : answers C := Some (odflt c0 o).

Definition settled (P : dist (answers C)) : dist (answers C).
refine (@Dist _ (fun o => \big[Rplus/0]_(o' | name_of o' == o) P o') _ _).
- by move=> o; apply: rsum_ge0 => o' _; apply: mass_ge0.
- by rewrite -(mass_sum P) [RHS](partition_big name_of xpredT).
Defined.

Lemma settled_none P : settled P None = 0.
Proof. by rewrite /= big_pred0. Qed.

Lemma settled_sum P (f : answers C -> R) : \rsum_o (f o * settled P o) = \rsum_o (f (name_of o) * P o).
Proof.
rewrite [RHS](partition_big name_of xpredT) //=; apply: eq_bigr => o _.
by rewrite big_distrr /=; apply: eq_bigr => o' /eqP ->.
Qed.

Lemma settled_Pr P S : Pr (settled P) S = Pr P [set o | name_of o \in S].
Proof.
rewrite /Pr !(big_mkcond (fun o => o \in _)).
rewrite (eq_bigr (fun o => (if o \in S then 1 else 0) * settled P o)) => [|o _]; last by case: ifP => _; ring.
rewrite settled_sum; apply: eq_bigr => o _; rewrite inE; case: ifP => _; ring.
Qed.

Lemma settled_private t eps delta (M : votes -> dist (answers C)) :
  Definitions.private (near_votes t) eps delta (fun v => M v) ->
  Definitions.private (near_votes t) eps delta (fun v => settled (M v)).
Proof. by move=> h v w near; have [h1 h2] := h v w near; split=> S; rewrite !settled_Pr. Qed.

Lemma settled_hits (u : votes -> R) (M : votes -> dist (answers C)) : (forall v, 0 <= u v) ->
  hits 0 u (fun v => M v) <= hits 0 u (fun v => settled (M v)).
Proof.
move=> u0; apply: rsum_le => v _; apply: Rmult_le_compat_l => //.
rewrite settled_sum; apply: rsum_le => o _; apply: Rmult_le_compat_r; first exact: mass_ge0.
by case: o => [c|] /=; [apply: Rle_refl|case: ifP => _; lra].
Qed.
End Naming.

(** ** The theorem *)
Section Sound.
Variables (x : table) (p : prior) (an ad : Z) (ms : seq row) (gn gd : Z).
Hypothesis yes : optimal x p an ad ms gn gd = true.
Notation KK := x.(K).
Notation CC := x.(C).
Notation votes := (KK.-tuple 'I_CC).
Notation g := (mass_of x).
Notation L := (sorted_lists x).
Notation a := (IZR an / IZR ad).
Notation u := (law_of p : votes -> R).

Lemma facts : [/\ (0 <= x.(tc))%Z, (0 < x.(tf))%Z, (2 * x.(tc) <= x.(tf) * Z.of_nat (x.(terms) + 2))%Z, (0 < x.(pd))%Z & (0 < x.(one))%Z] /\
  [/\ 0 <= a <= 1, (0 < ad)%Z, ~~ x.(abstains) -> a = 0, prior_ok CC p & all (row_formed x) ms] /\
  Q2R (Qsum [seq chance_of KK CC p l | l <- L]) = 1 /\
  (Q2R (ceiling x (above x) (Qof an ad) p ms) <= Q2R (own x (Qof an ad) p) + IZR gn / IZR gd \/
   1 <= Q2R (own x (Qof an ad) p) + IZR gn / IZR gd).
Proof.
case/andP: yes => _ /andP [/Z.leb_le a1 /andP [/Z.ltb_lt a2 /andP [/Z.leb_le a3 /andP [/Z.ltb_lt a4 /andP [/Z.ltb_lt a5]]]]].
case/andP => /andP [/Z.leb_le/IZR_le b1 /andP [/Z.leb_le/IZR_le b2 /Z.ltb_lt b3]] /andP [b7 /andP [/Z.ltb_lt b4 /andP [b5 /andP [b6]]]].
case/andP => /Qeq_bool_iff/Qeq_eqR c1 /Qle_bool_iff/Qle_Rle; rewrite Q2R_minus Q2R_of // => c2.
have ad0 := IZR_lt _ _ b3.
do 2!split=> //; last first.
  by rewrite -RMicromega.Q2R_1; split=> //; move: c2; case: Qle_bool => c2; [left|right]; lra.
split=> //; last by move=> /negbTE n; move: b7; rewrite n => /Z.eqb_eq ->; rewrite /Rdiv Rmult_0_l.
split; first by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
by apply: (Rmult_le_reg_r (IZR ad)) => //; have -> : a * IZR ad = IZR an by [field; lra]; lra.
Qed.

Lemma above_ok : exp (total x) <= Q2R (above x).
Proof.
have [[a1 a2 a3 _ _] _] := facts; have := @exp_up_ok _ _ x.(terms) a1 a2 a3.
by rewrite /above /exp_up; case: exact_up => s f; rewrite Q2R_of.
Qed.

Lemma in_lists (v : votes) : sorted_tally v \in L.
Proof.
have sz : size (sorted_tally v) = CC by rewrite size_sort size_tuple.
have sm : sumn (sorted_tally v) = KK.
  by rewrite (@perm_sumn _ (tally v)) ?perm_sort // sumnE big_tuple -[RHS](votes_tally v).
have := @partitions_all (sorted_tally v) KK; rewrite sz sm; apply.
  by apply: sort_sorted => b c; apply: leq_total.
apply/allP => b hb; rewrite /geq /= -[X in (_ <= X)%N]sm; elim: (sorted_tally v) hb => //= c s IH; rewrite in_cons => /orP [/eqP ->|/IH h].
  exact: leq_addr.
exact: leq_trans h (leq_addl _ _).
Qed.

(** Lists of numbers as histograms, rows as multipliers. *)
Definition hist_of (s : seq nat) : histogram CC := [tuple nth 0%N s c | c < CC].
Lemma hist_ofE s : size s = CC -> tval (hist_of s) = s.
Proof. by move=> sz; rewrite -[RHS](mkseq_nth 0%N) sz /mkseq -val_enum_ord -map_comp. Qed.

Lemma votes_hist_of s : size s = CC -> sumn s = KK -> votes_in (hist_of s) = KK.
Proof. by move=> sz <-; rewrite -{2}(hist_ofE sz) sumnE big_tuple. Qed.

Lemma real_lists l : l \in L -> exists v : votes, sorted_tally v = l.
Proof.
case/partitions_are => l1 l2 l3 _; have e := votes_hist_of l1 l2.
have [v [_ [ev _ _]]] := near_votes_of e e (leqnn _); exists v.
by apply/eqP; rewrite /sorted_tally ev hist_ofE // sort_perm.
Qed.

Definition real (m : row) : multiplier CC :=
  Multiplier (hist_of m.(row_from)) (hist_of m.(row_to))
    (fun o => IZR (nth 0%Z m.(ys) (if o is Some c then (nat_of_ord c).+1 else 0%N)) / IZR m.(yd))
    (IZR (foldr Z.max 0%Z m.(ys)) / IZR m.(yd)).

Lemma share_ok h m k : size h = CC -> size m.(ys) = CC.+1 -> (0 < m.(yd))%Z ->
  Q2R (share_of h m k) = share (hist_of h) (price (real m)) k.
Proof.
move=> sh sy hd; rewrite /share_of Q2R_of //; case: k => [b|]; last by rewrite share_none /= nth0.
rewrite share_some /= zsum_ok big_map big_filter /Rdiv big_distrl /=.
rewrite (big_nth (0%N, 0%Z)) size_zip size_behead sy sh minnn big_mkord.
apply: eq_big => c; rewrite nth_zip ?size_behead ?sy //= ?tnth_mktuple // => _.
by rewrite nth_behead.
Qed.

Lemma row_facts m : row_formed x m -> [/\ size m.(row_from) = CC, size m.(row_to) = CC, size m.(ys) = CC.+1, (0 < m.(yd))%Z & allowed KK x.(t) (real m)].
Proof.
case/andP => /eqP s1 /andP [/eqP s2 /andP [/eqP k1 /andP [/eqP k2 /andP [near /andP [/eqP sy /andP [pos /Z.ltb_lt hd]]]]]].
have d0 : 0 < / IZR m.(yd) by apply/Rinv_0_lt_compat/IZR_lt.
split=> //; split; rewrite /= ?votes_hist_of //.
  by rewrite /gained -gains_gained !hist_ofE.
move=> o; set i := (if _ is Some _ then _ else _).
have [hi|hi] := ltnP i (size m.(ys)); last first.
  by move: hi; rewrite sy /i; case: (o) => [c|] //; rewrite ltnS leqNgt ltn_ord.
have top s j : all (Z.leb 0) s -> (j < size s)%N -> (0 <= nth 0%Z s j <= foldr Z.max 0%Z s)%Z.
  elim: s j => //= z s IH [|j] /andP [/Z.leb_le hz hs] hj /=; first by lia.
  by have := IH j hs hj; lia.
have [h1 h2] := top _ _ pos hi.
split; first by apply: Rmult_le_pos; [apply: IZR_le|lra].
by apply: Rmult_le_compat_r; [lra|apply: IZR_le].
Qed.

Lemma effect_of_ok E l k m : row_formed x m -> Q2R (effect_of E l k (with_sorted m)) = effect (Q2R E) (real m) l k.
Proof.
case/row_facts => s1 s2 sy hd _; rewrite /effect_of /effect Q2R_minus Q2R_mult /= !hist_ofE //.
by congr (_ - _ * _); case: eqP => _; rewrite ?RMicromega.Q2R_0 ?share_ok.
Qed.

Lemma members_ok l k : IZR (members_of l k) = members l k.
Proof. by case: k => [b|] //; rewrite /= INR_IZR_INZ. Qed.

Lemma keys_uniq l : uniq (keys x l).
Proof.
rewrite /keys cat_uniq map_inj_uniq ?undup_uniq ?andbT; last exact: Some_inj.
by case: x.(abstains) => /=; rewrite ?orbF //; apply/negP => /hasP [k /mapP [b _ ->]].
Qed.

Lemma members_pos l k : k \in keys x l -> 0 < members l k.
Proof.
rewrite mem_cat => /orP [|/mapP [b hb ->]]; first by case: x.(abstains) => //; rewrite inE => /eqP -> /=; lra.
by apply/lt_0_INR/ltP; rewrite -has_count has_pred1 -mem_undup.
Qed.

Lemma in_keys (h : histogram CC) o : o <> None \/ x.(abstains) -> omap (tnth h) o \in keys x (sort geq h).
Proof.
rewrite mem_cat; case: o => [c|] /= ho; last by case: ho => // ->; rewrite inE.
by apply/orP; right; apply: map_f; rewrite mem_undup mem_sort mem_tnth.
Qed.

Lemma weight_is l : l \in L -> Q2R (chance_of KK CC p l) = weight u l.
Proof. by have [_ [[_ _ _ ok _] _]] := facts; apply: chance_ok. Qed.

Lemma sum_lists (F : seq nat -> Q) (G : seq nat -> R) : (forall l, l \in L -> Q2R (F l) = G l) ->
  Q2R (Qsum [seq F l | l <- L]) = \rsum_(l <- L) G l.
Proof. by move=> h; rewrite Q2R_sum big_map big_seq [RHS]big_seq; apply: eq_bigr. Qed.

(** The law is one. *)
Theorem law_one : (forall v : votes, 0 <= u v) /\ \rsum_v u v = 1.
Proof.
have [_ [[_ _ _ ok _] [one _]]] := facts; split; first by move=> v; apply: law_ge0.
rewrite -one (sum_lists weight_is) (eq_bigr (fun v : votes => u v * 1)) => [|v _]; last by rewrite Rmult_1_r.
rewrite (regroup (partitions_uniq _ _ _) in_lists u (fun _ => 1)); apply: eq_bigr => l _; ring.
Qed.

Lemma objective_ok l k : Q2R (objective_of (Qof an ad) l k) = objective a l k.
Proof.
have [_ [[_ hd _ _ _] _]] := facts; case: k => [b|] /=; last by rewrite Q2R_of.
by case: eqP => _; rewrite ?RMicromega.Q2R_0 // Q2R_Z INR_IZR_INZ.
Qed.

Lemma best_ok l k : l \in L -> k \in keys x l ->
  slope (Q2R (above x)) a u (map real ms) l k <= Q2R (best_of x (above x) (Qof an ad) p (map with_sorted ms) l) * members l k.
Proof.
move=> hl hk; have m0 := members_pos hk; have [_ [[_ _ _ _ rows_ok] _]] := facts.
set q := Qminus (Qmult (chance_of KK CC p l) (objective_of (Qof an ad) l k))
  (Qsum [seq effect_of (above x) l k r | r <- [seq r <- map with_sorted ms | (r.1.1 == l) || (r.1.2 == l)]]).
have <- : Q2R q = slope (Q2R (above x)) a u (map real ms) l k.
  rewrite Q2R_minus Q2R_mult objective_ok weight_is // /slope Q2R_sum !big_map big_filter; congr (_ - _).
  elim: (ms) rows_ok => [|m s IH] /=; first by rewrite !big_nil.
  case/andP => hm /IH {}IH; rewrite !big_cons IH effect_of_ok //; case: ifP => // /norP h.
  have [s1 s2 _ _ _] := row_facts hm.
  have [/negbTE h1 /negbTE h2] := h; rewrite /= in h1 h2.
  by rewrite /effect /= !hist_ofE // h1 h2; ring.
have z : (0 < members_of l k)%Z by apply: lt_IZR; rewrite members_ok.
apply: (Rle_trans _ (Q2R (Qmult q (Qof 1 (members_of l k))) * members l k)).
  by apply: Req_le; rewrite Q2R_mult Q2R_of // members_ok; field; lra.
apply: Rmult_le_compat_r; first lra.
exact: (Q2R_most (fun k => Qmult (Qminus _ (Qsum [seq effect_of _ l k r | r <- _])) (Qof 1 (members_of l k)))).
Qed.

Lemma sum_histograms F : \rsum_v (u v * F (sorted_tally v)) = \rsum_(l <- L) (weight u l * F l).
Proof. exact: regroup (partitions_uniq _ _ _) in_lists u F. Qed.

Lemma hist_named (v : votes) : hist (named v) = tally v.
Proof.
apply: eq_from_tnth => c; rewrite !tnth_mktuple -!sum1_count !big_tuple.
by apply: eq_bigl => i; rewrite /= tnth_mktuple (inj_eq Some_inj).
Qed.

(** How often the table is right. *)
Lemma own_ok : hits a u (fun v => plurality g (named v)) = Q2R (own x (Qof an ad) p).
Proof.
have [[_ _ _ _ o0] [[_ ad0 _ ok _] _]] := facts; have one0 := IZR_lt _ _ o0; have ad0' := IZR_lt _ _ ad0.
rewrite /own (sum_lists (G := fun l => weight u l * (g l (Some (head 0%N l)) + a * g l None))) => [|l hl]; last first.
  by rewrite Q2R_mult Q2R_plus Q2R_mult !Q2R_of // weight_is.
rewrite -sum_histograms; apply: eq_bigr => v _; congr Rmult.
rewrite /plurality hist_named; set l := sorted_tally v.
pose G k := g l k / members l k.
rewrite (eq_bigr (fun o => merit a v o * G (omap (tnth (tally v)) o))) => [|o _]; last first.
  congr Rmult; rewrite /prob /G; congr (_ / _); case: o => [c|] //=.
  by congr INR; apply/esym/seq.permP; rewrite perm_sort.
have key_ok o : omap (tnth (tally v)) o \in keys x l \/ G (omap (tnth (tally v)) o) = 0.
  case h : (x.(abstains)); first by left; apply: in_keys; right.
  case: o => [c|]; first by left; apply: in_keys; left.
  by right; rewrite /G /mass_of /= h /Rdiv !Rmult_0_l.
rewrite (by_key _ (keys_uniq l) key_ok) /keys big_cat big_map /=.
rewrite [X in X + _](_ : _ = a * g l None); last first.
  rewrite /mass_of /=; case h : (x.(abstains)).
    by rewrite big_seq1 share_merit /G /= /mass_of /= h; field; split; lra.
  by rewrite big_nil /Rdiv Rmult_0_l Rmult_0_r.
rewrite Rplus_comm; congr Rplus.
have hl : head 0%N l \in undup l.
  have hC : (0 < CC)%N by case/andP: ok => h _; apply: ltnW.
  have hc : tnth (tally v) (Ordinal hC) \in tval (tally v) by apply: mem_tnth.
  by have [_ h] := head_max hc; rewrite mem_undup mem_sort.
rewrite -(sum_pick (fun b => g l (Some b)) (undup_uniq l) hl) [RHS]big_mkcond !big_seq; apply: eq_bigr => b hb.
rewrite share_merit /objective; case: eqP => _; last by rewrite Rmult_0_l.
have m0 : 0 < members l (Some b) by apply/lt_0_INR/ltP; rewrite -has_count has_pred1 -mem_undup.
change (members l (Some b) * (g l (Some b) / members l (Some b)) = g l (Some b)).
by move: (members _ _) m0 => n n0; field; lra.
Qed.

(** ** Every private mechanism on the votes *)
Section Named.
Variable M : votes -> dist (answers CC).
Hypothesis private : Definitions.private (near_votes x.(t)) (total x) (delta x) (fun v => M v).
Hypothesis naming : ~~ x.(abstains) -> forall v, M v None = 0.

Lemma hits_le1 : hits a u (fun v => M v) <= 1.
Proof.
have [_ [[ha _ _ _ _] _]] := facts; have [u0 u1] := law_one; rewrite -u1; apply: rsum_le => v _.
rewrite -[X in _ <= X]Rmult_1_r; apply: Rmult_le_compat_l => //.
rewrite -(mass_sum (M v)); apply: rsum_le => o _; rewrite -[X in _ <= X]Rmult_1_l.
by apply: Rmult_le_compat_r; [apply: mass_ge0|rewrite /merit; case: o => [c|]; [case: ifP => _; lra|lra]].
Qed.

Lemma ceiling_ok : hits a u (fun v => M v) <= Q2R (ceiling x (above x) (Qof an ad) p ms).
Proof.
have [[_ _ _ pd0 _] [[_ _ _ ok rows_ok] _]] := facts.
have keys_all (h : histogram CC) o : omap (tnth h) o \in keys x (sort geq h) \/ (o = None /\ forall v, M v None = 0).
  case h' : (x.(abstains)); first by left; apply: in_keys; right.
  case: o => [c|]; first by left; apply: in_keys; left.
  by right; split=> //; apply: naming; rewrite h'.
have rows m : List.In m (map real ms) -> allowed KK x.(t) m.
  elim: (ms) rows_ok => //= r s IH /andP [hr hs] [<-|/(IH hs) //].
  by have [] := row_facts hr.
have := upper_bound above_ok private (partitions_uniq CC KK KK) in_lists real_lists keys_uniq keys_all
  (fun v => law_sorted ok v) rows best_ok.
suff -> : Q2R (ceiling x (above x) (Qof an ad) p ms) = \rsum_(m <- map real ms) (delta x * most m)
  + \rsum_(l <- L) Q2R (best_of x (above x) (Qof an ad) p (map with_sorted ms) l) by [].
rewrite /ceiling Q2R_plus Q2R_mult !Q2R_sum !big_map Q2R_of // big_distrr /=; congr Rplus.
elim: (ms) rows_ok => [|m s IH] /=; first by rewrite !big_nil.
case/andP => hm /IH {}IH; rewrite !big_cons IH; congr Rplus.
by have [_ _ _ hd _] := row_facts hm; rewrite Q2R_of.
Qed.

Lemma named_optimal :
  hits a u (fun v => M v) <= hits a u (fun v => plurality g (named v)) + IZR gn / IZR gd.
Proof.
rewrite own_ok; have [_ [_ [_ [h|h]]]] := facts; first exact: Rle_trans ceiling_ok h.
exact: Rle_trans hits_le1 h.
Qed.
End Named.

(** A yes of the checker: no private mechanism is right more often than the table by more than the
    gap, whatever it makes of the votes. *)
Theorem many_optimal (M : votes -> dist (answers CC)) :
  Definitions.private (near_votes x.(t)) (total x) (delta x) (fun v => M v) ->
  hits a u (fun v => M v) <= hits a u (fun v => plurality g (named v)) + IZR gn / IZR gd.
Proof.
move=> h; case e : (x.(abstains)); first by apply: named_optimal => //; rewrite e.
have [_ [[_ _ a0 ok _] _]] := facts; have [u0 _] := law_one.
have hC : (0 < CC)%N by case/andP: ok => c _; apply: ltnW.
have k := named_optimal (settled_private (Ordinal hC) h) (fun _ v => settled_none (Ordinal hC) (M v)).
apply: Rle_trans k; rewrite a0 ?e //; exact: settled_hits.
Qed.
End Sound.
