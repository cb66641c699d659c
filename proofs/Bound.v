(** The optimality of a table of two classes, executable: the multipliers of its proof bound the
    loss of every private noise function.
    Code: gamma.Verify (gamma.lowerBound); python/darrm/check.py (_lower_bound). *)
From Coq Require Import Reals Lra Lia ZArith.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Corners Optimal Code2 Check2 Exp TwoClasses.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(** ** Numbers *)
(** (Σ u_i x^i) ((s-n) + n x) for each n/s: the law of the number of ones, times its denominator. *)
Fixpoint addl (a b : seq Z) : seq Z :=
  match a, b with
  | [::], _ => b | _, [::] => a
  | x :: a', y :: b' => (x + y)%Z :: addl a' b'
  end.
Definition mix (n s : Z) (u : seq Z) : seq Z :=
  addl [seq ((s - n) * x)%Z | x <- u] (0%Z :: [seq (n * x)%Z | x <- u]).
Definition ones_law (cs : seq (Z * Z)) : seq Z := foldr (fun c u => mix c.1 c.2 u) [:: 1%Z] cs.
Definition denominator (cs : seq (Z * Z)) : Z := foldr (fun c d => Z.mul c.2 d) 1%Z cs.

(** What the table is best for: a mean of the teachers, counts, or the worst count, where the
    weights of the proof have the sum ½ at most. *)
Inductive prior := Mean (n d : Z) | Counts (c : seq Z) | Worst (w : seq Z) (d : Z).
Definition Zsum : seq Z -> Z := foldr Z.add 0%Z.
(** Numerators of w(l), l < K/2, and their denominator. *)
Definition weights (K : nat) (p : prior) : seq Z * Z :=
  match p with
  | Mean n d => let u := ones_law (nseq K (n, d)) in
      ([seq (nth 0 u (K - l) - nth 0 u l)%Z | l <- iota 0 (uphalf K)], (2 * denominator (nseq K (n, d)))%Z)
  | Counts c => ([seq (nth 0 c (K - l) + nth 0 c l)%Z | l <- iota 0 (uphalf K)], (2 * Zsum c)%Z)
  | Worst w d => ([seq nth 0%Z w l | l <- iota 0 (uphalf K)], d)
  end.

(** A multiplier yn/yd on the row at this many teachers at each corner. *)
Definition multiplier := (Z * Z * seq nat)%type.
Definition expand (counts : seq nat) : seq nat :=
  flatten [seq nseq c.2 c.1 | c <- zip (iota 0 (size counts)) counts].

Definition fl (n d : Z) : Z := (n * grid / d)%Z.     (* ⌊n/d⌋ on the grid *)

(** The sums of lists of one length, place by place. *)
Definition sums (start : seq Z) (lists : seq (seq Z)) : seq Z :=
  foldr (fun es ds => [seq (p.1 + p.2)%Z | p <- zip es ds]) start lists.

Section Code.
Variables (pb : problem) (K t : nat).

Definition sides (s : seq nat) : seq (Z * Z) * seq (Z * Z) :=
  ([seq let '(n, n', c) := corner_of pb i in (n, c) | i <- s],
   [seq let '(n, n', c) := corner_of pb i in (n', c) | i <- s]).
(** y·row(l), rounded down, for every l. *)
Definition effect (m : multiplier) : seq Z :=
  let '(yn, yd, counts) := m in
  let '(a, b) := sides (expand counts) in
  let u := ones_law a in let v := ones_law b in let den := (yd * (denominator a * pb.(bottom)))%Z in
  [seq fl (yn * (pb.(bottom) * (nth 0 u (K - l) - nth 0 u l)
                 - pb.(top) * (nth 0 v (K - l) - nth 0 v l)))%Z den | l <- iota 0 (uphalf K)].
Definition cost (m : multiplier) : Z :=       (* -y (E - 1 + 2δ), rounded down *)
  fl (- (m.1.1 * (pb.(Code2.pd) * (pb.(top) - pb.(bottom)) + 2 * pb.(bottom) * pb.(Code2.pn))))
     (m.1.2 * (pb.(Code2.pd) * pb.(bottom))).
Definition allowed (m : multiplier) : bool :=
  let s := expand m.2 in
  [&& Z.leb 0 m.1.1, Z.ltb 0 m.1.2, size s == K & (count (leq 2) s <= t)%N].

Fixpoint prefixZ (ds : seq Z) : Z := if ds is x :: ds' then Z.min 0 (x + prefixZ ds') else 0%Z.
(** [n] roundings below the true slope. *)
Definition leastZ (sh : shape) (n : Z) (ds : seq Z) : Z :=
  match sh with
  | Free => Zsum [seq Z.min 0 x | x <- ds]
  | Monotone => prefixZ ds
  | Any => Zsum [seq (- Z.max (Z.abs x) (Z.abs (x + n)))%Z | x <- ds]
  end.
