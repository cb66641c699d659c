(** Two classes that are not alike, by shares or by costs: multipliers bound from below what every
    private mechanism on the votes pays, whatever it makes of them.
    Code: gamma.ByName, gamma.lowerBound; python/darrm/check.py (_lower_bound). *)
From Coq Require Import Reals Lra Lia ZArith.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Corners Optimal Code2 Check2 Exp TwoClasses Bound Votes.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** ** The checker *)
(** How often l votes are for class 1, in [counts]; the costs are [cost0]/[unit] and [cost1]/[unit]. *)
Record losses := Losses { counts : seq Z; cost0 : Z; cost1 : Z; unit : Z }.
(** A multiplier on a row of label 1, or of label 0. *)
Definition named_multiplier := (multiplier * bool)%type.

Section Code.
Variables (x : table) (o : losses).
Notation K := x.(K).
Notation pb := (weaker x).

Definition side (l : nat) : Z := if (l.*2 < K)%N then (-1)%Z else 1%Z.
Definition worth (l : nat) : Z :=
  (nth 0 o.(counts) l * (if (l.*2 < K)%N then o.(cost1) else if (K < l.*2)%N then o.(cost0) else 0))%Z.
Definition whole : Z := (o.(unit) * Zsum o.(counts))%Z.
Definition at_counts (f : nat -> Z) : seq Z := [seq f l | l <- iota 0 K.+1].

(** y·row(l), rounded down, for every l. *)
Definition named_effect (m : named_multiplier) : seq Z :=
  let '(yn, yd, counts) := m.1 in
  let '(a, b) := sides pb (expand counts) in
  let u := ones_law a in let v := ones_law b in let den := (yd * (denominator a * pb.(bottom)))%Z in
  at_counts (fun l => fl ((if m.2 then - yn else yn) * (pb.(bottom) * nth 0 u l - pb.(top) * nth 0 v l)) den)%Z.
Definition named_bound (ms : seq named_multiplier) : Z :=
  (Zsum (at_counts (fun l => fl (worth l) (2 * whole))) + Zsum [seq cost pb m.1 | m <- ms]
   + leastZ Any (Z.of_nat (size ms) + 1)
       (sums (at_counts (fun l => fl (- (side l * worth l)) (2 * whole))) [seq named_effect m | m <- ms]))%Z.
(** What the table costs, rounded down with the other sign. *)
Definition minus_paid : Z :=
  Zsum (at_counts (fun l => fl (- (worth l * (x.(one) - side l * List.nth l x.(phi) 0))) (2 * whole * x.(one))))%Z.

(** Within gn/gd of the best private mechanism. *)
Definition named_optimal (ms : seq named_multiplier) (gn gd : Z) : bool :=
  [&& bounded x, Z.ltb 0 o.(unit), Z.ltb 0 (Zsum o.(counts)), Z.ltb 0 gd, all (fun m => allowed K x.(t) m.1) ms &
      Z.leb (gd * (- minus_paid - floor0 (at_counts worth, whole) (named_bound ms))) (gn * grid)].
End Code.

Open Scope R_scope.

(** ** Weak duality *)
Definition lead (K l : nat) : R := if (l.*2 < K)%N then -1 else 1.
Definition each (K : nat) (c0 c1 : R) (p : nat -> R) (l : nat) : R :=
  p l * (charge K c0 c1 l true + charge K c0 c1 l false).

Lemma paid_each K c0 c1 p q :
  paid K c0 c1 p q = \rsum_(l < K.+1) (each K c0 c1 p l * (1 - lead K l * (2 * q l - 1)) / 2).
Proof.
apply: eq_bigr => l _; rewrite /each /lead /charge; case: (ltnP l.*2 K) => h; last by case: ifP => _; field.
by rewrite ltnNge (ltnW h) /=; field.
Qed.

Section Duality.
Variables (K t : nat) (e d E delta : R) (q : nat -> R).
Hypotheses (he : 1 <= e) (hd : 0 <= d <= 1).
Hypothesis private : @keeps K t e d E delta q.
Hypothesis q01 : forall l, (l <= K)%N -> 0 <= q l <= 1.

