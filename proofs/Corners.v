(** Two classes: it is enough to look at multisets of corners.
    Code: package constraints (Corner, Multiset, System.Rows), python darrm/check.py. *)
From Coq Require Import Reals Lra Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** The averaging operators T_p of the specification, one after another *)
Fixpoint run (q : nat -> R) (ps : seq R) (l : nat) : R :=
  if ps is p :: ps' then (1 - p) * run q ps' l + p * run q ps' l.+1 else q l.

Lemma run_cat q s1 s2 l : run q (s1 ++ s2) l = run (run q s2) s1 l.
Proof. by elim: s1 l => //= p s1 IH l; rewrite !IH. Qed.

Lemma run_mid q p s1 s2 l : run q (p :: s1 ++ s2) l = run q (s1 ++ p :: s2) l.
Proof. elim: s1 l => // r s1 IH l; rewrite cat_cons /= -!IH /=; ring. Qed.

Lemma run_comm q s1 s2 l : run q (s1 ++ s2) l = run q (s2 ++ s1) l.
Proof.
elim: s1 l => [|p s1 IH] l; first by rewrite cats0.
by rewrite -run_mid /= !IH.
Qed.

Lemma run_perm (T : eqType) (f : T -> R) (q : nat -> R) l (s s' : seq T) :
  perm_eq s s' -> run q (map f s) l = run q (map f s') l.
Proof.
apply: (catCA_perm_subst (F := fun s => run q (map f s) l)) => s1 s2 s3.
by rewrite !map_cat !catA [LHS]run_cat [RHS]run_cat run_comm.
Qed.

Lemma run_affine q s1 s2 l : exists a b, forall p, run q (s1 ++ p :: s2) l = a + b * p.
Proof.
exists (run q (s1 ++ s2) l), (run q (s1 ++ s2) l.+1 - run q (s1 ++ s2) l) => p.
rewrite -run_mid /=; ring.
Qed.

(** ** The polygon of what (ε, Δ)-privacy allows a teacher, and its corners *)
Definition point := (R * R)%type.

(** [C] covers [F]: an affine function that is at most B on C is so on F. *)
Definition covers (C : seq point) (F : point -> Prop) : Prop :=
  forall a b g B, (forall c, List.In c C -> a + b * c.1 + g * c.2 <= B) ->
                  forall c, F c -> a + b * c.1 + g * c.2 <= B.

Definition diagonal (c : point) : Prop := 0 <= c.1 <= 1 /\ c.1 = c.2.
Definition polygon (e d : R) (c : point) : Prop :=
  (0 <= c.1 <= 1) /\ (0 <= c.2 <= 1) /\
  c.1 <= e * c.2 + d /\ c.2 <= e * c.1 + d /\
  1 - c.1 <= e * (1 - c.2) + d /\ 1 - c.2 <= e * (1 - c.1) + d.

(** The corners by the numbers of constraints.Corner; a = [high e d], b = 1 - a. *)
Definition high (e d : R) : R := (e + d) / (e + 1).
Definition corner (e d : R) (i : nat) : point :=
  nth (1 - high e d, high e d)
    [:: (0, 0); (1, 1); (d, 0); (0, d); (1, 1 - d); (1 - d, 1); (high e d, 1 - high e d)] i.
Definition corners (e d : R) : seq point := [seq corner e d i | i <- iota 0 8].
Definition ends (e d : R) : seq point := [seq corner e d i | i <- iota 0 2].

Lemma ends_cover e d : covers (ends e d) diagonal.
Proof.
move=> a b g B H [p p'] [/= hp <-].
have /= h0 := H (0, 0) (or_introl erefl).
have /= h1 := H (1, 1) (or_intror (or_introl erefl)).
nra.
Qed.

Lemma chain e d a b g B p p' (x := high e d) : 1 <= e -> 0 <= d <= 1 ->
  0 <= b -> a + b * d <= B -> a + b * x + g * (1 - x) <= B ->
  0 <= p' <= 1 - x -> p <= e * p' + d -> a + b * p + g * p' <= B.
Proof.
move=> he hd hb h0 h1 hp' hp.
have ex : x = e * (1 - x) + d by rewrite /x /high; field; lra.
have hlow : a + b * p + g * p' <= a + b * (e * p' + d) + g * p' by nra.
apply: Rle_trans hlow _.
have [hx|hx] : 1 - x = 0 \/ 0 < 1 - x by lra.
  have -> : p' = 0 by lra.
  lra.
