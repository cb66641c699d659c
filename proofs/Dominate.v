(** Many answers: which pairs may be left out of a game, and what may stand for them. A pair whose
    hockey-stick divergences are nowhere above another's is nowhere dearer, whatever is asked later.
    Code: accountant/game.Game (doc.go, "What is proved": lattice, envelope, tree, groups). *)
From Coq Require Import Reals Lra Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Game.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** Increasing lists of numbers *)
Fixpoint increasing (low : R) (t : seq R) : Prop :=
  if t is y :: t' then low < y /\ increasing y t' else True.

Lemma increasing_lt low t y : increasing low t -> List.In y t -> low < y.
Proof. by elim: t low => //= z t IH low [h1 h2] [<- //|/(IH _ h2)]; lra. Qed.

Lemma insert low t z : increasing low t -> low < z ->
  exists2 t', increasing low t' & forall y, List.In y t' <-> y = z \/ List.In y t.
Proof.
elim: t low => [|y t IH] low /=.
  by move=> _ h; exists [:: z] => //= w; split=> [[->|//]|[->|//]]; left.
move=> [h1 h2] h; case: (Rtotal_order z y) => [lt|[->|gt]].
- by exists [:: z, y & t] => //= w; split=> [[->|]|[->|]]; auto.
- by exists (y :: t) => //= w; split=> [|[->|//]]; [right|left].
- have [t' i m] := IH _ h2 gt; exists (y :: t') => //= w.
  by split=> [[->|/m [->|]]|[->|[->|]]]; auto; right; apply/m; auto.
Qed.

Lemma arrange low (s : seq R) : (forall z, List.In z s -> low < z) ->
  exists2 t, increasing low t & forall y, List.In y t <-> List.In y s.