(** A row of label 1, or of label 0. *)
Definition at_count (l k : nat) : R := if k == l then 1 else 0.
Definition named_row (s : seq nat) (zero : bool) (l : nat) : R :=
  (if zero then -1 else 1) * gain E (at_count l) (map (corner e d) s).

Lemma sum_at_count (f : nat -> R) k : (k <= K)%N -> \rsum_(l < K.+1) (f l * at_count l k) = f k.
Proof.
move=> hk; rewrite (bigD1 (Ordinal (hk : (k < K.+1)%N))) //= big1 => [|l /eqP hl].
  by rewrite /at_count eqxx; ring.
by rewrite /at_count; case: eqP => [h|_]; [case: hl; apply: val_inj|ring].
Qed.

Lemma run_counts (f : nat -> R) ps : size ps = K -> \rsum_(l < K.+1) (f l * run (at_count l) ps 0) = run f ps 0.
Proof.
move=> sz; rewrite -run_sum; apply: (@run_ext _ _ K); rewrite ?sz // => k hk.
exact: sum_at_count.
Qed.

Lemma named_rows s zero : size s = K -> (count (leq 2) s <= t)%N ->
  \rsum_(l < K.+1) ((2 * q l - 1) * named_row s zero l) <= E - 1 + 2 * delta.
Proof.
move=> hsz ht; have [h1 h0] := rows_both he hd private hsz ht; move: h1 h0; rewrite /gain.
set ps := map fst _; set ps' := map snd _.
have sz : size ps = K by rewrite /ps !size_map.
have sz' : size ps' = K by rewrite /ps' !size_map.
have twice rs : size rs = K -> \rsum_(l < K.+1) ((2 * q l - 1) * run (at_count l) rs 0) = 2 * run q rs 0 - 1.
  move=> szr; rewrite (run_counts (fun l => 2 * q l - 1)) //.
  have := run_lin q (fun _ => 1) 2 (-1) rs 0; rewrite run_one => h.
  have -> : 2 * run q rs 0 - 1 = 2 * run q rs 0 + -1 * 1 by ring.
  by rewrite -h; apply: (@run_ext _ _ K); rewrite ?szr // => k _; ring.
