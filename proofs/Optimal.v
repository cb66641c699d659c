(** Two classes: multipliers bound the loss of every private noise function from below.
    Code: gamma.lowerBound; python/darrm/check.py (_lower_bound). *)
From Coq Require Import Reals Lra Lia Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Corners.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** The noise functions that a table competes with. *)
Inductive shape := Free | Monotone | Any.

Section Optimal.
(** Here e <= e^ε and E >= e^total: the other way round than for privacy. Then what keeps the
    promise keeps this one, and its rows are rows that every private function obeys. *)
Variables (K t : nat) (e d E delta : R).
Hypotheses (he : 1 <= e) (hd : 0 <= d <= 1).

Lemma corner_polygon i : polygon e d (corner e d i).
Proof.
have hx : high e d = e * (1 - high e d) + d by rewrite /high; field; lra.
have h1 : 0 <= high e d <= 1.
  split; first by apply: Rmult_le_pos; [lra|apply/Rlt_le/Rinv_0_lt_compat; lra].
  by apply: (Rmult_le_reg_r (e + 1)); rewrite /high /Rdiv ?Rmult_assoc ?Rinv_l; lra.
rewrite /polygon /corner; do 7?[case: i => [|i]] => /=; rewrite ?nth_default //=; repeat split; nra.
Qed.

Definition biased (p : R) (h : 0 <= p <= 1) : dist bool_finType.
refine (@Dist bool_finType (fun b : bool => if b then p else 1 - p) _ _).
- by case=> /=; lra.
- by rewrite big_bool /=; lra.
Defined.