Proof.
elim: s => [|z s IH] h; first by exists [::].
have [t i m] := IH (fun y hy => h y (or_intror hy)).
have [t' i' m'] := insert i (h z (or_introl erefl)); exists t' => // y /=.
by split=> [/m' [e|/m]|[e|/m hy]]; auto; apply/m'; auto.
Qed.

(** ** A function that is convex and falls is a constant and hats, at any points *)
Section Hats.
Variable W : R -> R.
Hypothesis W_ge0 : forall y, 0 <= W y.
Hypothesis W_falls : forall y z, 0 <= y -> y <= z -> W z <= W y.
Hypothesis W_chord : forall y z w, 0 <= y -> y < z -> z < w -> (w - y) * W z <= (w - z) * W y + (z - y) * W w.

Definition hats (c : R) (hs : seq (R * R)) (y : R) : R := c + \rsum_(h <- hs) (h.1 * positive (h.2 - y)).

Lemma hats_at z t : 0 <= z -> increasing z t -> exists c hs k,
  [/\ 0 <= c, forall h, List.In h hs -> 0 <= h.1 /\ 0 <= h.2,
      forall y, y = z \/ List.In y t -> W y = hats c hs y,
      forall y, y <= z -> hats c hs y = W z + k * (z - y) &
      forall y, 0 <= y -> y < z -> W z + k * (z - y) <= W y].
Proof.
elim: t z => [|z1 t IH] z z0 /=.
  move=> _; exists (W z), [::], 0; split=> //.
  - by move=> y [->|//]; rewrite /hats big_nil Rplus_0_r.
  - by move=> y _; rewrite /hats big_nil; ring.
  - by move=> y y0 h; rewrite Rmult_0_l Rplus_0_r; apply: W_falls; lra.
move=> [lt inc]; have z10 : 0 <= z1 by lra.
have [c [hs [k [c0 h0 hat lin above]]]] := IH z1 z10 inc.
pose k' := (W z - W z1) / (z1 - z).
have ek : k' * (z1 - z) = W z - W z1 by rewrite /k'; field; lra.
exists c, ((k' - k, z1) :: hs), k'.
have new y : hats c ((k' - k, z1) :: hs) y = hats c hs y + (k' - k) * positive (z1 - y).
  by rewrite /hats big_cons /=; ring.
split=> //.
- move=> h [<- /=|/h0 //]; split=> //; have := above z z0 lt => a.
  suff : 0 <= (k' - k) * (z1 - z) by move=> b; apply: Rnot_lt_le => n; nra.
  by rewrite Rmult_minus_distr_r ek; lra.
- move=> y [->|hy]; rewrite new.
    by rewrite lin ?positive_id; [nra|lra|lra].
  have ge : z1 <= y by case: hy => [<-|/(increasing_lt inc)]; lra.
  rewrite positive_0 ?Rmult_0_r ?Rplus_0_r; last lra.
  by apply: hat; case: hy => [->|]; auto.
- by move=> y hy; rewrite new lin ?positive_id; [nra|lra|lra].
- move=> y y0 hy; have := W_chord y0 hy lt => h.
  suff : k' * (z - y) * (z1 - z) <= (W y - W z) * (z1 - z) by move=> b; apply: Rnot_lt_le => n; nra.
  have -> : k' * (z - y) * (z1 - z) = (W z - W z1) * (z - y) by rewrite -ek; ring.
  nra.
Qed.
End Hats.

(** ** Lists of (P(o), P'(o)) *)
Definition outcomes := seq (R * R).
Definition lawful (s : outcomes) : Prop := forall o, List.In o s -> 0 <= o.1 /\ 0 <= o.2.
(** The hockey-stick divergence, Σ_o (P(o) - x P'(o))₊. *)
Definition excess (s : outcomes) (x : R) : R := \rsum_(o <- s) positive (o.1 - x * o.2).
Definition below (s s' : outcomes) : Prop := forall x, 0 <= x -> excess s x <= excess s' x.

Lemma below_refl s : below s s. Proof. by move=> x _; apply: Rle_refl. Qed.
Lemma below_trans s s' s'' : below s s' -> below s' s'' -> below s s''.
Proof. by move=> h h' x x0; apply: Rle_trans (h x x0) (h' x x0). Qed.

(** What later answers are worth, seen from here. *)
Record tame (V : R -> R -> R) : Prop := Tame {
  tame_ge0 : forall a b, 0 <= V a b;
  tame_scale : forall c a b, 0 <= c -> V (c * a) (c * b) = c * V a b;
  tame_add : forall a b a' b', V (a + a') (b + b') <= V a b + V a' b';
  tame_0 : forall b, 0 <= b -> V 0 b = 0 }.

Lemma sum_le (A : Type) (s : seq A) (f g : A -> R) : (forall o, List.In o s -> f o <= g o) ->
  \rsum_(o <- s) f o <= \rsum_(o <- s) g o.
Proof.
elim: s => [|o s IH] h; first by rewrite !big_nil; apply: Rle_refl.
by rewrite !big_cons; apply: Rplus_le_compat; [apply: h; left|apply: IH => p hp; apply: h; right].
Qed.

Lemma sum_eq (A : Type) (s : seq A) (f g : A -> R) : (forall o, List.In o s -> f o = g o) ->
  \rsum_(o <- s) f o = \rsum_(o <- s) g o.
Proof. by move=> h; apply: Rle_antisym; apply: sum_le => o ho; rewrite h //; apply: Rle_refl. Qed.

Lemma positive_scale c x : 0 <= c -> positive (c * x) = c * positive x.
Proof. by move=> h; rewrite /positive -RmaxRmult // Rmult_0_r. Qed.

Lemma excess_at (s : outcomes) z : lawful s -> 0 <= z ->
  \rsum_(o <- s) positive (z * o.1 - o.2) = if Rlt_dec 0 z then z * excess s (/ z) else 0.
Proof.
move=> hs z0; case: (Rlt_dec 0 z) => [lt|n] /=.
  rewrite /excess big_distrr /=; apply: eq_bigr => o _; rewrite -positive_scale //; congr positive; field; lra.
have {n z0} -> /= : z = 0 by lra.
rewrite (sum_eq (g := fun _ => 0)) ?big1 // => o /hs [_ h]; rewrite Rmult_0_l; apply: positive_0; lra.
Qed.

(** A pair whose divergences are nowhere above another's is worth no more, whatever comes later. *)
Theorem below_worth V s s' : tame V -> lawful s -> lawful s' -> below s s' ->
  \rsum_(o <- s) V o.1 o.2 <= \rsum_(o <- s') V o.1 o.2.
Proof.
move=> [V0 Vs Va Vz] hs hs' h.
pose W y := V 1 y.
have falls y z : 0 <= y -> y <= z -> W z <= W y.
  move=> y0 yz; have := Va 1 y 0 (z - y); rewrite Vz; last lra.
  have -> : 1 + 0 = 1 by ring.
  by have -> : y + (z - y) = z by [ring]; rewrite /W; lra.
have chord y z w : 0 <= y -> y < z -> z < w -> (w - y) * W z <= (w - z) * W y + (z - y) * W w.
  move=> y0 yz zw; rewrite /W -!Vs; try lra.
  have -> : (w - y) * 1 = (w - z) * 1 + (z - y) * 1 by ring.
  by have -> : (w - y) * z = (w - z) * y + (z - y) * w by [ring]; apply: Va.
pose ratio (o : R * R) := if Rlt_dec 0 o.1 then o.2 / o.1 else 0.
have ratio0 o : 0 <= o.1 /\ 0 <= o.2 -> 0 <= ratio o.
  rewrite /ratio; case: (Rlt_dec 0 o.1) => [p|n] /= [_ q]; last exact: Rle_refl.
  by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
have in_map (l : outcomes) o : List.In o l -> List.In (ratio o) [seq ratio o | o <- l].
  by elim: l => //= p l IH [->|/IH]; auto.
have map0 (l : outcomes) z : lawful l -> List.In z [seq ratio o | o <- l] -> 0 <= z.
  elim: l => //= o l IH hl [<-|hz]; first by apply/ratio0/hl; left.
  by apply: IH => // p hp; apply: hl; right.
pose zs := 0 :: [seq ratio o | o <- s] ++ [seq ratio o | o <- s'].
have in_cat (A : Type) (l l' : seq A) z : List.In z (l ++ l') <-> List.In z l \/ List.In z l'.
  elim: l => [|w l IH] /=; first by split; [right|case].
  by rewrite IH; tauto.
have zs0 z : List.In z zs -> 0 <= z.
  by case=> [<-|/in_cat [|]]; [lra|apply: map0..].
have low z : List.In z zs -> -1 < z by move/zs0; lra.
have [[|z t] inc mem] := arrange low.
  by have /mem : List.In 0 zs by left.
have z0 : 0 <= z by apply/zs0/mem; left.
have [c [gs [k [c0 h0 hat _ _]]]] := hats_at (V0 1) falls chord z0 (proj2 inc).
have VE l o : List.In o l -> lawful l -> (l = s \/ l = s') ->
    V o.1 o.2 = c * o.1 + \rsum_(g <- gs) (g.1 * positive (g.2 * o.1 - o.2)).
  move=> ho hl which; have [a0 b0] := hl o ho; case: (Rlt_dec 0 o.1) => [p|n].
    have e : W (o.2 / o.1) = hats c gs (o.2 / o.1).
      apply: hat; have /mem : List.In (ratio o) zs.
        by right; apply/in_cat; case: which ho => -> ho; [left|right]; apply: in_map.
      by rewrite /ratio; case: (Rlt_dec 0 o.1) => // p' /= [->|]; auto.
    have -> : V o.1 o.2 = o.1 * W (o.2 / o.1).
      by rewrite /W -Vs; [congr V; field; lra|lra].
    rewrite e /hats Rmult_plus_distr_l big_distrr /= [o.1 * c]Rmult_comm; congr Rplus; apply: eq_bigr => g _.
    have -> : positive (g.2 * o.1 - o.2) = o.1 * positive (g.2 - o.2 / o.1).
      by rewrite -positive_scale; [congr positive; field; lra|lra].
    ring.
  have e : o.1 = 0 by lra.
  rewrite e Vz // Rmult_0_r Rplus_0_l big1 // => g _; rewrite Rmult_0_r positive_0 ?Rmult_0_r //; lra.
have sumE l : lawful l -> (l = s \/ l = s') ->
    \rsum_(o <- l) V o.1 o.2 = c * excess l 0 + \rsum_(g <- gs) (g.1 * \rsum_(o <- l) positive (g.2 * o.1 - o.2)).
  move=> hl which; rewrite (sum_eq (fun o ho => VE l o ho hl which)) big_split /=; congr Rplus.
    rewrite -big_distrr /=; congr Rmult; apply: sum_eq => o /hl [a0 _].
    by rewrite Rmult_0_l Rminus_0_r positive_id.
  by rewrite exchange_big; apply: eq_bigr => g _; rewrite big_distrr.
rewrite !sumE; auto; apply: Rplus_le_compat.
  by apply: Rmult_le_compat_l => //; apply: h; lra.
apply: sum_le => g hg; have [g1 g2] := h0 g hg; apply: Rmult_le_compat_l => //.
rewrite !excess_at //; case: (Rlt_dec 0 g.2) => [lt|n] /=; last exact: Rle_refl.
by apply: Rmult_le_compat_l => //; apply/h/Rlt_le/Rinv_0_lt_compat.
Qed.

(** Only such pairs: each divergence is what one later answer may be worth. *)
Lemma hat_tame x : 0 <= x -> tame (fun a b => positive (a - x * b)).
Proof.
move=> x0; split=> [a b|c a b c0|a b a' b'|b b0]; first exact: positive_ge0.
- by rewrite -positive_scale //; congr positive; ring.
- apply: Rmax_lub; last by have := positive_ge0 (a - x * b); have := positive_ge0 (a' - x * b'); lra.
  by have := positive_ge (a - x * b); have := positive_ge (a' - x * b'); lra.
- by apply: positive_0; nra.
Qed.

Theorem below_only s s' : (forall V, tame V -> \rsum_(o <- s) V o.1 o.2 <= \rsum_(o <- s') V o.1 o.2) -> below s s'.
Proof. by move=> h x x0; apply: (h _ (hat_tame x0)). Qed.

(** ** An envelope: at its kinks and at 0 it is enough *)
Lemma excess_falls s x y : lawful s -> 0 <= x -> x <= y -> excess s y <= excess s x.
Proof.
move=> hs x0 xy; apply: sum_le => o /hs [a0 b0]; apply: Rmax_lub; last exact: positive_ge0.
by apply: Rle_trans (positive_ge _); nra.
Qed.

Lemma excess_chord s x y z : x <= y -> y <= z -> (z - x) * excess s y <= (z - y) * excess s x + (y - x) * excess s z.
Proof.
move=> xy yz; rewrite /excess !big_distrr -big_split /=; apply: sum_le => o _.
rewrite -!positive_scale; try lra.
apply: Rmax_lub; last by have := positive_ge0 ((z - y) * (o.1 - x * o.2)); have := positive_ge0 ((y - x) * (o.1 - z * o.2)); lra.
by have := positive_ge ((z - y) * (o.1 - x * o.2)); have := positive_ge ((y - x) * (o.1 - z * o.2)); lra.
Qed.

(** Between two kinks a curve is straight. *)
Lemma excess_straight s x y z : lawful s -> 0 <= x -> x <= y -> y <= z ->
  (forall o, List.In o s -> ~ (x * o.2 < o.1 /\ o.1 < z * o.2)) ->
  (z - x) * excess s y = (z - y) * excess s x + (y - x) * excess s z.
Proof.
move=> hs x0 xy yz free; rewrite /excess !big_distrr -big_split /=; apply: sum_eq => o ho.
have [a0 b0] := hs o ho.
case: (Rle_lt_dec o.1 (x * o.2)) => [h|h].
  by rewrite !positive_0; [ring|nra|nra|nra].
have g : z * o.2 <= o.1 by apply: Rnot_lt_le => n; apply: (free o ho).
by rewrite !positive_id; [ring|nra|nra|nra].
Qed.

Definition kinks (s : outcomes) (x : R) : Prop := exists2 o, List.In o s & 0 < o.2 /\ o.1 = x * o.2.

Lemma below_from s s' low t : lawful s -> lawful s' -> 0 <= low -> increasing low t ->
  excess s low <= excess s' low -> (forall x, List.In x t -> excess s x <= excess s' x) ->
  (forall x, low < x -> kinks s' x -> List.In x t) ->
  forall x, low <= x -> excess s x <= excess s' x.
Proof.
move=> hs hs'; elim: t low => [|y t IH] low low0 /=.
  move=> _ h0 _ none x lx; apply: Rle_trans (excess_falls hs low0 lx) _; apply: Rle_trans h0 _.
  apply: sum_le => o ho; have [a0 b0] := hs' o ho.
  apply: Rmax_lub; last exact: positive_ge0.
  have [p|n] := Rlt_dec 0 o.2; last by apply: Rle_trans (positive_ge _); nra.
  case: (Rle_lt_dec o.1 (low * o.2)) => [h|h]; first by apply: Rle_trans (positive_ge0 _); lra.
  case: (none (o.1 / o.2)).
    by apply: (Rmult_lt_reg_r o.2) => //; have -> : o.1 / o.2 * o.2 = o.1 by field; lra.
  by exists o => //; split=> //; field; lra.
move=> [ly inc] h0 ht ks x lx; have hy := ht y (or_introl erefl).
case: (Rle_lt_dec y x) => [yx|xy].
  apply: (IH y) => //; [lra|by move=> z hz; apply: ht; right|].
  by move=> z yz kz; have [e|//] := ks z (Rlt_trans _ _ _ ly yz) kz; lra.
have c := @excess_chord s low x y lx (Rlt_le _ _ xy).
have e : (y - low) * excess s' x = (y - x) * excess s' low + (x - low) * excess s' y.
  apply: excess_straight => //; [lra|move=> o ho [k1 k2]].
  have [a0 b0] := hs' o ho; have p : 0 < o.2 by nra.
  have eo : o.1 = o.1 / o.2 * o.2 by field; lra.
  have b1 : low < o.1 / o.2 by apply: (Rmult_lt_reg_r o.2) => //; rewrite -eo.
  have b2 : o.1 / o.2 < y by apply: (Rmult_lt_reg_r o.2) => //; rewrite -eo.
  have [eq|hin] : y = o.1 / o.2 \/ List.In (o.1 / o.2) t by apply: ks => //; exists o.
    lra.
  by have := increasing_lt inc hin; lra.
apply: (Rmult_le_reg_l (y - low)); first lra.
rewrite e; apply: Rle_trans c _; nra.
Qed.

Theorem below_at_kinks s s' : lawful s -> lawful s' -> excess s 0 <= excess s' 0 ->
  (forall x, 0 <= x -> kinks s' x -> excess s x <= excess s' x) -> below s s'.
Proof.
move=> hs hs' h0 hk.
pose ks := [seq o.1 / o.2 | o <- [seq o <- s' | if Rlt_dec 0 o.2 then if Rlt_dec 0 o.1 then true else false else false]].
have ksE x : List.In x ks -> 0 < x /\ kinks s' x.
  rewrite /ks /kinks; elim: (s') hs' => //= o l IH hl.
  have IH' := IH (fun p hp => hl p (or_intror hp)).
  case: (Rlt_dec 0 o.2) => [p|n] /=; last by move=> /IH' [h1 [q hq e]]; split=> //; exists q => //; right.
  case: (Rlt_dec 0 o.1) => [p'|n] /=; last by move=> /IH' [h1 [q hq e]]; split=> //; exists q => //; right.
  case=> [<-|/IH' [h1 [q hq e]]]; last by split=> //; exists q => //; right.
  split; first exact: Rdiv_lt_0_compat.
  by exists o; [left|split=> //; field; lra].
have Eks x : 0 < x -> kinks s' x -> List.In x ks.
  rewrite /ks => x0 [o ho [p e]]; have p' : 0 < o.1 by rewrite e; nra.
  have -> : x = o.1 / o.2 by rewrite e; field; lra.
  elim: (s') ho => //= q l IH [->|/IH h]; last by case: ifP => _ //=; right.
  by case: (Rlt_dec 0 o.2) => //= _; case: (Rlt_dec 0 o.1) => //= _; left.
have [t inc mem] := @arrange 0 ks (fun z hz => proj1 (ksE z hz)).
apply: (@below_from s s' 0 t) => //; first lra.
  by move=> x /mem /ksE [x0 k]; apply: hk => //; lra.
by move=> x x0 k; apply/mem/Eks.
Qed.

(** A ratio that is split between two others, whose P mass and P' mass stay or fall. *)
Lemma below_split a b a1 b1 a2 b2 : 0 <= a1 -> 0 <= a2 -> a = a1 + a2 -> b1 + b2 <= b ->
  below [:: (a, b)] [:: (a1, b1); (a2, b2)].
Proof.
move=> h1 h2 -> hb x x0; rewrite /excess !big_cons !big_nil /= !Rplus_0_r.
apply: Rmax_lub; last by have := positive_ge0 (a1 - x * b1); have := positive_ge0 (a2 - x * b2); lra.
have := positive_ge (a1 - x * b1); have := positive_ge (a2 - x * b2); nra.
Qed.

Lemma below_cat s s' r r' : below s s' -> below r r' -> below (s ++ r) (s' ++ r').
Proof.
by move=> h h' x x0; rewrite /excess !big_cat; apply: Rplus_le_compat; [apply: h|apply: h'].
Qed.