Definition slopes (w : seq Z * Z) (ms : seq multiplier) : seq Z :=
  sums [seq fl (- x) w.2 | x <- w.1] [seq effect m | m <- ms].
Definition bound (sh : shape) (w : seq Z * Z) (ms : seq multiplier) : Z :=
  (Zsum [seq fl x w.2 | x <- w.1] + Zsum [seq cost m | m <- ms]
   + leastZ sh (Z.of_nat (size ms) + 1) (slopes w ms))%Z.
End Code.

(** e^ε is rounded down, e^total up. *)
Definition weaker (x : table) : problem :=
  let '(en, ed) := exp_down x.(ea) x.(eb) x.(terms) in
  let '(top, bottom) := exp_up x.(tc) x.(tf) x.(terms) in
  Problem en ed x.(Dn) x.(Dd) top bottom x.(pn) x.(pd).

Definition noise (x : table) (l : nat) : Z := List.nth (x.(K) - l)%N x.(phi) 0%Z.   (* γ(l)·one *)

(** The loss of the table, rounded down with the other sign. *)
Definition minus_loss (x : table) (w : seq Z * Z) : Z :=
  Zsum [seq fl (- (nth 0 w.1 l * (x.(one) - noise x l)))%Z (w.2 * x.(one)) | l <- iota 0 (uphalf x.(K))].
Definition near_best (x : table) (w : seq Z * Z) (least gn gd : Z) (p : prior) : bool :=
  match p with
  | Worst _ _ =>
      [&& all (fun a => Z.leb 0 a) w.1, Z.leb (2 * Zsum w.1) w.2 &
          all (fun l => Z.leb (gd * (- fl (- (x.(one) - noise x l)) (2 * x.(one)) - least)) (gn * grid))
              (iota 0 (uphalf x.(K)))]
  | _ => Z.leb (gd * (- minus_loss x w - least)) (gn * grid)
  end.

(** No loss is below 0 where no weight is. *)
Definition floor0 (w : seq Z * Z) (b : Z) : Z := if all (fun a => Z.leb 0 a) w.1 then Z.max 0 b else b.