Lemma close_bool (P P' : dist bool_finType) x y : 1 <= x -> 0 <= y ->
  P true <= x * P' true + y -> P false <= x * P' false + y -> close x y P P'.
Proof.
move=> hx hy h1 h0 S; rewrite !Pr_bool; have := mass_false P; have := mass_false P'.
by case: (true \in S); case: (false \in S) => a b; rewrite ?a ?b ?Rplus_0_l ?Rplus_0_r in h0 h1 *; lra.
Qed.


Section Rows.
Variable q : nat -> R.
Hypothesis private : @keeps K t e d E delta q.

(** The corners are teachers, so that every row is necessary, for both labels. *)
Lemma rows_both s : size s = K -> (count (leq 2) s <= t)%N ->
  gain E q (map (corner e d) s) <= delta /\
  (1 - run q (map fst (map (corner e d) s)) 0) - E * (1 - run q (map snd (map (corner e d) s)) 0) <= delta.
Proof.
move=> hsz ht.
have F i := corner_polygon (nth 0%N s i).
pose P (i : 'I_K) := biased (proj1 (F i)); pose P' (i : 'I_K) := biased (proj1 (proj2 (F i))).
have near : near_teachers t e d P P'.
  exists [set i : 'I_K | (1 < nth 0%N s i)%N]; split; last split.
  - apply: leq_trans ht; rewrite cardsE -sum1_card -sum1_count -hsz (big_nth 0%N) big_mkord.
    by rewrite /= (eq_bigl (fun i : 'I_(size s) => (1 < nth 0%N s i)%N)); [rewrite hsz|].
  - move=> i _; have [_ [_ [f1 [f2 [f3 f4]]]]] := F i.
    by split; apply: close_bool => //=; lra.
  - move=> i; rewrite inE -leqNgt => hi b; rewrite /P /P' /=.
    by case: (nth 0%N s i) hi => [|[|//]] _; case: b.
have lst (f : nat -> R) : [seq f (nth 0%N s (i : 'I_K)) | i <- enum 'I_K] = map f s.
  by rewrite -[in RHS](mkseq_nth 0%N s) hsz /mkseq -val_enum_ord -!map_comp.
have [h _] := private near; have := h [set true]; have := h [set false].
have sum Q := answer_sum (K := K) q Q; have := sum P; have := sum P'.
rewrite /Pr !big_set1 /gain -!map_comp /comp => s1 s2.
have e1 : answer q P true = run q [seq (corner e d x).1 | x <- s] 0.
  by rewrite answer_true /ones -(lst (fun j => (corner e d j).1)).
have e2 : answer q P' true = run q [seq (corner e d x).2 | x <- s] 0.
  by rewrite answer_true /ones -(lst (fun j => (corner e d j).2)).
rewrite -e1 -e2 => h0 h1; split; first lra.
have <- : answer q P false = 1 - answer q P true by lra.
have <- : answer q P' false = 1 - answer q P' true by lra.
lra.
Qed.

(** ** The function made symmetric, by its values left of the middle *)
Definition free := uphalf K.
Definition gam (l : nat) : R := q (K - l)%N - q l.
Definition basis (l k : nat) : R := (if k == (K - l)%N then 1 else 0) - (if k == l then 1 else 0).
Definition row (s : seq nat) (l : nat) : R := gain E (basis l) (map (corner e d) s).
Definition mean (k : nat) : R := (q k + (1 - q (K - k)%N)) / 2.

(* Inequalities of natural numbers, by lia. *)
Ltac arith := repeat match goal with
  | H : is_true (leq _ _) |- _ => apply (elimT leP) in H
  | |- is_true (leq _ _) => apply (introT leP)
  | |- _ = false => apply/negbTE/eqP
  | H : context [double ?x] |- _ => rewrite <- (addnn x) in H
  | |- context [double ?x] => rewrite <- (addnn x)
  end; change subn with Nat.sub in *; change addn with Nat.add in *; lia.

Lemma freeE l : (l < free)%N = (l.*2 < K)%N.
Proof. by rewrite /free ltnNge leq_uphalf_double -ltnNge. Qed.

Lemma mean_gam k : (k <= K)%N -> mean k = (1 + \rsum_(l < free) (gam l * basis l k)) / 2.
Proof.
move=> hk; suff -> : \rsum_(l < free) (gam l * basis l k) = q k - q (K - k)%N by rewrite /mean; lra.
have fr (l : 'I_free) : (l.*2 < K)%N by rewrite -freeE.
have zero (l : 'I_free) : k <> l -> k <> (K - l)%N -> gam l * basis l k = 0.
  by rewrite /basis => /eqP/negbTE -> /eqP/negbTE ->; ring.
have [h|h] := ltnP k.*2 K.
  have hf : (k < free)%N by rewrite freeE.
  rewrite (bigD1 (Ordinal hf)) //= big1 => [|l /eqP hl].
    have nk : (k == K - k)%N = false by arith.
    by rewrite /basis /gam eqxx nk; ring.
  have f := fr l; apply: zero; last by arith.
  by move=> ek; apply: hl; apply: val_inj.
have [ek|ne] := eqVneq (k.*2) K.
  have -> : (K - k)%N = k by arith.
  by rewrite big1 => [|l _]; [ring|have f := fr l; apply: zero; arith].
have lt : (K < k.*2)%N by rewrite ltn_neqAle eq_sym ne.
have hf : (K - k < free)%N by rewrite freeE; arith.
rewrite (bigD1 (Ordinal hf)) //= big1 => [|l /eqP hl].
  rewrite /basis /gam subKn // eqxx; have -> : (k == K - k)%N = false by arith.
  by ring.
have f := fr l; apply: zero; first by arith.
by move=> ek; apply: hl; apply: val_inj => /=; arith.
Qed.

Lemma run_lin (f f' : nat -> R) a b ps l : run (fun k => a * f k + b * f' k) ps l = a * run f ps l + b * run f' ps l.
Proof. by elim: ps l => //= p ps IH l; rewrite !IH; ring. Qed.
Lemma run_one ps l : run (fun _ => 1) ps l = 1.
Proof. by elim: ps l => //= p ps IH l; rewrite !IH; ring. Qed.
Lemma run_sum n (c : nat -> R) (f : nat -> nat -> R) ps k :
  run (fun k => \rsum_(l < n) (c l * f l k)) ps k = \rsum_(l < n) (c l * run (f l) ps k).
Proof.
elim: ps k => //= p ps IH k; rewrite !IH !big_distrr /= -big_split /=.
by apply: eq_bigr => l _; ring.
Qed.

Lemma gain_rows s : size s = K -> (count (leq 2) s <= t)%N ->
  \rsum_(l < free) (gam l * row s l) <= E - 1 + 2 * delta.
Proof.
move=> hsz ht; have [h1 _] := rows_both hsz ht.
have hsz' : size (map swap s) = K by rewrite size_map.
have ht' : (count (leq 2) (map swap s) <= t)%N.
  by rewrite count_map (eq_count (a2 := leq 2)) // => i /=; apply: swap_moves.
have [_ h0] := rows_both hsz' ht'; move: h1 h0.
rewrite /gain -!map_comp /comp.
have -> : [seq (corner e d (swap x)).1 | x <- s] = [seq 1 - p | p <- [seq (corner e d x).1 | x <- s]].
  by rewrite -map_comp; apply: eq_map => x; rewrite /= swap_corner.
have -> : [seq (corner e d (swap x)).2 | x <- s] = [seq 1 - p | p <- [seq (corner e d x).2 | x <- s]].
  by rewrite -map_comp; apply: eq_map => x; rewrite /= swap_corner.
have twice f : let ps := [seq f x | x <- s] in
    run q ps 0 + (1 - run q [seq 1 - p | p <- ps] 0) = 1 + \rsum_(l < free) (gam l * run (basis l) ps 0).
  move=> ps; have sz : size ps = K by rewrite size_map.
  have -> : run q [seq 1 - p | p <- ps] 0 = run (fun k => q (K - k)%N) ps 0.
    by rewrite run_flip ?add0n ?sz // subn0 subnn.
  have -> : run q ps 0 + (1 - run (fun k => q (K - k)%N) ps 0) =
      run (fun k => 2 * mean k + 0 * 1) ps 0.
    rewrite (@run_lin mean (fun _ => 1)); have -> : run mean ps 0 = / 2 * run q ps 0 + / 2 * run (fun k => 1 - q (K - k)%N) ps 0.
      by rewrite -run_lin; apply: (@run_ext _ _ K); rewrite ?sz // => k _; rewrite /mean; field.
    have -> : run (fun k => 1 - q (K - k)%N) ps 0 = 1 * run (fun _ => 1) ps 0 + -1 * run (fun k => q (K - k)%N) ps 0.
      by rewrite -run_lin; apply: (@run_ext _ _ K); rewrite ?sz // => k _; ring.
    by rewrite run_one; field.
  rewrite -run_sum -[X in _ = X + _](run_one ps 0) -[X in _ = X + _]Rmult_1_l -[X in _ = _ + X]Rmult_1_l -run_lin.
  by apply: (@run_ext _ _ K); rewrite ?sz // => k hk; rewrite mean_gam //; field.
have t1 := twice (fun i => (corner e d i).1); have t2 := twice (fun i => (corner e d i).2).
move: t1 t2 => /= t1 t2 h1 h0.
have -> : \rsum_(l < free) (gam l * row s l) =
    \rsum_(l < free) (gam l * run (basis l) [seq (corner e d x).1 | x <- s] 0)
    - E * \rsum_(l < free) (gam l * run (basis l) [seq (corner e d x).2 | x <- s] 0).
  apply: (Rplus_eq_reg_r (E * \rsum_(l < free) (gam l * run (basis l) [seq (corner e d x).2 | x <- s] 0))).
  ring_simplify; rewrite big_distrr /= -big_split /=; apply: eq_bigr => l _.
  by rewrite /row /gain -!map_comp /comp; ring.
move: t1 t2 h1 h0; set S := \rsum_(l < free) _; set S' := \rsum_(l < free) _.
move: S S' (run q _ 0) (run q _ 0) (run q _ 0) (run q _ 0) => S S' a b a' b' t1 t2 h1 h0.
nra.
Qed.

(** ** Weak duality *)
Definition price (y : seq (R * seq nat)) : R := \rsum_(m <- y) (m.1 * (E - 1 + 2 * delta)).
Definition slope (w : nat -> R) (y : seq (R * seq nat)) (l : nat) : R :=
  - w l + \rsum_(m <- y) (m.1 * row m.2 l).

(** The least Σ d(l) γ(l) over the shape's γ. *)
Fixpoint prefix (ds : seq R) : R := if ds is x :: ds' then Rmin 0 (x + prefix ds') else 0.
Definition least (sh : shape) (ds : seq R) : R :=
  match sh with
  | Free => \rsum_(x <- ds) Rmin 0 x
  | Any => \rsum_(x <- ds) - Rabs x
  | Monotone => prefix ds
  end.
Definition has_shape (sh : shape) : Prop :=
  match sh with
  | Any => True
  | Free => forall l, (l < free)%N -> 0 <= gam l
  | Monotone => (forall l, (l < free)%N -> 0 <= gam l) /\ forall l, (l.+1 < free)%N -> gam l.+1 <= gam l
  end.
Hypothesis q01 : forall l, (l <= K)%N -> 0 <= q l <= 1.

Lemma gam1 l : (l < free)%N -> -1 <= gam l <= 1.
Proof.
rewrite freeE => hl; have a : (l <= K)%N by arith.
by have := q01 a; have := q01 (leq_subr l K); rewrite /gam; lra.
Qed.

Lemma prefix_le0 ds : prefix ds <= 0.
Proof. by case: ds => [|x ds] /=; [exact: Rle_refl|exact: Rmin_l]. Qed.

Lemma prefix_ok n (f gm : nat -> R) k : (forall l, (l < n)%N -> 0 <= gm (k + l)%N) ->
  (forall l, (l.+1 < n)%N -> gm (k + l.+1)%N <= gm (k + l)%N) ->
  gm k * prefix [seq f (k + l)%N | l <- iota 0 n] <= \rsum_(l < n) (f (k + l)%N * gm (k + l)%N).
Proof.
elim: n k => [|n IH] k h0 hm; first by rewrite big_ord0 /= Rmult_0_r; apply: Rle_refl.
rewrite big_ord_recl /= addn0.
have -> : [seq f (k + l)%N | l <- iota 1 n] = [seq f (k.+1 + l)%N | l <- iota 0 n].
  by rewrite (iotaDl 1 0) -map_comp; apply: eq_map => l /=; rewrite add1n addnS addSn.
have -> : \rsum_(i < n) (f (k + bump 0 i)%N * gm (k + bump 0 i)%N) = \rsum_(i < n) (f (k.+1 + i)%N * gm (k.+1 + i)%N).
  by apply: eq_bigr => i _; rewrite /bump add1n addnS addSn.
have := IH k.+1; set S := \rsum_(i < n) _; set M := prefix _ => {}IH.
have IHn : gm k.+1 * M <= S.
  by apply: IH => l hl; rewrite !addSnnS; [apply: h0|apply: hm].
have g0 := h0 0%N isT; rewrite addn0 in g0.
have M0 : M <= 0 := prefix_le0 _.
have IHk : gm k * M <= S.
  case: n h0 hm @S @M IH IHn M0 => [|n] h0 hm S M _ IHn M0.
    by rewrite /M /S /= big_ord0 Rmult_0_r; apply: Rle_refl.
  have := hm 0%N isT; rewrite addn1 addn0 => g1; nra.
have := Rmin_r 0 (f k + M); nra.
Qed.

Theorem lower_bound sh (w : nat -> R) (y : seq (R * seq nat)) : has_shape sh ->
  (forall m, List.In m y -> 0 <= m.1 /\ size m.2 = K /\ (count (leq 2) m.2 <= t)%N) ->
  \rsum_(l < free) w l - price y + least sh [seq slope w y l | l <- iota 0 free] <= loss K w q.
Proof.
move=> hsh hy; pose c l := \rsum_(m <- y) (m.1 * row m.2 l).
have hprice : \rsum_(l < free) (gam l * c l) <= price y.
  rewrite /price /c; elim: y hy {c} => [|m y IH] hy.
    by rewrite big_nil big1 => [|l _]; rewrite ?big_nil; [apply: Rle_refl|ring].
  have [h1 [h2 h3]] := hy m (or_introl erefl); have {}IH := IH (fun k hk => hy k (or_intror hk)).
  rewrite big_cons.
  have -> : \rsum_(l < free) (gam l * \rsum_(k <- m :: y) (k.1 * row k.2 l))
    = (m.1 * (\rsum_(l < free) (gam l * row m.2 l))) + (\rsum_(l < free) (gam l * \rsum_(k <- y) (k.1 * row k.2 l))).
    rewrite [X in _ = X + _]big_distrr /= -big_split; apply: eq_bigr => l _; rewrite big_cons /=; ring.
  by apply: Rplus_le_compat => //; apply: Rmult_le_compat_l => //; apply: gain_rows.
have split_loss : loss K w q + \rsum_(l < free) (gam l * c l) =
    \rsum_(l < free) w l + \rsum_(l < free) (slope w y l * gam l).
  by rewrite /loss -/free -!big_split /=; apply: eq_bigr => l _; rewrite /slope /= -/(gam l) -/(c l); ring.
suff : least sh [seq slope w y l | l <- iota 0 free] <= \rsum_(l < free) (slope w y l * gam l) by lra.
have each f : (forall l, (l < free)%N -> f (slope w y l) <= slope w y l * gam l) ->
    \rsum_(x <- [seq slope w y l | l <- iota 0 free]) f x <= \rsum_(l < free) (slope w y l * gam l).
  move=> h; rewrite big_map -{1}(subn0 free) -/(index_iota 0 free) big_mkord.
  by apply: rsum_le => l _; apply: h.
case: sh hsh => /= [h|[h hm]|_].
- apply: each => l hl; have := gam1 hl; have := h l hl.
  by rewrite /Rmin; case: Rle_dec; nra.
- have [z|[n en]] : free = 0%N \/ exists n, free = n.+1 by case: free => [|n]; [left|right; exists n].
    by rewrite z big_ord0 /=; apply: Rle_refl.
  have p := @prefix_ok free (slope w y) gam 0 h hm.
  have g0 : gam 0 <= 1 by have := @gam1 0%N; rewrite en => /(_ isT); lra.
  have a0 : 0 <= gam 0 by apply: h; rewrite en.
  have m := prefix_le0 [seq slope w y (0 + l)%N | l <- iota 0 free].
  apply: Rle_trans p; move: m; set M := prefix _ => m.
  rewrite -[X in X <= _]/M; nra.
- apply: each => l hl; have := gam1 hl; have := Rle_abs (slope w y l); have := Rle_abs (- slope w y l).
  by rewrite Rabs_Ropp; nra.
Qed.
End Rows.
End Optimal.
