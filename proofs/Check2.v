(** The walk over multisets of Code2.v says yes to private tables only. *)
From Coq Require Import Reals Lra Lia ZArith List.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Corners Code2.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Lemma ratio_pos (a b : Z) : (0 < b)%Z -> (0 <= a)%Z -> 0 <= IZR a / IZR b.
Proof. by move=> /IZR_lt hb /IZR_le ha; apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat. Qed.
Lemma ratio_le1 (a b : Z) : (0 < b)%Z -> (b <= a)%Z -> 1 <= IZR a / IZR b.
Proof.
move=> /IZR_lt hb /IZR_le ha; apply: (Rmult_le_reg_r (IZR b)) => //.
by rewrite /Rdiv Rmult_assoc Rinv_l; lra.
Qed.
Lemma ratio_ge1 (a b : Z) : (0 < b)%Z -> (a <= b)%Z -> IZR a / IZR b <= 1.
Proof.
move=> /IZR_lt hb /IZR_le ha; apply: (Rmult_le_reg_r (IZR b)) => //.
by rewrite /Rdiv Rmult_assoc Rinv_l; lra.
Qed.


Definition e_of (pb : problem) := IZR pb.(en) / IZR pb.(ed).
Definition d_of (pb : problem) := IZR pb.(dn) / IZR pb.(dd).
Definition E_of (pb : problem) := IZR pb.(top) / IZR pb.(bottom).
Definition delta_of (pb : problem) := IZR pb.(pn) / IZR pb.(pd).

Lemma sane_facts pb : sane pb = true ->
  [/\ (0 < pb.(ed))%Z, (pb.(ed) <= pb.(en))%Z, (0 < pb.(dd))%Z & (0 <= pb.(dn) <= pb.(dd))%Z]
  /\ [/\ (0 < pb.(bottom))%Z, (pb.(bottom) <= pb.(top))%Z, (0 < pb.(pd))%Z & (0 <= pb.(pn))%Z].
Proof.
rewrite /sane => h.
do 8?[move: h => /andP [h]]; move: h => /Z.ltb_lt a1 /Z.leb_le a2 /Z.ltb_lt a3 /Z.leb_le a4 /Z.leb_le a5
  /Z.ltb_lt a6 /Z.leb_le a7 /Z.ltb_lt a8 /Z.leb_le a9.