(** Numbers that the bound's roundings are sound for. *)
Definition bounded (x : table) : bool := formed x && Z.leb (2 * x.(tc)) (x.(tf) * Z.of_nat (x.(terms) + 2)).

(** Within gn/gd of the best private function of the shape, which treats both labels alike. *)
Definition optimal (x : table) (sh : shape) (p : prior) (ms : seq multiplier) (gn gd : Z) : bool :=
  let pb := weaker x in let w := weights x.(K) p in
  [&& bounded x, alike x.(phi), Z.ltb 0 gd, Z.ltb 0 w.2,
      all (allowed x.(K) x.(t)) ms & near_best x w (floor0 w (bound pb x.(K) sh w ms)) gn gd p].

Open Scope R_scope.

(** ** The law of the number of ones *)
Fixpoint dot (u : seq Z) (f : nat -> R) (l : nat) : R :=
  if u is a :: u' then IZR a * f l + dot u' f l.+1 else 0.
Lemma dot_addl a b f l : dot (addl a b) f l = dot a f l + dot b f l.
Proof.
elim: a b l => [|x a IH] [|y b] l //=; rewrite ?Rplus_0_l ?Rplus_0_r //.
by rewrite IH plus_IZR; ring.
Qed.
Lemma dot_scale c u f l : dot [seq (c * x)%Z | x <- u] f l = IZR c * dot u f l.
Proof. by elim: u l => [|x u IH] l /=; rewrite ?IH ?mult_IZR; ring. Qed.
Lemma dot_mix n s u f l : dot (mix n s u) f l = (IZR s - IZR n) * dot u f l + IZR n * dot u f l.+1.
Proof. by rewrite /mix dot_addl /= !dot_scale minus_IZR; ring. Qed.

Lemma ones_law_run (cs : seq (Z * Z)) (ps : seq R) f l :
  List.Forall2 (fun c p => IZR c.1 = IZR c.2 * p) cs ps ->
  dot (ones_law cs) f l = IZR (denominator cs) * run f ps l.
Proof.
move=> h; elim: h l => [|c p cs' ps' hc _ IH] l /=; first by ring.
by rewrite dot_mix !IH hc mult_IZR; ring.
Qed.

Lemma dot_at u j l : dot u (fun k => if k == j then 1 else 0) l = if (l <= j)%N then IZR (nth 0%Z u (j - l)) else 0.
Proof.
elim: u l => [|a u IH] l /=; first by case: ifP => _; rewrite ?nth_nil.
rewrite IH; have [e|/eqP ne] := eqVneq l j; first by rewrite e ltnn leqnn subnn /=; ring.
rewrite (ltn_neqAle l j); case: eqP => // _ /=; case h : (l <= j)%N => /=; last by ring.
have lt : (l < j)%N by rewrite ltn_neqAle h andbT; apply/eqP.
rewrite -(subnSK lt).
by rewrite /=; ring.
Qed.

(** ** Rounding *)
Opaque grid.
Notation G := (IZR grid).
Lemma G_pos : 0 < G. Proof. exact: IZR_lt grid_pos. Qed.
Lemma fl_ok n d : (0 < d)%Z -> IZR (fl n d) <= G * (IZR n / IZR d) <= IZR (fl n d) + 1.
Proof.
move=> hd; have g := G_pos; have a := @floor_ok n d hd; have b := @ceiling_ok n d hd; rewrite /fl.
rewrite plus_IZR in b; move: a b; set z := IZR _ => a b.
have ez : z = G * (z / G) by field; lra.
have eb : z + 1 = G * ((z + 1) / G) by field; lra.
by split; [rewrite ez|rewrite eb]; apply: Rmult_le_compat_l; lra.
Qed.

Lemma Zsum_ok (s : seq Z) : IZR (Zsum s) = \rsum_(z <- s) IZR z.
Proof. by elim: s => [|z s IH]; rewrite ?big_nil // big_cons -IH -plus_IZR. Qed.

Lemma IZR_min a b : IZR (Z.min a b) = Rmin (IZR a) (IZR b).
Proof.
case: (Z.min_spec a b) => -[h ->]; first by rewrite Rmin_left //; apply/IZR_le/Z.lt_le_incl.
by rewrite Rmin_right //; apply: IZR_le.
Qed.
Lemma IZR_max a b : IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
case: (Z.max_spec a b) => -[h ->]; first by rewrite Rmax_right //; apply/IZR_le/Z.lt_le_incl.
by rewrite Rmax_left //; apply: IZR_le.
Qed.

Lemma min_ok z r : IZR z <= G * r -> IZR (Z.min 0 z) <= G * Rmin 0 r.
Proof.
have g := G_pos => h; rewrite IZR_min; have a := Rmin_l 0 (IZR z); have b := Rmin_r 0 (IZR z).
by rewrite {2}/Rmin; case: Rle_dec => _; [rewrite Rmult_0_r|apply: Rle_trans h].
Qed.

Definition below (N : R) (z : Z) (r : R) : Prop := IZR z <= G * r <= IZR z + N.

(** Each list is rounded down by less than 1, so their sums are by less than their number. *)
Lemma sums_ok n start (r : nat -> R) (A : Type) (ms : seq A) (es : A -> seq Z) (rs : A -> nat -> R) :
  size start = n -> (forall l, (l < n)%N -> below 1 (nth 0%Z start l) (r l)) ->
  (forall m, List.In m ms -> size (es m) = n /\ forall l, (l < n)%N -> below 1 (nth 0%Z (es m) l) (rs m l)) ->
  let ds := sums start [seq es m | m <- ms] in
  size ds = n /\ forall l, (l < n)%N -> below (IZR (Z.of_nat (size ms) + 1)) (nth 0%Z ds l) (r l + \rsum_(m <- ms) rs m l).
Proof.
move=> hs hr; elim: ms => [|m ms IH] hm ds.
  by split=> // l /hr; rewrite big_nil Rplus_0_r.
have [sz hb] := IH (fun k hk => hm k (or_intror hk)); have [se he] := hm m (or_introl erefl).
have -> : Z.of_nat (size (m :: ms)) = (Z.of_nat (size ms) + 1)%Z by rewrite /= Zpos_P_of_succ_nat.
have szz : size (zip (es m) (sums start [seq es k | k <- ms])) = n by rewrite size_zip se sz minnn.
rewrite /ds /= -/(sums start _) size_map szz; split=> // l hl.
rewrite (nth_map (0%Z, 0%Z)) ?szz // nth_zip ?se ?sz //= big_cons.
have := hb l hl; have := he l hl; rewrite /below.
set z := nth _ (es m) _; set z' := nth _ (sums _ _) _; set s := \rsum_(_ <- _) _.
by rewrite !plus_IZR => -[h1 h2] [h3 h4]; split; lra.
Qed.

Lemma least_ok sh n ds rs : (0 <= n)%Z -> List.Forall2 (below (IZR n)) ds rs -> IZR (leastZ sh n ds) <= G * least sh rs.
Proof.
move=> /IZR_le hn h; have g := G_pos; case: sh; rewrite /leastZ /least.
- rewrite Zsum_ok big_map; elim: h => [|z r ds' rs' [hz _] _ IH]; first by rewrite !big_nil Rmult_0_r; apply: Rle_refl.
  rewrite !big_cons Rmult_plus_distr_l; apply: Rplus_le_compat IH.
  exact: min_ok.
- elim: h => [|z r ds' rs' [hz _] _ IH] /=; first by rewrite Rmult_0_r; apply: Rle_refl.
  by apply: min_ok; rewrite plus_IZR; lra.
- rewrite Zsum_ok big_map; elim: h => [|z r ds' rs' [hz hz'] _ IH]; first by rewrite !big_nil Rmult_0_r; apply: Rle_refl.
  rewrite !big_cons Rmult_plus_distr_l; apply: Rplus_le_compat IH.
  rewrite opp_IZR IZR_max !abs_IZR plus_IZR.
  have -> : G * - Rabs r = - Rabs (G * r) by rewrite Rabs_mult (Rabs_right G); lra.
  apply: Ropp_le_contravar; have := Rmax_l (Rabs (IZR z)) (Rabs (IZR z + IZR n)).
  have := Rmax_r (Rabs (IZR z)) (Rabs (IZR z + IZR n)); set M := Rmax _ _.
  rewrite {1 2}/Rabs; do 2!case: Rcase_abs => ?; rewrite /Rabs; case: Rcase_abs => ?; lra.
Qed.

Lemma Forall2_iota (A B : Type) (P : A -> B -> Prop) f g k n :
  (forall l, (k <= l < k + n)%N -> P (f l) (g l)) ->
  List.Forall2 P [seq f l | l <- iota k n] [seq g l | l <- iota k n].
Proof.
elim: n k => [|n IH] k h /=; first by constructor.
constructor; first by apply: h; rewrite leqnn -addn1 leq_add2l.
by apply: IH => l /andP [a b]; apply: h; rewrite (ltnW a) -addSnnS.
Qed.

Lemma weights_size K p : size (weights K p).1 = uphalf K.
Proof. by case: p => *; rewrite size_map size_iota. Qed.

Section Sound.
Variable pb : problem.
Variables (K t : nat).
Hypothesis ok : sane pb = true.
Notation e := (e_of pb). Notation d := (d_of pb). Notation E := (E_of pb). Notation delta := (delta_of pb).
Notation row := (row K e d E).

Definition real (m : multiplier) : R * seq nat := (IZR m.1.1 / IZR m.1.2, expand m.2).

Lemma dot_basis u l : (l < uphalf K)%N -> dot u (basis K l) 0 = IZR (nth 0%Z u (K - l)) - IZR (nth 0%Z u l).
Proof.
move=> _; have -> : dot u (basis K l) 0 =
    dot u (fun k => if k == (K - l)%N then 1 else 0) 0 - dot u (fun k => if k == l then 1 else 0) 0.
  by elim: u 0%N => [|a u IH] k /=; rewrite ?IH /basis; ring.
by rewrite !dot_at !leq0n !subn0.
Qed.

Lemma denominator_pos s : 0 < IZR (denominator (sides pb s).1) /\ denominator (sides pb s).2 = denominator (sides pb s).1.
Proof.
rewrite /sides; elim: s => [|i s [IH IH']] /=; first by split=> //; lra.
move: IH'; rewrite /= => ->; case ec : (corner_of pb i) => [[n n'] c].
by have [cp _ _] := corner_ok ok ec; rewrite /= mult_IZR; split=> //; apply: Rmult_lt_0_compat.
Qed.

Lemma sides_run s f :
  dot (ones_law (sides pb s).1) f 0 = IZR (denominator (sides pb s).1) * run f (map fst (map (corner e d) s)) 0 /\
  dot (ones_law (sides pb s).2) f 0 = IZR (denominator (sides pb s).2) * run f (map snd (map (corner e d) s)) 0.
Proof.
rewrite /sides; split; apply: ones_law_run.
- elim: s => [|i s IH] /=; first exact: List.Forall2_nil.
  apply: List.Forall2_cons IH; case ec : (corner_of pb i) => [[n n'] c].
  by have [_ h h'] := corner_ok ok ec.
- elim: s => [|i s IH] /=; first exact: List.Forall2_nil.
  apply: List.Forall2_cons IH; case ec : (corner_of pb i) => [[n n'] c].
  by have [_ h h'] := corner_ok ok ec.
Qed.

Lemma effect_ok m l : allowed K t m = true -> (l < uphalf K)%N ->
  below 1 (nth 0%Z (effect pb K m) l) ((real m).1 * row (real m).2 l).
Proof.
case: m => [[yn yd] counts] /andP [_ /andP [/Z.ltb_lt hd _]] hl; rewrite /effect /real /=.
have [sp se] := denominator_pos (expand counts); have sr := sides_run (expand counts) (basis K l).
move: sp se sr; set a := (sides pb (expand counts)).1; set b := (sides pb (expand counts)).2 => sp se [ra rb].
rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n.
have [_ [hb _ _ _]] := sane_facts ok; have pbt := IZR_lt _ _ hb; have pyd := IZR_lt _ _ hd.
have hden : (0 < yd * (denominator a * bottom pb))%Z by apply: Z.mul_pos_pos => //; apply: Z.mul_pos_pos => //; apply: lt_IZR.
set num := (yn * (bottom pb * (nth 0 (ones_law a) (K - l) - nth 0 (ones_law a) l)
                 - top pb * (nth 0 (ones_law b) (K - l) - nth 0 (ones_law b) l)))%Z.
have eq : IZR yn / IZR yd * row (expand counts) l = IZR num / IZR (yd * (denominator a * bottom pb)).
  move: ra rb; rewrite !dot_basis // se /Optimal.row /gain => ra rb.
  by rewrite /num !(mult_IZR, minus_IZR) ra rb /E_of; field; repeat split; apply: Rgt_not_eq.
rewrite /below eq; exact (fl_ok num hden).
Qed.

Lemma allowed_in ms m : all (allowed K t) ms -> List.In m ms -> allowed K t m = true.
Proof. by elim: ms => //= m' ms IH /andP [h /IH {}IH] [<-|/IH]. Qed.

Lemma slopes_ok w ms (W := fun l => IZR (nth 0%Z w.1 l) / IZR w.2) :
  (0 < w.2)%Z -> size w.1 = uphalf K -> all (allowed K t) ms ->
  size (slopes pb K w ms) = uphalf K /\ forall l, (l < uphalf K)%N ->
  below (IZR (Z.of_nat (size ms) + 1)) (nth 0%Z (slopes pb K w ms) l) (slope K e d E W (map real ms) l).
Proof.
move=> hw hs ha.
have [||m hm|sz h] := @sums_ok (uphalf K) [seq fl (- x) w.2 | x <- w.1] (fun l => - W l) _ ms
    (effect pb K) (fun m l => (real m).1 * row (real m).2 l).
- by rewrite size_map.
- move=> l hl; rewrite (nth_map 0%Z) ?hs //; have := fl_ok (- nth 0 w.1 l)%Z hw; rewrite opp_IZR /W /below.
  by have -> : - (IZR (nth 0%Z w.1 l) / IZR w.2) = - IZR (nth 0%Z w.1 l) / IZR w.2 by rewrite /Rdiv; ring.
- split=> [|l hl]; last exact: effect_ok (allowed_in ha hm) hl.
  by case: (m) => [[yn yd] counts]; rewrite /effect; case: (sides _ _) => a b; rewrite size_map size_iota.
by split=> // l /h; rewrite /slope big_map.
Qed.

Lemma costs_ok ms : all (allowed K t) ms -> IZR (Zsum [seq cost pb m | m <- ms]) <= G * - price E delta (map real ms).
Proof.
move=> ha; have [_ [b1 _ b3 _]] := sane_facts ok.
rewrite Zsum_ok big_map /price big_map; elim: ms ha => [|m ms IH] /=.
  by rewrite !big_nil; lra.
move=> /andP [am /IH {}IH]; rewrite !big_cons; case: m am => [[yn yd] counts] /andP [_ /andP [/Z.ltb_lt hd _]].
suff : IZR (cost pb (yn, yd, counts)) <= - (G * (IZR yn / IZR yd * (E - 1 + 2 * delta))) by move: IH => /= IH c; lra.
rewrite /cost /= in hd *; have pyd := IZR_lt _ _ hd; have pb1 := IZR_lt _ _ b1; have pb3 := IZR_lt _ _ b3.
have hden : (0 < yd * (Code2.pd pb * bottom pb))%Z by apply: Z.mul_pos_pos => //; apply: Z.mul_pos_pos.
have [f _] := fl_ok (- (yn * (Code2.pd pb * (top pb - bottom pb) + 2 * bottom pb * Code2.pn pb)))%Z hden.
apply: Rle_trans f _; apply: Req_le; rewrite !(opp_IZR, mult_IZR, plus_IZR, minus_IZR) /E_of /delta_of.
by field; repeat split; apply: Rgt_not_eq.
Qed.

Theorem bound_ok sh w ms (W := fun l => IZR (nth 0%Z w.1 l) / IZR w.2) q :
  (0 < w.2)%Z -> size w.1 = uphalf K -> all (allowed K t) ms ->
  @keeps K t e d E delta q -> (forall l, (l <= K)%N -> 0 <= q l <= 1) -> has_shape K q sh ->
  IZR (bound pb K sh w ms) <= G * loss K W q.
Proof.
move=> hw hs ha hq q01 hsh; have g := G_pos; have [[a1 a2 a3 a4] [b1 b2 b3 b4]] := sane_facts ok.
have dd : 0 <= d <= 1 by case: a4 => a4 a5; split; [exact: ratio_pos|exact: ratio_ge1].
have hy m : List.In m (map real ms) -> 0 <= m.1 /\ size m.2 = K /\ (count (leq 2) m.2 <= t)%N.
  elim: ms ha => //= m0 ms IH /andP [/andP [/Z.leb_le n0 /andP [/Z.ltb_lt d0 /andP [/eqP sz ct]]] ha] [<-|/(IH ha) //].
  by split=> //=; apply: ratio_pos.
have := lower_bound (ratio_le1 a1 a2) dd hq q01 W hsh hy.
set lp := least sh _; set sw := \rsum_(l < _) _; set pr := price _ _ _ => h.
apply: (Rle_trans _ (G * (sw - pr + lp))); last by apply: Rmult_le_compat_l; lra.
rewrite /bound !plus_IZR !Rmult_plus_distr_l; apply: Rplus_le_compat; first apply: Rplus_le_compat.
- rewrite Zsum_ok big_map /sw big_distrr /= (big_nth 0%Z) hs big_mkord.
  by apply: rsum_le => l _; have [] := fl_ok (nth 0%Z w.1 l) hw.
- exact: costs_ok.
- apply: least_ok; first by lia.
  have [sz hb] := slopes_ok hw hs ha.
  rewrite -[slopes pb K w ms](mkseq_nth 0%Z) /mkseq sz.
  by apply: Forall2_iota => l /= hl; apply: hb.
Qed.
End Sound.

(** ** The theorem *)
Definition w_of (x : table) (p : prior) (l : nat) : R := IZR (nth 0%Z (weights x.(K) p).1 l) / IZR (weights x.(K) p).2.
(** Every function that keeps the table's promise, whether symmetric or not. *)
Definition competitor (x : table) (sh : shape) (q : nat -> R) : Prop :=
  @keeps x.(K) x.(t) (exp (epsilon x)) (teacher_delta x) (exp (total x)) (delta x) q /\
  (forall l, (l <= x.(K))%N -> 0 <= q l <= 1) /\ has_shape x.(K) q sh.

Section Weaker.
Variable x : table.
Hypothesis fits : bounded x = true.

Lemma weaker_ok : sane (weaker x) = true /\
  [/\ e_of (weaker x) <= exp (epsilon x), exp (total x) <= E_of (weaker x),
      d_of (weaker x) = teacher_delta x & delta_of (weaker x) = delta x].
Proof.
case/andP: fits => /formedP [[a1 a2 a3 a4] [[a5 [a6 a7] a8 a9] [a10 a11]]] /Z.leb_le h.
have := @exp_down_ok _ _ x.(terms) a1 a2; have := @exp_down_ge1 _ _ x.(terms) a1 a2.
have := @exp_up_ok _ _ x.(terms) a3 a4 h; have : (0 < (exp_up x.(tc) x.(tf) x.(terms)).2)%Z.
  by rewrite /exp_up; case: exact_up => ? ?; apply: grid_pos.
rewrite /sane /weaker; case: exp_down => en ed; case: exp_up => top bottom /= bp up [e1 ep] down.
split; last by split.
have le1 a b : (0 < b)%Z -> 1 <= IZR a / IZR b -> (b <= a)%Z.
  move=> /IZR_lt hb h1; apply: le_IZR; have := Rmult_le_compat_r (IZR b) _ _ (Rlt_le _ _ hb) h1.
  rewrite /Rdiv Rmult_assoc Rinv_l; [lra|exact: Rgt_not_eq].
have tp : 1 <= exp (total x) by apply: exp_ge1; apply: ratio_pos.
have b1 := le1 _ _ ep e1; have b2 := le1 _ _ bp (Rle_trans _ _ _ tp up).
by do 8?[apply/andP; split]; first [apply/Z.ltb_lt|apply/Z.leb_le].
Qed.

Lemma weaker_keeps q : (forall l, (l <= x.(K))%N -> 0 <= q l <= 1) ->
  @keeps x.(K) x.(t) (exp (epsilon x)) (teacher_delta x) (exp (total x)) (delta x) q ->
  @keeps x.(K) x.(t) (e_of (weaker x)) (d_of (weaker x)) (E_of (weaker x)) (delta_of (weaker x)) q.
Proof.
have [_ [he hE -> ->]] := weaker_ok; move=> q01 hq P P' [A [hA [hin hout]]].
have up (f f' : bool -> R) e1 e2 y : (forall b, 0 <= f' b) -> e1 <= e2 -> close e1 y f f' -> close e2 y f f'.
  move=> h0 h12 h S; have := h S; have : 0 <= Pr f' S by apply: rsum_ge0.
  by nra.
have near : near_teachers x.(t) (exp (epsilon x)) (teacher_delta x) P P'.
  exists A; split=> //; split=> // i /hin [h h'].
  by split; apply: up he _ => //; apply: mass_ge0.
have [c c'] := hq _ _ near.
by split; [apply: up hE c|apply: up hE c'] => b; apply: (answer_ge0 q01).
Qed.
End Weaker.

Section Best.
Variables (x : table) (sh : shape) (p : prior) (ms : seq multiplier) (gn gd : Z).
Hypothesis yes : optimal x sh p ms gn gd = true.
Notation w := (weights x.(K) p).

Lemma bound_below q : competitor x sh q ->
  IZR (floor0 w (bound (weaker x) x.(K) sh w ms)) <= G * loss x.(K) (w_of x p) q.
Proof.
case/andP: yes => fits /andP [_ /andP [_ /andP [/Z.ltb_lt hw /andP [ha _]]]] [hq [q01 hsh]].
have [ok _] := weaker_ok fits; have k := weaker_keeps fits q01 hq.
have b := bound_ok ok hw (weights_size _ _) ha k q01 hsh.
rewrite /floor0; case: ifP => // w0; rewrite IZR_max; apply: Rmax_lub => //.
apply: Rmult_le_pos; first exact/Rlt_le/G_pos.
apply: rsum_ge0 => l _; apply: Rmult_le_pos.
  by apply: ratio_pos => //; apply/Z.leb_le; apply: (all_nthP 0%Z w0); rewrite weights_size.
by have := gam1 q01 (l := l) (ltn_ord l); rewrite /gam; lra.
Qed.

Lemma odd_facts : (0 < x.(one))%Z /\ forall l, (l <= x.(K))%N ->
  (List.nth (x.(K) - l)%N x.(phi) 0 = - List.nth l x.(phi) 0)%Z.
Proof.
case/andP: yes => /andP [/formedP [_ [_ [_ hphi]]] _] /andP [al _]; have [ho _ _] := phi_facts hphi.
by split=> // l hl; exact: (alike_nth hphi al hl).
Qed.

Lemma one_prob_gam l : (l <= x.(K))%N ->
  1 - (one_prob x (x.(K) - l)%N - one_prob x l) = IZR (x.(one) - noise x l) / IZR x.(one).
Proof.
have [/IZR_lt h1 h2] := odd_facts => hl; rewrite /one_prob /noise.
have e := h2 _ hl; have -> : List.nth l x.(phi) 0%Z = (- List.nth (x.(K) - l)%N x.(phi) 0)%Z by rewrite e Z.opp_involutive.
by rewrite minus_IZR opp_IZR; field; lra.
Qed.

Lemma half_le l : (l < uphalf x.(K))%N -> (l <= x.(K))%N.
Proof. by rewrite -/(free _) freeE -addnn => h; apply: leq_trans (leq_addr _ _) (ltnW h). Qed.

(** For a prior. *)
Theorem optimal_ok q : (if p is Worst _ _ then False else True) -> competitor x sh q ->
  loss x.(K) (w_of x p) (one_prob x) <= loss x.(K) (w_of x p) q + IZR gn / IZR gd.
Proof.
move=> hp hc; have b := bound_below hc; have g := G_pos; have [o1 _] := odd_facts; have o2 := IZR_lt _ _ o1.
case/andP: yes => _ /andP [_ /andP [/Z.ltb_lt hgd /andP [/Z.ltb_lt hw /andP [_ nb]]]].
have {nb} : (gd * (- minus_loss x w - floor0 w (bound (weaker x) x.(K) sh w ms)) <= gn * grid)%Z.
  by move: nb hp; rewrite /near_best; case: p => // [? ?|?] /Z.leb_le.
move=> /IZR_le; rewrite (mult_IZR gd) (mult_IZR gn grid) minus_IZR opp_IZR => nb; have pg := IZR_lt _ _ hgd; have pw := IZR_lt _ _ hw.
have ml : IZR (minus_loss x w) <= - (G * loss x.(K) (w_of x p) (one_prob x)).
  rewrite /minus_loss Zsum_ok big_map -{1}(subn0 (uphalf x.(K))) -/(index_iota 0 _) big_mkord.
  have -> : - (G * loss x.(K) (w_of x p) (one_prob x)) = - G * loss x.(K) (w_of x p) (one_prob x) by ring.
  rewrite /loss big_distrr /=; apply: rsum_le => l _.
  have hd : (0 < w.2 * x.(one))%Z by apply: Z.mul_pos_pos.
  have [f _] := fl_ok (- (nth 0 w.1 l * (x.(one) - noise x l)))%Z hd; apply: Rle_trans f _; apply: Req_le.
  by rewrite one_prob_gam ?half_le // /w_of opp_IZR !mult_IZR; field; split; apply: Rgt_not_eq.
move: ml nb b; move: (IZR (minus_loss _ _)) (IZR (floor0 _ _)) (loss _ _ q) (loss _ _ (one_prob x)) => m lb c a ml nb b.
apply: (Rmult_le_reg_r (IZR gd * G)); first exact: Rmult_lt_0_compat.
have -> : (c + IZR gn / IZR gd) * (IZR gd * G) = IZR gd * (G * c) + IZR gn * G by field; lra.
have h1 : IZR gd * (G * a) <= IZR gd * - m by apply: Rmult_le_compat_l; lra.
have h2 : IZR gd * lb <= IZR gd * (G * c) by apply: Rmult_le_compat_l; lra.
lra.
Qed.

(** For the worst count: whoever errs with at most z at every count errs at most gn/gd less than
    the table at its worst. *)
Theorem worst_ok q z : (if p is Worst _ _ then True else False) -> competitor x sh q -> 0 <= z ->
  (forall l, (l < uphalf x.(K))%N -> q l <= z /\ 1 - q (x.(K) - l)%N <= z) ->
  forall l, (l < uphalf x.(K))%N ->
  (1 - (one_prob x (x.(K) - l)%N - one_prob x l)) / 2 <= z + IZR gn / IZR gd.
Proof.
move=> hp hc z0 hz l hl; have b := bound_below hc; have g := G_pos; have [o1 _] := odd_facts; have o2 := IZR_lt _ _ o1.
case/andP: yes => _ /andP [_ /andP [/Z.ltb_lt hgd /andP [/Z.ltb_lt hw /andP [_ nb]]]].
have {nb} [w0 [w1 nb]] : all (fun a => Z.leb 0 a) w.1 /\ (2 * Zsum w.1 <= w.2)%Z /\
    forall l, (l < uphalf x.(K))%N ->
    (gd * (- fl (- (x.(one) - noise x l)) (2 * x.(one)) - floor0 w (bound (weaker x) x.(K) sh w ms)) <= gn * grid)%Z.
  have : near_best x w (floor0 w (bound (weaker x) x.(K) sh w ms)) gn gd p by [].
  rewrite /near_best; case: p hp => // ? ? _ /andP [h1 /andP [/Z.leb_le h2 /allP h3]]; split=> //; split=> // k hk.
  by apply/Z.leb_le; apply: h3; rewrite mem_iota.
have pw := IZR_lt _ _ hw; have pg := IZR_lt _ _ hgd.
have le : loss x.(K) (w_of x p) q <= z.
  apply: (Rle_trans _ (\rsum_(k < uphalf x.(K)) (w_of x p k * (2 * z)))).
    apply: rsum_le => k _; have [q1 q2] := hz _ (ltn_ord k); apply: Rmult_le_compat_l; last lra.
    apply: ratio_pos => //; apply/Z.leb_le; apply: (all_nthP 0%Z w0).
    by rewrite weights_size.
  rewrite -big_distrl /=.
  have -> : \rsum_(k < uphalf x.(K)) w_of x p k = IZR (Zsum w.1) / IZR w.2.
    by rewrite Zsum_ok (big_nth 0%Z) weights_size big_mkord /Rdiv big_distrl.
  have h2 : IZR (Zsum w.1) / IZR w.2 <= / 2.
    apply: (Rmult_le_reg_r (2 * IZR w.2)); first lra.
    have -> : IZR (Zsum w.1) / IZR w.2 * (2 * IZR w.2) = IZR (2 * Zsum w.1)%Z by rewrite mult_IZR; field; lra.
    have -> : / 2 * (2 * IZR w.2) = IZR w.2 by field.
    exact: IZR_le.
  have := Rmult_le_compat_r (2 * z) _ _ ltac:(lra) h2; lra.
have hd : (0 < 2 * x.(one))%Z by lia.
have [f _] := fl_ok (- (x.(one) - noise x l))%Z hd.
rewrite one_prob_gam ?half_le //.
have {}nb := IZR_le _ _ (nb l hl); rewrite (mult_IZR gd) (mult_IZR gn grid) minus_IZR opp_IZR in nb.
rewrite opp_IZR minus_IZR (mult_IZR 2 x.(one)) in f.
move: f nb b; move: (IZR (fl _ _)) (IZR (floor0 _ _)) => F lb f nb b.
rewrite minus_IZR; set a := IZR x.(one) - IZR (noise x l) in f *.
have ea : G * (- a / (2 * IZR x.(one))) = - (G * (a / IZR x.(one) / 2)) by field; lra.
rewrite ea in f.
apply: (Rmult_le_reg_r (IZR gd * G)); first exact: Rmult_lt_0_compat.
have -> : (z + IZR gn / IZR gd) * (IZR gd * G) = IZR gd * (G * z) + IZR gn * G by field; lra.
have h1 : IZR gd * (G * (a / IZR x.(one) / 2)) <= IZR gd * - F by apply: Rmult_le_compat_l; lra.
have h2 : IZR gd * lb <= IZR gd * (G * z).
  by apply: Rmult_le_compat_l; [lra|apply: Rle_trans b _; apply: Rmult_le_compat_l; lra].
lra.
Qed.
End Best.