apply: (Rmult_le_reg_l (1 - x)) => //.
have -> : (1 - x) * (a + b * (e * p' + d) + g * p')
        = (1 - x - p') * (a + b * d) + p' * (a + b * (e * (1 - x) + d) + g * (1 - x)) by ring.
rewrite -ex; nra.
Qed.

Lemma side e d a b g B p p' (x := high e d) : 1 <= e -> 0 <= d <= 1 -> 0 <= b -> g <= 0 ->
  a + b * d <= B -> a + b * x + g * (1 - x) <= B -> a + b + g * (1 - d) <= B ->
  polygon e d (p, p') -> a + b * p + g * p' <= B.
Proof.
move=> he hd hb hg h0 h1 h2 [/= hp [hp' [h3 [_ [_ h6]]]]].
have [hl|hl] := Rle_lt_dec p' (1 - x).
  by apply: (@chain e d) => //; rewrite -?/x; lra.
have [hr|hr] := Rle_lt_dec x p.
  have -> : a + b * p + g * p' = (a + b + g) + - g * (1 - p') + - b * (1 - p) by ring.
  by apply: (@chain e d) => //; rewrite -?/x; lra.
by apply: Rle_trans h1; nra.
Qed.

Lemma corners_cover e d : 1 <= e -> 0 <= d <= 1 -> covers (corners e d) (polygon e d).
Proof.
move=> he hd a b g B H [p p'] F /=.
have [h0 h1 h2 h3] : [/\ a <= B, a + b + g <= B, a + b * d <= B & a + g * d <= B].
  have /= K0 := H _ (or_introl erefl); have /= K1 := H _ (or_intror (or_introl erefl)).
  have /= K2 := H _ (or_intror (or_intror (or_introl erefl))).
  have /= K3 := H _ (or_intror (or_intror (or_intror (or_introl erefl)))).
  by split; lra.
have [h4 h5 h6 h7] : [/\ a + b + g * (1 - d) <= B, a + b * (1 - d) + g <= B,
    a + b * high e d + g * (1 - high e d) <= B & a + b * (1 - high e d) + g * high e d <= B].
  have K4 := H (corner e d 4) ltac:(by simpl; tauto); have K5 := H (corner e d 5) ltac:(by simpl; tauto).
  have K6 := H (corner e d 6) ltac:(by simpl; tauto); have K7 := H (corner e d 7) ltac:(by simpl; tauto).
  by move: K4 K5 K6 K7; rewrite /corner /=; split; lra.
have [hp [hp' [F1 [F2 [F3 F4]]]]] := F; rewrite /= in hp hp' F1 F2 F3 F4.
have [hb|hb] := Rle_lt_dec 0 b; have [hg|hg] := Rle_lt_dec 0 g; first by nra.
- by apply: (@side e d) => //; lra.
- have -> : a + b * p + g * p' = a + g * p' + b * p by ring.
  by apply: (@side e d) => //; rewrite ?/polygon /=; lra.
- nra.
Qed.

(** ** f(p, p') = Pr[1 | p] - E Pr[1 | p'], and its largest value *)
Definition gain (E : R) (q : nat -> R) (cs : seq point) : R :=
  run q (map fst cs) 0 - E * run q (map snd cs) 0.

Lemma gain_affine E q s1 s2 :
  exists a b g, forall c, gain E q (s1 ++ c :: s2) = a + b * c.1 + g * c.2.
Proof.
have [a [b h]] := run_affine q (map fst s1) (map fst s2) 0.
have [a' [b' h']] := run_affine q (map snd s1) (map snd s2) 0.
exists (a - E * a'), b, (- E * b') => c; rewrite /gain !map_cat /= h h'; ring.
Qed.

(** Each teacher may have a region and a list of corners of its own. *)
Theorem corners_suffice E q B (rs : seq (seq point * (point -> Prop))) :
  List.Forall (fun r => covers r.1 r.2) rs ->
  (forall cs, List.Forall2 (fun r c => List.In c r.1) rs cs -> gain E q cs <= B) ->
  forall cs, List.Forall2 (fun r c => r.2 c) rs cs -> gain E q cs <= B.
Proof.
move=> hc H cs; suff G pre : (forall cs, List.Forall2 (fun r c => List.In c r.1) rs cs ->
    gain E q (pre ++ cs) <= B) -> List.Forall2 (fun r c => r.2 c) rs cs -> gain E q (pre ++ cs) <= B.
  exact: (G [::]).
elim: rs pre cs hc {H} => [|r rs IH] pre cs hc H F.
  by inversion F; apply: H.
inversion_clear F as [|? c ? cs' Fc Fs]; inversion_clear hc as [|? ? hr hrs].
have [a [b [g h]]] := gain_affine E q pre cs'.
rewrite h; apply: (hr) Fc => c0 hc0; rewrite -h -cat_rcons.
by apply: IH Fs => // ds hds; rewrite cat_rcons; apply: H; constructor.
Qed.

(** ** From votes to [run] *)
Lemma sum_tupleS K (F : K.+1.-tuple bool -> R) :
  \rsum_v F v = \rsum_v (F [tuple of true :: (v : K.-tuple bool)] + F [tuple of false :: v]).
Proof.
rewrite (reindex (fun c : bool * K.-tuple bool => [tuple of c.1 :: c.2])) /=; last first.
  exists (fun v => (thead v, [tuple of behead v])) => [[b v]|v] _; last by rewrite [RHS]tuple_eta.
  by congr pair; apply: val_inj.
by rewrite -(pair_bigA _ (fun b (v : K.-tuple bool) => F [tuple of b :: v])) big_bool -big_split.
Qed.

Definition ones (K : nat) (P : 'I_K -> dist bool_finType) : seq R := [seq P i true | i <- enum 'I_K].

Lemma mass_false (P : dist bool_finType) : P false = 1 - P true.
Proof. by rewrite -(mass_sum P) big_bool /=; ring. Qed.

Lemma law_cons K (P : 'I_K.+1 -> dist bool_finType) b (v : K.-tuple bool) :
  law P [tuple of b :: v] = P ord0 b * law (fun i : 'I_K => P (lift ord0 i)) v.
Proof.
by rewrite /law big_ord_recl tnth0; congr Rmult; apply: eq_bigr => i _; rewrite tnthS.
Qed.

Lemma answer_run K q (P : 'I_K -> dist bool_finType) l :
  \rsum_v (law P v * q (l + count id (v : K.-tuple bool))%N) = run q (ones P) l.
Proof.
elim: K P l => [|K IH] P l.
  rewrite (big_pred1 (in_tuple [::])) => [|v]; last by apply/esym/eqP/val_inj; case: v => [[]].
  by rewrite /law big_ord0 /ones enum_ord0 /= addn0 Rmult_1_l.
rewrite sum_tupleS /ones enum_ordSl /= -map_comp.
rewrite -/(ones (fun i : 'I_K => P (lift ord0 i))) -!IH !big_distrr /= -big_split.
apply: eq_bigr => v _ /=; rewrite !law_cons mass_false.
rewrite ?add0n ?add1n ?addnS ?addSn; ring.
Qed.

Lemma run_flip q N ps l : (l + size ps <= N)%N ->
  run (fun k => q (N - k)%N) ps l = run q [seq 1 - p | p <- ps] (N - l - size ps)%N.
Proof.
elim: ps l => [|p ps IH] l /= h; first by rewrite subn0.
have hl : (size ps < N - l)%N by rewrite ltn_subRL -addnS.
rewrite !IH; [|by rewrite addSn -addnS|by apply: leq_trans h; rewrite leq_add2l].
have -> : (N - l.+1 - size ps = N - l - (size ps).+1)%N by rewrite -!subnDA addSnnS.
by rewrite subnSK //; ring.
Qed.

Lemma run_ext f f' N ps l : (l + size ps <= N)%N -> (forall k, (k <= N)%N -> f k = f' k) ->
  run f ps l = run f' ps l.
Proof.
move=> + h; elim: ps l => [|p ps IH] l /= hl; first by apply: h; rewrite addn0 in hl.
by rewrite !IH // ?addSnnS //; apply: leq_trans hl; rewrite leq_add2l.
Qed.

(** Corner i seen by the other label. *)
Definition swap (i : nat) : nat := nth 6%N [:: 1; 0; 5; 4; 3; 2; 7]%N i.
Lemma swap_corner e d i : corner e d (swap i) = (1 - (corner e d i).1, 1 - (corner e d i).2).
Proof. by rewrite /swap /corner; do 7?[case: i => [|i]]; rewrite /= ?nth_nil /= ?nth_nil /=; f_equal; ring. Qed.
Lemma swap_moves i : (2 <= swap i)%N = (2 <= i)%N.
Proof. by rewrite /swap; do 7?[case: i => [|i] //=]; rewrite nth_nil. Qed.

(** ** The theorem *)
Section TwoClasses.
Variables (K t : nat) (e d E delta : R).
Hypotheses (he : 1 <= e) (hd : 0 <= d <= 1) (hE : 1 <= E) (hdelta : 0 <= delta).

(** A multiset of corners is a sorted list of their numbers; those from 2 on move. *)
Definition multiset (s : seq nat) : Prop :=
  [/\ size s = K, all (fun i => i < 8)%N s, sorted leq s & (count (leq 2) s <= t)%N].

(** Where 1 is the answer with probability q, its inequality holds at every multiset. *)
Definition checked (q : nat -> R) : Prop := forall s, multiset s -> gain E q (map (corner e d) s) <= delta.

Definition region (A : {set 'I_K}) (i : 'I_K) : seq point * (point -> Prop) :=
  if i \in A then (corners e d, polygon e d) else (ends e d, diagonal).

Lemma In_map (T : eqType) (f : T -> point) (s : seq T) c :
  List.In c (map f s) -> exists2 i, i \in s & c = f i.
Proof.
elim: s => //= i s IH [<-|/IH [j hj ->]]; [exists i|exists j] => //; first exact: mem_head.
by rewrite in_cons hj orbT.
Qed.

Lemma chosen (A : {set 'I_K}) (js : seq 'I_K) cs :
  List.Forall2 (fun r c => List.In c r.1) (map (region A) js) cs ->
  exists s, [/\ cs = map (corner e d) s, size s = size js, all (fun i => i < 8)%N s &
                (count (leq 2) s <= count (mem A) js)%N].
Proof.
elim: js cs => [|j js IH] cs /= F; first by inversion F; exists [::].
inversion_clear F as [|? c ? cs' Fc Fs].
have [s [-> hs h8 ht]] := IH _ Fs.
have [k [-> k8 hk]] : exists k, [/\ c = corner e d k, (k < 8)%N & ((2 <= k) <= (j \in A))%N].
  move: Fc; rewrite /region /corners /ends; case: (j \in A) => Fc.
    have [k hk ->] := @In_map nat_eqType _ _ _ Fc.
    by exists k; split=> //; [move: hk; rewrite mem_iota|case: (leq 2 k)].
  have [k hk ->] := @In_map nat_eqType _ _ _ Fc.
  by exists k; move: hk; rewrite !inE => /orP[] /eqP ->.
by exists (k :: s); split; rewrite /= ?hs ?k8 // leq_add.
Qed.

Lemma gain_le q (A : {set 'I_K}) (p p' : 'I_K -> R) : checked q -> (#|A| <= t)%N ->
  (forall i, i \in A -> polygon e d (p i, p' i)) -> (forall i, i \notin A -> diagonal (p i, p' i)) ->
  run q [seq p i | i <- enum 'I_K] 0 <= E * run q [seq p' i | i <- enum 'I_K] 0 + delta.
Proof.
move=> check hA hin hout.
suff : gain E q [seq (p i, p' i) | i <- enum 'I_K] <= delta.
  by rewrite /gain -!map_comp /comp /=; lra.
apply: (@corners_suffice E q delta (map (region A) (enum 'I_K))).
- elim: (enum 'I_K) => //= j js IH; constructor=> //; rewrite /region.
  by case: (j \in A); [apply: corners_cover|apply: ends_cover].
- move=> cs /chosen [s [-> hs h8 ht]].
  have ps := permEl (perm_sort leq s).
  suff <- : gain E q (map (corner e d) (sort leq s)) = gain E q (map (corner e d) s).
    apply: check; split.
    + by rewrite size_sort hs size_enum_ord.
    + by rewrite all_sort.
    + exact: (sort_sorted leq_total).
    + rewrite (permP ps); apply: leq_trans ht (leq_trans _ hA).
      by rewrite -size_filter cardE enumT.
  by rewrite /gain -!map_comp !(run_perm _ _ _ ps).
- elim: (enum 'I_K) => //= j js IH; constructor=> //; rewrite /region.
  by case: ifP => h; [apply: hin|apply: hout; rewrite h].
Qed.

Lemma teacher_polygon (P P' : dist bool_finType) :
  teacher e d P P' -> polygon e d (P true, P' true).
Proof.
have one (Q : dist bool_finType) b : Pr Q [set b] = Q b by rewrite /Pr big_set1.
move=> [h h']; have := mass_ge0 P true; have := mass_ge0 P false; have := mass_ge0 P' true; have := mass_ge0 P' false.
have := h [set true]; have := h [set false]; have := h' [set true]; have := h' [set false].
by rewrite !one !mass_false /polygon /= => *; repeat split; lra.
Qed.

Lemma answer_true q P : answer q P true = run q (ones (K := K) P) 0.
Proof. by rewrite -answer_run; apply: eq_bigr. Qed.

(** The label 0 of q is the label 1 of 1 - q. *)
Lemma answer_false q P : answer (K := K) q P false = answer (fun l => 1 - q l) P true.
Proof. by []. Qed.

Lemma checked_true q (P P' : 'I_K -> dist bool_finType) : checked q -> near_teachers t e d P P' ->
  answer q P true <= E * answer q P' true + delta.
Proof.
move=> check [A [hA [hin hout]]]; rewrite !answer_true; apply: (gain_le check hA).
- by move=> i /hin /teacher_polygon.
- move=> i /hout eq; split=> /=; last exact: eq.
  have := mass_ge0 (P i) true; have := mass_ge0 (P i) false; have := mass_false (P i) => /= *; lra.
Qed.

Lemma law_sum (P : 'I_K -> dist bool_finType) : \rsum_v law P v = 1.
Proof.
have -> : \rsum_v law P v = run (fun _ => 1) (ones P) 0.
  by rewrite -answer_run; apply: eq_bigr => v _; rewrite Rmult_1_r.
by elim: (ones P) 0%N => //= p s IH l; rewrite !IH; ring.
Qed.

Variable q : nat -> R.

Lemma answer_sum (P : 'I_K -> dist bool_finType) : answer q P true + answer q P false = 1.
Proof.
rewrite -(law_sum P) /answer /output /by_count -big_split; apply: eq_bigr => v _ /=; ring.
Qed.

Hypothesis q01 : forall l, (l <= K)%N -> 0 <= q l <= 1.

Lemma answer_ge0 (P : 'I_K -> dist bool_finType) b : 0 <= answer q P b.
Proof.
apply: (big_ind (fun x => 0 <= x)) => [|x y hx hy|v _]; [lra|lra|].
apply: Rmult_le_pos.
  by apply: (big_ind (fun x => 0 <= x)) => [|x y hx hy|i _]; [lra|apply: Rmult_le_pos|apply: mass_ge0].
have hc : (count id v <= K)%N by rewrite -[X in (_ <= X)%N](size_tuple v) count_size.
by have := q01 hc; rewrite /by_count; case: b => /= *; lra.
Qed.

Lemma Pr_bool (f : bool -> R) (S : {set bool}) :
  Pr f S = (if true \in S then f true else 0) + (if false \in S then f false else 0).
Proof. by rewrite /Pr big_mkcond big_bool. Qed.

(** Both labels are all sets of outputs. *)
Lemma close_answers (P P' : 'I_K -> dist bool_finType) : answer q P true <= E * answer q P' true + delta ->
  answer q P false <= E * answer q P' false + delta -> close E delta (answer q P) (answer q P').
Proof. by move=> h1 h0 S; rewrite !Pr_bool; case: (true \in S); case: (false \in S); rewrite ?answer_sum; lra. Qed.

Lemma near_teachers_sym (P P' : 'I_K -> dist bool_finType) :
  near_teachers t e d P P' -> near_teachers t e d P' P.
Proof.
move=> [A [hA [hin hout]]]; exists A; split=> //; split=> i hi.
  by have [] := hin i hi.
by move=> b; rewrite hout.
Qed.

(** If every multiset of corners keeps the inequality of both labels, every two neighbours do, in
    both orders and for all four sets of outputs. *)
Theorem corners_private : checked q -> checked (fun l => 1 - q l) -> @keeps K t e d E delta q.
Proof.
move=> h1 h0 P P' near; have near' := near_teachers_sym near.
by split; apply: close_answers; rewrite ?answer_false; apply: checked_true.
Qed.

(** Where q treats both labels alike, as (1 + phi(l))/2 of a phi that is odd around K/2 does, the
    multisets of label 0 are those of label 1. *)
Theorem checked_alike : (forall l, (l <= K)%N -> q (K - l)%N = 1 - q l) -> checked q -> checked (fun l => 1 - q l).
Proof.
move=> qsym check s [hsz h8 _ ht].
have other (f : point -> R) : (forall i, f (corner e d (swap i)) = 1 - f (corner e d i)) ->
    run (fun l => 1 - q l) [seq f (corner e d i) | i <- s] 0 = run q [seq f (corner e d i) | i <- sort leq (map swap s)] 0.
  move=> hf; have ps := permEl (perm_sort leq (map swap s)); rewrite (run_perm _ _ _ ps) -map_comp.
  have sz : size [seq f (corner e d i) | i <- s] = K by rewrite size_map.
  have -> : map ((fun i => f (corner e d i)) \o swap) s = [seq 1 - p | p <- [seq f (corner e d i) | i <- s]].
    by rewrite -map_comp; apply: eq_map => i /=.
  rewrite -[X in run q _ X](subnn K) -{2}sz -[X in (X - _)%N](subn0 K) -run_flip ?sz //.
  by apply: (@run_ext _ _ K); rewrite ?sz // => k hk; rewrite qsym.
have o1 := other fst (fun i => f_equal fst (swap_corner e d i)); have o2 := other snd (fun i => f_equal snd (swap_corner e d i)).
have : multiset (sort leq (map swap s)); last by move=> /check; rewrite /gain -!map_comp /comp o1 o2.
split.
- by rewrite size_sort size_map.
- rewrite all_sort all_map; apply: sub_all h8 => i /=.
  by rewrite /swap; do 8?[case: i => [|i] //=].
- exact: (sort_sorted leq_total).
- rewrite (permP (permEl (perm_sort leq _))) count_map (eq_count (a2 := leq 2)) // => i /=; apply: swap_moves.
Qed.
End TwoClasses.