by do ![split=> //].
Qed.

Section Corner.
Variable pb : problem.
Hypothesis ok : sane pb = true.
Notation e := (e_of pb). Notation d := (d_of pb).

Lemma corner_ok i n n' s : corner_of pb i = (n, n', s) ->
  [/\ 0 < IZR s, IZR n = IZR s * (corner e d i).1 & IZR n' = IZR s * (corner e d i).2].
Proof.
have [[a1 a2 a3 a4] _] := sane_facts ok.
have p1 := IZR_lt _ _ a1; have p2 := IZR_le _ _ a2; have p3 := IZR_lt _ _ a3.
have hh : IZR (pb.(dd) * (pb.(en) + pb.(ed))) * high e d = IZR (pb.(en) * pb.(dd) + pb.(dn) * pb.(ed)).
  by rewrite /high /e_of /d_of !(plus_IZR, mult_IZR); field; do ![split]; lra.
have ps : 0 < IZR (pb.(dd) * (pb.(en) + pb.(ed))) by rewrite mult_IZR plus_IZR; apply: Rmult_lt_0_compat; lra.
have hd : IZR pb.(dd) * d = IZR pb.(dn) by rewrite /d_of; field; lra.
rewrite /corner; do 7?[case: i => [|i]] => -[<- <- <-] /=; split; rewrite ?minus_IZR -?hh -?hd //=; ring_simplify; try lra.
all: rewrite nth_default //=; lra.
Qed.

End Corner.

(** ** The numbers of a table *)
Section Numbers.
Variables (K : nat) (one : Z) (phi : list Z).
Definition psi (l : nat) : R := IZR (List.nth l phi 0%Z) / IZR one.
(** Pr[1 | l ones], as ensemble draws it. *)
Definition q (l : nat) : R := (1 + psi l) / 2.

Hypothesis ok : phi_ok K one phi = true.
Lemma phi_facts : [/\ (0 < one)%Z, length phi = K.+1 & forall l, (- one <= List.nth l phi 0 <= one)%Z].
Proof.
move: ok => /andP [/andP [/Z.ltb_lt ho /PeanoNat.Nat.eqb_eq hl] hb]; split=> // l.
have [h|h] := leqP (length phi) l; first by rewrite List.nth_overflow; [lia|apply/leP].
have /andP [/Z.leb_le lo /Z.leb_le hi] := proj1 (List.forallb_forall _ _) hb _ (List.nth_In phi 0%Z (elimT ltP h)).
by [].
Qed.

Lemma q01 l : 0 <= q l <= 1.
Proof.
have [/IZR_lt p _ h] := phi_facts; have [/IZR_le lo /IZR_le hi] := h l; rewrite opp_IZR in lo.
have e : IZR (List.nth l phi 0%Z) = psi l * IZR one by rewrite /psi; field; lra.
by rewrite e in lo hi; rewrite /q; split; nra.
Qed.

Lemma opposite_nth u v : opposite u v = true -> forall l, (l < length u)%N -> (List.nth l u 0 = - List.nth l v 0)%Z.
Proof. by elim: u v => [|x u IH] [|y v] //= /andP [/Z.eqb_eq hx h] [|l] hl //; apply: IH. Qed.

Lemma alike_nth l : alike phi = true -> (l <= K)%N -> (List.nth (K - l)%N phi 0 = - List.nth l phi 0)%Z.
Proof.
have [_ hlen _] := phi_facts => /opposite_nth h hl; have := h l; rewrite hlen ltnS => -> //.
by rewrite List.rev_nth hlen ?Z.opp_involutive //; apply/ltP; rewrite ltnS.
Qed.
End Numbers.

(** ** The walk *)
Section Walk.
Variables (pb : problem) (K t : nat) (one : Z) (phi : list Z).
Notation e := (e_of pb). Notation d := (d_of pb). Notation E := (E_of pb). Notation delta := (delta_of pb).
Notation psi := (psi one phi). Notation q := (q one phi).
Hypotheses (ok : sane pb = true) (hone : (0 < one)%Z) (hlen : length phi = K.+1).
Hypothesis hv : visit pb (corners_of pb) K t phi phi one = true.

Lemma step_nth n s u k : (k.+1 < length u)%N ->
  List.nth k (step n s u) 0%Z = ((s - n) * List.nth k u 0 + n * List.nth k.+1 u 0)%Z.
Proof.
elim: u k => [|x [|y u] IH] [|k] //= h.
exact: (IH k).
Qed.

Lemma step_length n s u : length (step n s u) = (length u).-1.
Proof. by elim: u => [|x [|y u] IH] //=; rewrite [length _]IH. Qed.

Definition reps (u : list Z) (sc : Z) (ps : seq R) (left : nat) : Prop :=
  length u = left.+1 /\ forall k, (k <= left)%N -> IZR (List.nth k u 0%Z) = IZR sc * run psi ps k.

Lemma reps_step u sc ps left n s p : IZR n = IZR s * p ->
  reps u sc ps left.+1 -> reps (step n s u) (sc * s) (p :: ps) left.
Proof.
move=> hp [hl h]; split=> [|k hk]; first by rewrite step_length hl.
rewrite step_nth ?hl ?ltnS // plus_IZR !mult_IZR minus_IZR !h //=; last exact: leqW.
rewrite hp; ring.
Qed.

Definition good (s : seq nat) : Prop :=
  run psi [seq (corner e d i).1 | i <- s] 0 - E * run psi [seq (corner e d i).2 | i <- s] 0
  <= E - 1 + 2 * delta.

Lemma good_perm s s' : perm_eq s s' -> good s -> good s'.
Proof. by move=> p; rewrite /good !(run_perm _ _ _ p). Qed.

Lemma leaf_ok x y sc a b : (0 < sc)%Z -> IZR x = IZR sc * a -> IZR y = IZR sc * b ->
  leaf pb x y sc = true -> a - E * b <= E - 1 + 2 * delta.
Proof.
have [_ [b1 b2 b3 b4]] := sane_facts ok.
move=> /IZR_lt hs hx hy /Z.leb_le /IZR_le.
rewrite !(mult_IZR, minus_IZR, plus_IZR) hx hy => h.
have p1 := IZR_lt _ _ b1; have p3 := IZR_lt _ _ b3.
have hE : IZR pb.(bottom) * E = IZR pb.(top) by rewrite /E_of; field; lra.
have hd : IZR pb.(pd) * delta = IZR pb.(pn) by rewrite /delta_of; field; lra.
apply: (Rmult_le_reg_l (IZR sc * (IZR pb.(pd) * IZR pb.(bottom)))).
  by do ![apply: Rmult_lt_0_compat => //].
move: h; rewrite -hE -hd; lra.
Qed.

Lemma visit_cons i cs left mv u v sc n n' s : corner_of pb i = (n, n', s) ->
  visit pb (i :: cs) left mv u v sc =
    visit pb cs left mv u v sc &&
    match left with
    | O => true
    | S left' => if moves i
        then match mv with
             | O => true
             | S mv' => visit pb (i :: cs) left' mv' (step n s u) (step n' s v) (sc * s)%Z
             end
        else visit pb (i :: cs) left' mv (step n s u) (step n' s v) (sc * s)%Z
    end.