have := twice ps sz; have := twice ps' sz'.
set S := \rsum_(l < K.+1) ((2 * q l - 1) * run (at_count l) ps 0); set S' := \rsum_(l < K.+1) _.
have -> : \rsum_(l < K.+1) ((2 * q l - 1) * named_row s zero l) = (if zero then -1 else 1) * (S - E * S').
  have -> : S - E * S' = S + - E * S' by ring.
  rewrite /S /S' (big_distrr (- E)) -big_split big_distrr /=; apply: eq_bigr => l _.
  by rewrite /named_row /gain -/ps -/ps'; ring.
by move=> -> -> h1 h0; case: zero; lra.
Qed.

Definition named_slope (w : nat -> R) (y : seq (R * seq nat * bool)) (l : nat) : R :=
  - (lead K l * w l) / 2 + \rsum_(m <- y) (m.1.1 * named_row m.1.2 m.2 l).

Theorem named_lower_bound c0 c1 p (w := each K c0 c1 p) (y : seq (R * seq nat * bool)) :
  (forall m, List.In m y -> 0 <= m.1.1 /\ size m.1.2 = K /\ (count (leq 2) m.1.2 <= t)%N) ->
  \rsum_(l < K.+1) (w l / 2) - price E delta (map fst y) + least Any [seq named_slope w y l | l <- iota 0 K.+1]
  <= paid K c0 c1 p q.
Proof.
move=> hy; rewrite paid_each -/w; pose c l := \rsum_(m <- y) (m.1.1 * named_row m.1.2 m.2 l).
have hprice : \rsum_(l < K.+1) ((2 * q l - 1) * c l) <= price E delta (map fst y).
  rewrite /price /c big_map; elim: y hy {c} => [|m y IH] hy.
    by rewrite big_nil big1 => [|l _]; rewrite ?big_nil; [apply: Rle_refl|ring].
  have [h1 [h2 h3]] := hy m (or_introl erefl); have {}IH := IH (fun k hk => hy k (or_intror hk)).
  rewrite big_cons.
  have -> : \rsum_(l < K.+1) ((2 * q l - 1) * \rsum_(k <- m :: y) (k.1.1 * named_row k.1.2 k.2 l))
    = (m.1.1 * (\rsum_(l < K.+1) ((2 * q l - 1) * named_row m.1.2 m.2 l)))
      + (\rsum_(l < K.+1) ((2 * q l - 1) * \rsum_(k <- y) (k.1.1 * named_row k.1.2 k.2 l))).
    rewrite [X in _ = X + _]big_distrr /= -big_split; apply: eq_bigr => l _; rewrite big_cons /=; ring.
  by apply: Rplus_le_compat => //; apply: Rmult_le_compat_l => //; apply: named_rows.
have split_paid : \rsum_(l < K.+1) (w l * (1 - lead K l * (2 * q l - 1)) / 2) + \rsum_(l < K.+1) ((2 * q l - 1) * c l) =
    \rsum_(l < K.+1) (w l / 2) + \rsum_(l < K.+1) (named_slope w y l * (2 * q l - 1)).
  by rewrite -!big_split /=; apply: eq_bigr => l _; rewrite /named_slope -/(c l); field.
suff : least Any [seq named_slope w y l | l <- iota 0 K.+1] <= \rsum_(l < K.+1) (named_slope w y l * (2 * q l - 1)) by lra.
rewrite /least big_map -{1}(subn0 K.+1) -/(index_iota 0 K.+1) big_mkord; apply: rsum_le => l _.
have := q01 (l := l); rewrite -ltnS => /(_ (ltn_ord l)).
have := Rle_abs (named_slope w y l); have := Rle_abs (- named_slope w y l); rewrite Rabs_Ropp; nra.
Qed.
End Duality.

(** ** The bound of the checker *)
Opaque grid.
Notation G := (IZR grid).

Definition often (o : losses) (l : nat) : R := IZR (nth 0%Z o.(counts) l) / IZR (Zsum o.(counts)).
Definition cost_of0 (o : losses) : R := IZR o.(cost0) / IZR o.(unit).
Definition cost_of1 (o : losses) : R := IZR o.(cost1) / IZR o.(unit).

Lemma side_lead K l x : x.(TwoClasses.K) = K -> IZR (side x l) = lead K l.
Proof. by rewrite /side /lead => ->; case: ifP. Qed.

Section Sound.
Variables (x : table) (o : losses).
Hypotheses (fits : bounded x = true) (hu : (0 < o.(unit))%Z) (hn : (0 < Zsum o.(counts))%Z).
Notation K := x.(TwoClasses.K).
Notation t := x.(TwoClasses.t).
Notation pb := (weaker x).
Notation e := (e_of pb). Notation d := (d_of pb). Notation E := (E_of pb). Notation delta := (delta_of pb).
Notation cost_paid := (paid K (cost_of0 o) (cost_of1 o) (often o)).
Notation w := (each K (cost_of0 o) (cost_of1 o) (often o)).

Lemma whole_pos : (0 < whole o)%Z.
Proof. exact: Z.mul_pos_pos. Qed.

Lemma worth_ok l : w l = IZR (worth x o l) / IZR (whole o).
Proof.
have pu := IZR_lt _ _ hu; have pn := IZR_lt _ _ hn.
rewrite /each /worth /whole /often /charge /cost_of0 /cost_of1 !mult_IZR.
case: (ltnP l.*2 K) => h; last by case: ifP => _; field; lra.
by rewrite ltnNge (ltnW h) /=; field; lra.
Qed.

Lemma at_counts_sum f : IZR (Zsum (at_counts x f)) = \rsum_(l < K.+1) IZR (f l).
Proof. by rewrite Zsum_ok big_map -{1}(subn0 K.+1) -/(index_iota 0 K.+1) big_mkord. Qed.

Definition named_real (m : named_multiplier) : R * seq nat * bool := (real m.1, m.2).

Lemma named_effect_ok m l : allowed K t m.1 = true -> (l < K.+1)%N ->
  below 1 (nth 0%Z (named_effect x m) l) ((real m.1).1 * named_row e d E (real m.1).2 m.2 l).
Proof.
case: m => [[[yn yd] cs] zero] /andP [_ /andP [/Z.ltb_lt hd _]] hl; rewrite /named_effect /real /= in hd *.
have [ok _] := weaker_ok fits; have [sp se] := denominator_pos ok (expand cs); have sr := sides_run ok (expand cs) (at_count l).
move: sp se sr; rewrite /sides; set a := [seq _ | i <- expand cs]; set b := [seq _ | i <- expand cs] => /= sp se [ra rb].
rewrite /at_counts (nth_map 0%N) ?size_iota // nth_iota // add0n.
have [_ [hb _ _ _]] := sane_facts ok; have pbt := IZR_lt _ _ hb; have pyd := IZR_lt _ _ hd.
have hden : (0 < yd * (denominator a * bottom pb))%Z by apply: Z.mul_pos_pos => //; apply: Z.mul_pos_pos => //; apply: lt_IZR.
set num := (_ * (bottom pb * _ - _))%Z.
suff -> : IZR yn / IZR yd * named_row e d E (expand cs) zero l = IZR num / IZR (yd * (denominator a * bottom pb)).
  exact: fl_ok.
move: ra rb; rewrite !dot_at !leq0n !subn0 se /named_row /gain => ra rb.
rewrite /num {num} !(mult_IZR, minus_IZR) ra rb /E_of.
by case: zero; rewrite ?opp_IZR; field; repeat split; apply: Rgt_not_eq.
Qed.

Theorem named_bound_ok ms q : all (fun m => allowed K t m.1) ms ->
  @keeps K t (exp (epsilon x)) (teacher_delta x) (exp (total x)) (TwoClasses.delta x) q ->
  (forall l, (l <= K)%N -> 0 <= q l <= 1) -> IZR (named_bound x o ms) <= G * cost_paid q.
Proof.
move=> ha hq q01; have g := G_pos; have [ok _] := weaker_ok fits; have k := weaker_keeps fits q01 hq.
have [[a1 a2 a3 [a4 a5]] [b1 b2 b3 b4]] := sane_facts ok; have hw := whole_pos; have pw := IZR_lt _ _ hw.
have ha' : all (allowed K t) [seq m.1 | m <- ms] by rewrite all_map.
have hm m : List.In m ms -> allowed K t m.1 = true.
  by elim: (ms) ha => //= m' ms' IH /andP [h /IH {}IH] [<-|/IH].
have hy m : List.In m (map named_real ms) -> 0 <= m.1.1 /\ size m.1.2 = K /\ (count (leq 2) m.1.2 <= t)%N.
  move=> /List.in_map_iff [m0 [<- /hm]] /andP [/Z.leb_le n0 /andP [/Z.ltb_lt d0 /andP [/eqP sz ct]]].
  by split=> //=; apply: ratio_pos.
have := named_lower_bound (ratio_le1 a1 a2) (conj (ratio_pos a3 a4) (ratio_ge1 a3 a5)) k q01
  (cost_of0 o) (cost_of1 o) (often o) hy.
set lp := least Any _; set sw := \rsum_(l < _) _; set pr := price _ _ _ => h.
apply: (Rle_trans _ (G * (sw - pr + lp))); last by apply: Rmult_le_compat_l; lra.
have two : (0 < 2 * whole o)%Z by lia.
rewrite /named_bound 2!plus_IZR !Rmult_plus_distr_l; apply: Rplus_le_compat; first apply: Rplus_le_compat.
- rewrite at_counts_sum /sw big_distrr /=; apply: rsum_le => l _; have [f _] := fl_ok (worth x o l) two.
  apply: Rle_trans f _; apply: Req_le; rewrite worth_ok (mult_IZR 2); field; lra.
- have := costs_ok ok ha'; rewrite -!map_comp /pr -map_comp; exact.
- apply: least_ok; first by lia.
  have [||m hin|sz hb] := @sums_ok K.+1 (at_counts x (fun l => fl (- (side x l * worth x o l)) (2 * whole o)))
      (fun l => - (lead K l * w l) / 2) _ ms (named_effect x) (fun m l => (real m.1).1 * named_row e d E (real m.1).2 m.2 l).
  + by rewrite size_map size_iota.
  + move=> l hl; rewrite /at_counts (nth_map 0%N) ?size_iota // nth_iota // add0n.
    have := fl_ok (- (side x l * worth x o l)) two; rewrite opp_IZR (mult_IZR (side x l)) (mult_IZR 2) (side_lead _ (erefl K)) worth_ok /below.
    by have -> : - (lead K l * IZR (worth x o l)) / (2 * IZR (whole o)) = - (lead K l * (IZR (worth x o l) / IZR (whole o))) / 2
      by field; lra.
  + split=> [|l hl]; last exact: named_effect_ok (hm _ hin) hl.
    by rewrite /named_effect; case: (m.1) => [[yn yd] cs]; case: (sides _ _) => a b; rewrite size_map size_iota.
  rewrite -[sums _ _](mkseq_nth 0%Z) /mkseq sz; apply: Forall2_iota => l /= hl.
  by rewrite /named_slope big_map; apply: hb.
Qed.
End Sound.

(** ** The theorem *)
Section Best.
Variables (x : table) (o : losses) (ms : seq named_multiplier) (gn gd : Z).
Hypothesis yes : named_optimal x o ms gn gd = true.
Notation K := x.(TwoClasses.K).
Notation cost_paid := (paid K (cost_of0 o) (cost_of1 o) (often o)).

(** No private function pays less by more than the stated gap. *)
Theorem named_optimal_ok q :
  @keeps K x.(TwoClasses.t) (exp (epsilon x)) (teacher_delta x) (exp (total x)) (TwoClasses.delta x) q ->
  (forall l, (l <= K)%N -> 0 <= q l <= 1) -> cost_paid (one_prob x) <= cost_paid q + IZR gn / IZR gd.
Proof.
case/andP: yes => fits /andP [/Z.ltb_lt hu /andP [/Z.ltb_lt hn /andP [/Z.ltb_lt hgd /andP [ha /Z.leb_le nb]]]] hq q01.
have g := G_pos; have hw := whole_pos hu hn; have pw := IZR_lt _ _ hw; have pg := IZR_lt _ _ hgd.
have [ho _ hphi] : [/\ (0 < x.(one))%Z, length x.(phi) = K.+1 & forall l, (- x.(one) <= List.nth l x.(phi) 0 <= x.(one))%Z].
  by apply: phi_facts; case/andP: fits => /formedP [_ [_ []]].
have po := IZR_lt _ _ ho.
have b : IZR (floor0 (at_counts x (worth x o), whole o) (named_bound x o ms)) <= G * cost_paid q.
  have b := named_bound_ok fits hu hn ha hq q01; rewrite /floor0; case: ifP => // w0; rewrite IZR_max; apply: Rmax_lub => //.
  apply: Rmult_le_pos; first exact: Rlt_le.
  rewrite paid_each; apply: rsum_ge0 => l _; rewrite worth_ok //.
  have hl : (l <= K)%N by rewrite -ltnS; apply: ltn_ord.
  have wl : 0 <= IZR (worth x o l) / IZR (whole o).
    apply: ratio_pos => //; apply/Z.leb_le; have sz : size (at_counts x (worth x o)) = K.+1 by rewrite size_map size_iota.
    by have := all_nthP 0%Z w0 l; rewrite sz ltn_ord (nth_map 0%N) ?size_iota // nth_iota //; apply.
  have := q01 l hl; rewrite /lead; set z := IZR _ / _ in wl *; case: ifP => _; nra.
have ml : IZR (minus_paid x o) <= - (G * cost_paid (one_prob x)).
  rewrite /minus_paid at_counts_sum paid_each.
  have -> : forall y, - (G * y) = - G * y by move=> y; ring.
  rewrite big_distrr /=; apply: rsum_le => l _.
  have hd : (0 < 2 * whole o * x.(one))%Z by apply: Z.mul_pos_pos => //; lia.
  have [f _] := fl_ok (- (worth x o l * (x.(one) - side x l * List.nth l x.(phi) 0)))%Z hd; apply: Rle_trans f _; apply: Req_le.
  rewrite worth_ok // /one_prob opp_IZR (mult_IZR (worth x o l)) minus_IZR (mult_IZR (side x l)) (side_lead _ (erefl K))
    (mult_IZR (2 * whole o)) (mult_IZR 2).
  by field; lra.
have {}nb := IZR_le _ _ nb; rewrite (mult_IZR gd) (mult_IZR gn grid) minus_IZR opp_IZR in nb.
move: ml nb b; move: (IZR (minus_paid _ _)) (IZR (floor0 _ _)) (cost_paid q) (cost_paid (one_prob x)) => m lb c a ml nb b.
apply: (Rmult_le_reg_r (IZR gd * G)); first exact: Rmult_lt_0_compat.
have -> : (c + IZR gn / IZR gd) * (IZR gd * G) = IZR gd * (G * c) + IZR gn * G by field; lra.
have h1 : IZR gd * (G * a) <= IZR gd * - m by apply: Rmult_le_compat_l; lra.
have h2 : IZR gd * lb <= IZR gd * (G * c) by apply: Rmult_le_compat_l; lra.
lra.
Qed.

(** ** What a mechanism pays is what its mean over the orders of the teachers pays *)
Notation size_at l := (INR #|[set v : K.-tuple bool | count id v == l]|).

Lemma pays_paid c0 c1 u (M : K.-tuple bool -> dist bool_finType) :
  pays c0 c1 u M = paid K c0 c1 (fun l => size_at l * u l) (of_count M).
Proof.
have hv (v : K.-tuple bool) : (count id v < K.+1)%N by rewrite ltnS -[X in (_ <= X)%N](size_tuple v) count_size.
rewrite /pays (partition_big (fun v => Ordinal (hv v)) predT) //=; apply: eq_bigr => l _.
have hl : (l <= K)%N by rewrite -ltnS; apply: ltn_ord.
rewrite (eq_bigl (fun v : K.-tuple bool => count id v == l)) => [|v]; last by [].
rewrite (eq_bigr (fun v : K.-tuple bool => u l * charge K c0 c1 l true * M v true + u l * charge K c0 c1 l false * M v false)).
  rewrite big_split /= -!big_distrr /= count_at // count_at_false //.
  by move: (INR _) (of_count M l) (if (l.*2 < K)%N then c1 else 0) (if _ then c0 else 0) => n f a b; ring.
by move=> v /eqP ->; rewrite big_bool /=; ring.
Qed.

(** Whatever a private mechanism makes of the votes: it pays at most gn/gd less than the table. *)
Theorem every_named_mechanism u (M : K.-tuple bool -> dist bool_finType) :
  keeps_all x.(TwoClasses.t) (exp (epsilon x)) (teacher_delta x) (exp (total x)) (TwoClasses.delta x) M ->
  (forall l, (l <= K)%N -> size_at l * u l = often o l) ->
  cost_paid (one_prob x) <= pays (cost_of0 o) (cost_of1 o) u M + IZR gn / IZR gd.
Proof.
move=> private hu; rewrite pays_paid.
have -> : paid K (cost_of0 o) (cost_of1 o) (fun l => size_at l * u l) (of_count M) = cost_paid (of_count M).
  by apply: eq_bigr => l _; rewrite hu // -ltnS; apply: ltn_ord.
by apply: named_optimal_ok; [apply: of_count_keeps|move=> l hl; apply: of_count01].
Qed.
End Best.