Proof. by move=> h; rewrite /= h; case: left. Qed.

Lemma movesE i : moves i = (2 <= i)%N. Proof. by case: i => [|[]]. Qed.

Lemma visit_sound cs : sorted ltn cs -> forall left mv u v sc used,
  reps u sc [seq (corner e d i).1 | i <- used] left ->
  reps v sc [seq (corner e d i).2 | i <- used] left ->
  (0 < sc)%Z -> visit pb cs left mv u v sc = true ->
  forall s, sorted leq s -> {subset s <= cs} -> size s = left -> (count (leq 2) s <= mv)%N ->
  good (s ++ used).
Proof.
elim: cs => [_|i cs IH so] left mv u v sc used ru rv hs.
  move=> hvis [|j s] _ sub hsz _; last by have := sub j (mem_head _ _).
  move: hsz ru rv hvis => <- [_ ru] [_ rv] /=.
  apply: leaf_ok hs _ _; [rewrite -ru //|rewrite -rv //]; by [case: (u)|case: (v)].
have [so1 so2] : sorted ltn cs /\ all (ltn i) cs.
  by split; [apply: path_sorted so|apply: order_path_min so; apply: ltn_trans].
case ec : (corner_of pb i) => [[n n'] c].
have [cpos cn cn'] := corner_ok ok ec.
elim: left mv u v sc used ru rv hs => [|left IHl] mv u v sc used ru rv hs.
  rewrite (visit_cons _ _ _ _ _ _ ec) andbT => hvis [|//] _ _ _ _.
  exact: (IH so1 _ _ _ _ _ _ ru rv hs hvis [::]).
rewrite (visit_cons _ _ _ _ _ _ ec) => /andP [h1 h2] [//|j s] sj sub [hsz] hm.
have [eji|nji] := eqVneq j i; last first.
  apply: (IH so1 _ _ _ _ _ _ ru rv hs h1) => //=; last by rewrite hsz.
  have hj : j \in cs by have := sub j (mem_head _ _); rewrite inE (negbTE nji).
  have ij : (i < j)%N by apply: (allP so2).
  have aj := order_path_min leq_trans sj.
  move=> k hk; have := sub k hk; rewrite inE => /orP [/eqP ek|//].
  move: hk ij; rewrite inE => /orP [/eqP <-|/(allP aj)]; first by rewrite ek ltnn.
  by rewrite ek leqNgt => /negbTE ->.
rewrite {j}eji in sj sub hm *.
apply: (@good_perm (s ++ i :: used)); first by rewrite -[i :: used]cat1s perm_catCA.
have ru' := reps_step cn ru; have rv' := reps_step cn' rv.
have hs' : (0 < sc * c)%Z by apply: Z.mul_pos_pos => //; apply: lt_IZR.
have sub' : {subset s <= i :: cs} by move=> k hk; apply: sub; rewrite inE hk orbT.
move: h2 hm; rewrite movesE /=; case: (2 <= i)%N => /=; last first.
  by move=> h2 hm; apply: (IHl _ _ _ _ (i :: used) ru' rv' hs' h2) => //; apply: path_sorted sj.
case: mv h1 => // mv _ h2 hm.
by apply: (IHl _ _ _ _ (i :: used) ru' rv' hs' h2) => //; apply: path_sorted sj.
Qed.

(** Where Δ is 0 or 1 four corners are two others. *)
Definition merge (i : nat) : nat :=
  nth i (if Z.eqb pb.(dn) 0 then [:: 0; 1; 0; 0; 1; 1] else [:: 0; 1; 6; 7; 6; 7])%N i.

Lemma good_multiset s : multiset K t s -> good s.
Proof.
move=> [hsz h8 hs ht]; have [[_ _ hdd _] _] := sane_facts ok.
have r0 (f : nat -> R) : reps phi one [seq f i | i <- [::]] K.
  split=> // k _ /=; rewrite /psi; field; have := IZR_lt _ _ hone; lra.
have := hv; rewrite /corners_of; case ez : orb => hw; last first.
  rewrite -[s]cats0; apply: (visit_sound _ (r0 _) (r0 _) hone hw) => // i /(allP h8).
  by do 8?[case: i => [//|i]].
have cm i : (i < 8)%N -> corner e d (merge i) = corner e d i.
  have he : 0 < e + 1.
    have [[a1 a2 _ _] _] := sane_facts ok; have := IZR_lt _ _ a1; have := IZR_le _ _ a2 => x y.
    suff : 0 <= e by lra.
    by rewrite /e_of; apply: Rmult_le_pos; [lra|apply/Rlt_le/Rinv_0_lt_compat].
  move: ez; rewrite /merge /corner; case: Z.eqb_spec => [z _|_ /Z.eqb_eq z].
    have -> : d = 0 by rewrite /d_of z /Rdiv Rmult_0_l.
    by rewrite Rminus_0_r; do 8?[case: i => [//|i]].
  have d1 : d = 1 by rewrite /d_of z /Rdiv Rinv_r //; apply/Rgt_not_eq/IZR_lt.
  have -> : high e d = 1 by rewrite /high d1 /Rdiv Rinv_r //; apply: Rgt_not_eq.
  by rewrite d1 Rminus_eq_0; do 8?[case: i => [//|i]].
have m8 i : merge i \in [:: 0; 1; 6; 7]%N \/ (8 <= i)%N.
  rewrite /merge; case: ifP => _; do 8?[case: i => [|i]]; by [left|right].
have hg : good (map merge s) -> good s.
  rewrite /good -!map_comp.
  have h (f : point -> R) : [seq (f \o corner e d \o merge) i | i <- s] = [seq f (corner e d i) | i <- s].
    by apply/eq_in_map => i /(allP h8) /cm /= ->.
  by rewrite -!h.
apply: hg; have ps := permEl (perm_sort leq (map merge s)).
apply: (good_perm ps); rewrite -[sort _ _]cats0.
apply: (visit_sound _ (r0 _) (r0 _) hone hw) => //.
- exact: (sort_sorted leq_total).
- move=> i; rewrite mem_sort => /mapP [j /(allP h8) hj ->].
  by case: (m8 j) => //; rewrite leqNgt hj.
- by rewrite size_sort size_map.
- rewrite (permP ps) count_map; apply: leq_trans ht; apply: sub_count => i /=.
  by rewrite /merge; case: ifP => _; do 8?[case: i => [|i] //=]; rewrite nth_default.
Qed.

Lemma run_half ps l : run q ps l = (1 + run psi ps l) / 2.
Proof. elim: ps l => //= p ps IH l; rewrite !IH; field. Qed.

Lemma walk_checked : checked K t e d E delta q.
Proof. by move=> s /good_multiset; rewrite /good /gain -!map_comp !run_half /comp; lra. Qed.
End Walk.

Section Sound.
Variables (pb : problem) (K t : nat) (one : Z) (phi : list Z).
Notation e := (e_of pb). Notation d := (d_of pb). Notation E := (E_of pb). Notation delta := (delta_of pb).
Notation q := (q one phi).
Hypothesis yes : swept pb K t one phi = true.

(** For every eps and total that the rational numbers bound on the private side. *)
Theorem swept_keeps (eps total : R) : exp eps <= e -> E <= exp total ->
  @keeps K t (exp eps) d (exp total) delta q.
Proof.
move=> he hE P P' [A [hA [hin hout]]].
case/andP: yes => /andP [/andP [ok hphi] hv1] hv0; have [[a1 a2 a3 [a4 a5]] [b1 b2 b3 b4]] := sane_facts ok.
have [ho hlen _] := phi_facts hphi; have po := IZR_lt _ _ ho.
have pr0 (f : bool -> R) S : (forall b, 0 <= f b) -> 0 <= Pr f S by move=> h; apply: rsum_ge0.
have up (f f' : bool -> R) e1 e2 x : (forall b, 0 <= f' b) -> e1 <= e2 -> close e1 x f f' -> close e2 x f f'.
  by move=> h0 h12 h S; have := h S; have := pr0 f' S h0; nra.
have c1 := walk_checked ok ho hlen hv1.
have c0 : checked K t e d E delta (fun l => 1 - q l).
  case/orP: hv0 => [al|hv0].
    apply: checked_alike c1 => l hl; rewrite /q /psi (alike_nth hphi al hl) opp_IZR; field; lra.
  have hl : length (List.map Z.opp phi) = K.+1 by rewrite List.map_length.
  move=> s hs; have := walk_checked ok ho hl hv0 hs; rewrite /gain.
  have flip ps : run (Check2.q one (List.map Z.opp phi)) ps 0 = run (fun l => 1 - q l) ps 0.
    apply: (@run_ext _ _ (size ps)) => // k _; rewrite /Check2.q /psi -[X in List.nth _ _ X]/(- 0)%Z List.map_nth opp_IZR; field; lra.
  by rewrite !flip.
have near : near_teachers t e d P P'.
  exists A; split=> //; split=> // i /hin [h h'].
  by split; apply: up he _ => //; apply: mass_ge0.
have [c c'] := @corners_private K t e d E delta (ratio_le1 a1 a2)
  (conj (ratio_pos a3 a4) (ratio_ge1 a3 a5)) (ratio_le1 b1 b2) (ratio_pos b3 b4) q c1 c0 P P' near.
by split; [apply: up hE c|apply: up hE c'] => b; apply: (@answer_ge0 K q) => l _; apply: q01 hphi l.
Qed.
End Sound.
