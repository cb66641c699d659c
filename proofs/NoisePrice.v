(** The checker of noise that is priced by its label, of two classes: from σ to differential privacy. The chances
    by lead are no fractions: they are enclosed between whole numbers, and a list of these stands for each pair.
    Code: accountant/noisymax.Certify, of two classes; python/darrm/_noise.py. *)
From Coq Require Import Reals Lra Lia ZArith Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Plurality Exp Game Dominate Price Noise.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** The checker *)
Definition mul_down (a b : Z) : Z := (a * b / grid)%Z.
Definition mul_up (a b : Z) : Z := (a * b / grid + 1)%Z.
(** w, ws, ws²r, ...: bell n for n = 0, 1, ..., where each factor is r times the one before. *)
Fixpoint bells (mul : Z -> Z -> Z) (r w s : Z) (n : nat) : seq Z :=
  w :: if n is n'.+1 then bells mul r (mul w s) (mul s r) n' else [::].
Definition at_of (l : seq Z) (z : Z) : Z := nth 0%Z l (Z.abs_nat z).
Definition total_of (l : seq Z) (M : nat) : Z := foldr Z.add 0%Z [seq at_of l y | y <- window M].
Definition meet_of (l : seq Z) (M : nat) (k : Z) : Z := foldr Z.add 0%Z [seq (at_of l y * at_of l (y + k))%Z | y <- window M].
Definition rise_of (cs : seq Z) (d : nat) : Z := foldr Z.add 0%Z [seq (nth 0 cs k + nth 0 cs k.+1)%Z | k <- iota 0 d].

(** sn/sd is σ; [M] noise that is summed one by one. *)
Record noise := Noise { K : nat; t : nat; missing : bool; terms : nat; tc : Z; tf : Z; pn : Z; pd : Z; sn : Z; sd : Z; M : nat }.

Definition half_a (x : noise) : Z := (x.(sd) * x.(sd))%Z.          (* 1/(2σ²) *)
Definition half_b (x : noise) : Z := (2 * (x.(sn) * x.(sn)))%Z.
Definition low_bells (x : noise) : seq Z :=
  let r := (grid * grid / (exp_up (half_a x) (half_b x) x.(terms)).1)%Z in bells mul_down (mul_down r r) grid r x.(M).
Definition high_bells (x : noise) : seq Z :=
  let r := up_div (grid * grid) (exp_down (half_a x) (half_b x) x.(terms)).1 in bells mul_up (mul_up r r) grid r x.(M).
(** For each lead from 0 to K, the chance of the class that leads: not above, not below; in units of 1/grid. *)
Definition lows (x : noise) : seq Z :=
  let l := low_bells x in let u := high_bells x in
  let cs := [seq meet_of l x.(M) (Z.of_nat k) | k <- iota 0 x.(K).+1] in
  let a := (total_of u x.(M) + 2 * at_of u (Z.of_nat x.(M)))%Z in
  [seq (grid / 2 + grid * rise_of cs d / (2 * (a * a)))%Z | d <- iota 0 x.(K).+1].
Definition highs (x : noise) : seq Z :=
  let l := low_bells x in let u := high_bells x in
  let rest := (4 * (at_of u (Z.of_nat x.(M)) * grid))%Z in
  let cs := [seq (meet_of u x.(M) (Z.of_nat k) + rest)%Z | k <- iota 0 x.(K).+1] in
  let a := total_of l x.(M) in
  [seq (grid / 2 + up_div (grid * rise_of cs d) (2 * (a * a)))%Z | d <- iota 0 x.(K).+1].

Section Bounds.
Variables ls hs : seq Z.
Definition low_at (d : Z) : Z := if (0 <=? d)%Z then at_of ls d else Z.max 0 (grid - at_of hs d).
Definition high_at (d : Z) : Z := if (0 <=? d)%Z then at_of hs d else (grid - at_of ls d)%Z.
Definition lead_items (d d' : Z) : seq item :=
  [:: (high_at d, low_at d', grid); (high_at (- d), low_at (- d'), grid)].
Definition lead_fits (x : noise) (d d' : Z) : bool :=
  (Z.abs (d - d') <=? 2 * Z.of_nat x.(t))%Z && (x.(missing) || Z.even (Z.of_nat x.(K) - d) && Z.even (Z.of_nat x.(K) - d')).
Definition noise_list (x : noise) : seq (seq item) :=
  flatten [seq flatten [seq if lead_fits x d d' then [:: lead_items d d'] else [::] | d' <- window x.(K)] | d <- window x.(K)].
End Bounds.

Definition noise_price (x : noise) (Q : nat) (S T : Z) (zs : seq Z) : bool :=
  [&& Z.ltb 0 x.(sn), Z.ltb 0 x.(sd), Z.leb (2 * half_a x) (half_b x * Z.of_nat (x.(terms) + 2)),
      Z.leb (2 * grid) (exp_down ((2 * Z.of_nat x.(M) + 1) * half_a x) (half_b x) x.(terms)).1,
      Z.ltb 0 (total_of (low_bells x) x.(M)) &
      priced x.(tc) x.(tf) x.(terms) x.(pn) x.(pd) (noise_list (lows x) (highs x) x) Q S T zs].

Lemma sumZ (A : Type) (s : seq A) (f : A -> Z) : IZR (foldr Z.add 0%Z [seq f y | y <- s]) = \rsum_(y <- s) IZR (f y).
Proof. by elim: s => [|y s IH]; rewrite ?big_nil // big_cons /= plus_IZR IH. Qed.

(** ** Lists of bells *)
Notation G := (IZR grid).
Lemma G_pos : 0 < G. Proof. by apply: IZR_lt; apply: grid_pos. Qed.

Lemma div_down a d : (0 < d)%Z -> IZR (a / d) <= IZR a / IZR d.
Proof.
move=> h; have h' := IZR_lt _ _ h; apply: (Rmult_le_reg_r (IZR d)) => //.
have -> : IZR a / IZR d * IZR d = IZR a by field; lra.
by rewrite -mult_IZR; apply: IZR_le; have := Z.mul_div_le a d h; lia.
Qed.

Lemma mul_down_ok a c : (0 <= a)%Z -> (0 <= c)%Z -> (0 <= mul_down a c)%Z /\ IZR (mul_down a c) <= IZR a * IZR c / G.
Proof.
move=> ha hc; split; first by apply: Z.div_pos; [lia|apply: grid_pos].
by rewrite -mult_IZR; apply: div_down; apply: grid_pos.
Qed.

Lemma mul_up_ok a c : IZR a * IZR c / G <= IZR (mul_up a c).
Proof.
have h := G_pos; apply: (Rmult_le_reg_r G) => //.
have -> : IZR a * IZR c / G * G = IZR a * IZR c by field; lra.
by rewrite -!mult_IZR; apply: IZR_le; rewrite /mul_up; have := Z.mul_succ_div_gt (a * c) grid grid_pos; lia.
Qed.

Section Bells.
Variable h : R.
Definition bn (m : nat) : R := exp (- (INR m * INR m * h)).
Definition st (m : nat) : R := exp (- ((2 * INR m + 1) * h)).
Lemma bn_S m : bn m.+1 = bn m * st m. Proof. by rewrite /bn /st -exp_plus S_INR; congr exp; ring. Qed.
Lemma st_S m : st m.+1 = st m * exp (- (2 * h)). Proof. by rewrite /st -exp_plus S_INR; congr exp; ring. Qed.

Lemma bells_size mul r w s n : size (bells mul r w s n) = n.+1.
Proof. by elim: n w s => //= n IH w s; rewrite IH. Qed.

Lemma down_step a c x y : (0 <= a)%Z -> (0 <= c)%Z -> IZR a <= G * x -> IZR c <= G * y ->
  (0 <= mul_down a c)%Z /\ IZR (mul_down a c) <= G * (x * y).
Proof.
move=> ha hc hx hy; have [h1 h2] := mul_down_ok ha hc; split=> //; have g := G_pos.
apply: Rle_trans h2 _; apply: (Rmult_le_reg_r G) => //.
have -> : IZR a * IZR c / G * G = IZR a * IZR c by field; lra.
have -> : G * (x * y) * G = (G * x) * (G * y) by ring.
by apply: Rmult_le_compat => //; apply: IZR_le.
Qed.

Lemma up_step a c x y : 0 <= x -> 0 <= y -> G * x <= IZR a -> G * y <= IZR c -> G * (x * y) <= IZR (mul_up a c).
Proof.
move=> h1 h2 hx hy; have g := G_pos; apply: Rle_trans (mul_up_ok _ _); apply: (Rmult_le_reg_r G) => //.
have -> : IZR a * IZR c / G * G = IZR a * IZR c by field; lra.
have -> : G * (x * y) * G = (G * x) * (G * y) by ring.
by apply: Rmult_le_compat => //; nra.
Qed.

Lemma bells_low r w s n m i : (i <= n)%N -> (0 <= r)%Z -> (0 <= w)%Z -> (0 <= s)%Z ->
  IZR r <= G * exp (- (2 * h)) -> IZR w <= G * bn m -> IZR s <= G * st m ->
  0 <= IZR (nth 0%Z (bells mul_down r w s n) i) <= G * bn (m + i).
Proof.
move=> + r0 + + hr; elim: i n m w s => [|i IH] [|n] m w s //= hi w0 s0 hw hs; try by rewrite addn0; split=> //; apply: IZR_le.
rewrite addnS -addSn; have [w1 hw1] := down_step w0 s0 hw hs; have [s1 hs1] := down_step s0 r0 hs hr.
by apply: IH => //; rewrite ?bn_S ?st_S.
Qed.

Lemma bells_high r w s n m i : (i <= n)%N -> G * exp (- (2 * h)) <= IZR r -> G * bn m <= IZR w -> G * st m <= IZR s ->
  G * bn (m + i) <= IZR (nth 0%Z (bells mul_up r w s n) i).
Proof.
move=> + hr; elim: i n m w s => [|i IH] [|n] m w s //= hi hw hs; try by rewrite addn0.
rewrite addnS -addSn; have pos z := Rlt_le _ _ (exp_pos z).
by apply: IH => //; rewrite ?bn_S ?st_S; apply: up_step => //; apply: pos.
Qed.
End Bells.

(** ** Chances between whole numbers *)
Section Numbers.
Variables (s2 : R) (M : nat) (l u : seq Z).
Hypothesis s2_pos : 0 < s2.
Hypothesis halves : 2 <= exp ((2 * INR M + 1) / (2 * s2)).
Hypothesis low : forall z, 0 <= IZR (at_of l z) <= G * spike s2 M z.
Hypothesis high : forall z, G * spike s2 M z <= IZR (at_of u z).
Notation A N := (\rsum_(y <- window N) bell s2 y).
Notation top := (bell s2 (Z.of_nat M)).

Lemma total_down : IZR (total_of l M) <= G * A M.
Proof.
rewrite sumZ big_distrr; apply: sum_le => y hy /=.
by have [_] := low y; rewrite spike_self.
Qed.

Lemma total_up : G * A M <= IZR (total_of u M).
Proof. by rewrite sumZ big_distrr; apply: sum_le => y hy /=; have := high y; rewrite spike_self. Qed.

Lemma top_up : G * top <= IZR (at_of u (Z.of_nat M)).
Proof. by have := high (Z.of_nat M); rewrite spike_self //; apply/window_in; lia. Qed.

Lemma meet_down k : IZR (meet_of l M k) <= G * G * meet s2 M k.
Proof.
rewrite sumZ big_distrr; apply: sum_le => y hy /=; rewrite mult_IZR -(spike_self s2 hy).
have [a1 a2] := low y; have [c1 c2] := low (y + k).
have -> : G * G * (spike s2 M y * spike s2 M (y + k)) = (G * spike s2 M y) * (G * spike s2 M (y + k)) by ring.
exact: Rmult_le_compat.
Qed.

Lemma meet_up k : G * G * meet s2 M k <= IZR (meet_of u M k).
Proof.
rewrite sumZ big_distrr; apply: sum_le => y hy /=; rewrite mult_IZR -(spike_self s2 hy).
have g := G_pos; have [a1 _] := spike_in s2_pos M y; have [c1 _] := spike_in s2_pos M (y + k).
have -> : G * G * (spike s2 M y * spike s2 M (y + k)) = (G * spike s2 M y) * (G * spike s2 M (y + k)) by ring.
by apply: Rmult_le_compat => //; nra.
Qed.

Lemma rise_is cs d : IZR (rise_of cs d) = \rsum_(k < d) (IZR (nth 0%Z cs k) + IZR (nth 0%Z cs k.+1)).
Proof.
rewrite /rise_of sumZ -(big_mkord xpredT (fun k => IZR (nth 0%Z cs k) + IZR (nth 0%Z cs k.+1))) /index_iota subn0.
by apply: eq_bigr => k _; rewrite plus_IZR.
Qed.

Lemma half_grid : IZR (grid / 2) = G / 2.
Proof.
have e : (grid / 2 * 2)%Z = grid by [].
by rewrite -{2}e mult_IZR; field.
Qed.

Lemma of_succ (k : nat) : Z.of_nat k.+1 = (Z.of_nat k + 1)%Z. Proof. by lia. Qed.

Variables (N d : nat).
Hypothesis large : (M <= N)%N.
Let e : N = (M + (N - M))%N. Proof. by rewrite subnKC. Qed.
Notation S := (\rsum_(k < d) (meet s2 N (Z.of_nat k) + meet s2 N (Z.of_nat k + 1))).
Let g := G_pos.
Let AN := A_pos s2 N.

Lemma squares a c : 0 < a -> a <= c -> 0 < a * a <= c * c.
Proof. by move=> h1 h2; split; nra. Qed.

Lemma S_ge0 : 0 <= S.
Proof.
have ge0 k : 0 <= meet s2 N k.
  rewrite /meet; elim: (window N) => [|y s IH]; rewrite ?big_nil ?big_cons; first by lra.
  by have := bell_pos s2 y; have [] := spike_in s2_pos N (y + k); nra.
by apply: rsum_ge0 => k _; have := ge0 (Z.of_nat k); have := ge0 (Z.of_nat k + 1)%Z; lra.
Qed.

Lemma quotient_real r a : IZR (grid * r) / IZR (2 * (a * a)) = G * IZR r / (2 * (IZR a * IZR a)).
Proof. by rewrite (mult_IZR grid r) (mult_IZR 2 (a * a)) (mult_IZR a a). Qed.

Lemma inverse_le a c x : 0 <= x -> 0 < a -> a <= c -> x / c <= x / a.
Proof. by move=> h0 h1 h2; apply: Rmult_le_compat_l => //; apply: Rinv_le_contravar. Qed.

Lemma low_ok cs a : (forall k, (k <= d)%N -> IZR (nth 0%Z cs k) <= G * G * meet s2 M (Z.of_nat k)) ->
  G * (A M + 2 * top) <= IZR a -> IZR (grid / 2 + grid * rise_of cs d / (2 * (a * a))) / G <= won s2 N (Z.of_nat d).
Proof.
move=> hc ha; rewrite won_at //.
have hS : IZR (rise_of cs d) <= G * G * S.
  rewrite rise_is big_distrr; apply: rsum_le => k _ /=.
  have h1 := hc k (ltnW (ltn_ord k)); have h2 := hc k.+1 (ltn_ord k); rewrite of_succ in h2.
  have [h3 _] := meet_tail s2_pos halves (N - M) (Z.of_nat k); have [h4 _] := meet_tail s2_pos halves (N - M) (Z.of_nat k + 1).
  by rewrite -e in h3 h4; nra.
have hA : G * A N <= IZR a.
  have [_ h] := A_tail s2_pos halves (N - M); rewrite -e in h; have := bell_pos s2 (Z.of_nat N); nra.
have a0 : 0 < G * A N by nra.
have [q1 q2] := squares a0 hA.
have a2 : 0 < IZR a * IZR a by nra.
have z2 : (0 < 2 * (a * a))%Z by apply: lt_IZR; rewrite (mult_IZR 2 (a * a)) (mult_IZR a a); lra.
rewrite plus_IZR half_grid; have := div_down (grid * rise_of cs d) z2; rewrite quotient_real; set f := IZR (_ / _) => hf.
have : IZR (rise_of cs d) / (IZR a * IZR a) <= S / (A N) ^ 2.
  apply: (Rle_trans _ (G * G * S / (IZR a * IZR a))).
    by apply: Rmult_le_compat_r => //; apply/Rlt_le/Rinv_0_lt_compat.
  have -> : S / (A N) ^ 2 = G * G * S / (G * A N * (G * A N)) by field; lra.
  by apply: inverse_le => //; have := S_ge0; nra.
move=> hr; have -> : (G / 2 + f) / G = / 2 + f / G by field; lra.
apply: Rplus_le_compat_l; apply: (Rle_trans _ (/ 2 * (IZR (rise_of cs d) / (IZR a * IZR a)))); last by lra.
apply: (Rmult_le_reg_r G) => //; have -> : f / G * G = f by field; lra.
by apply: Rle_trans hf _; apply: Req_le; field; nra.
Qed.

Lemma high_ok cs a : (forall k, (k <= d)%N -> G * G * (meet s2 M (Z.of_nat k) + 4 * top) <= IZR (nth 0%Z cs k)) ->
  (0 < a)%Z -> IZR a <= G * A M -> won s2 N (Z.of_nat d) <= IZR (grid / 2 + up_div (grid * rise_of cs d) (2 * (a * a))) / G.
Proof.
move=> hc pa ha; rewrite won_at //; have a0 : 0 < IZR a by apply: IZR_lt.
have hS : G * G * S <= IZR (rise_of cs d).
  rewrite rise_is big_distrr; apply: rsum_le => k _ /=.
  have h1 := hc k (ltnW (ltn_ord k)); have h2 := hc k.+1 (ltn_ord k); rewrite of_succ in h2.
  have [_ h3] := meet_tail s2_pos halves (N - M) (Z.of_nat k); have [_ h4] := meet_tail s2_pos halves (N - M) (Z.of_nat k + 1).
  by rewrite -e in h3 h4; have := bell_pos s2 (Z.of_nat N); nra.
have hA : IZR a <= G * A N by have [h _] := A_tail s2_pos halves (N - M); rewrite -e in h; nra.
have [q1 q2] := squares a0 hA.
have z2 : (0 < 2 * (a * a))%Z by apply: lt_IZR; rewrite (mult_IZR 2 (a * a)) (mult_IZR a a); lra.
rewrite plus_IZR half_grid; have := @up_div_ok (grid * rise_of cs d) _ z2; rewrite quotient_real; set f := IZR (up_div _ _) => hf.
have hr : S / (A N) ^ 2 <= IZR (rise_of cs d) / (IZR a * IZR a).
  apply: (Rle_trans _ (G * G * S / (IZR a * IZR a))); last first.
    by apply: Rmult_le_compat_r => //; apply/Rlt_le/Rinv_0_lt_compat.
  have -> : S / (A N) ^ 2 = G * G * S / (G * A N * (G * A N)) by field; lra.
  by apply: inverse_le => //; have := S_ge0; nra.
have -> : (G / 2 + f) / G = / 2 + f / G by field; lra.
apply: Rplus_le_compat_l; apply: (Rle_trans _ (/ 2 * (IZR (rise_of cs d) / (IZR a * IZR a)))); first by lra.
apply: (Rmult_le_reg_r G) => //; have -> : f / G * G = f by field; lra.
by apply: Rle_trans hf; apply: Req_le; field; nra.
Qed.
End Numbers.

(** ** The enclosures of the checker *)
Lemma down_grid a c n : (0 <= a)%Z -> (0 < c)%Z ->
  IZR (exp_down a c n).1 / G <= exp (IZR a / IZR c) /\ G <= IZR (exp_down a c n).1.
Proof.
move=> ha hc; have := exp_down_ok a c n ha hc; have := exp_down_ge1 a c n ha hc.
rewrite /exp_down; case: exact_down => s f [h1 _] h2; split=> //.
have g := G_pos; have := Rmult_le_compat_r _ _ _ (Rlt_le _ _ g) h1; rewrite Rmult_1_l.
by set v := IZR (_ / _); have -> : v / G * G = v by field; lra.
Qed.

Lemma up_grid a c n : (0 <= a)%Z -> (0 < c)%Z -> (2 * a <= c * Z.of_nat (n + 2))%Z ->
  exp (IZR a / IZR c) <= IZR (exp_up a c n).1 / G.
Proof. by move=> ha hc hn; have := exp_up_ok a c n ha hc hn; rewrite /exp_up; case: exact_up. Qed.

Lemma inverse_of x y : 0 < x -> G * x <= y -> G * G / y <= G * / x.
Proof.
move=> h hy; have g := G_pos; have y0 : 0 < y by nra.
apply: (Rmult_le_reg_r y) => //; have -> : G * G / y * y = G * x * (G * / x) by field; lra.
have : 0 < G * / x by apply: Rmult_lt_0_compat => //; apply: Rinv_0_lt_compat.
by nra.
Qed.

Lemma inverse_to x y : 0 < x -> 0 < y -> y <= G * x -> G * / x <= G * G / y.
Proof.
move=> h y0 hy; have g := G_pos.
apply: (Rmult_le_reg_r y) => //; have -> : G * G / y * y = G * x * (G * / x) by field; lra.
have : 0 < G * / x by apply: Rmult_lt_0_compat => //; apply: Rinv_0_lt_compat.
by nra.
Qed.

Definition sigma2 (x : noise) : R := (IZR x.(sn) / IZR x.(sd)) ^ 2.

Section Sound.
Variables (x : noise) (Q : nat) (S T : Z) (zs : seq Z).
Hypothesis yes : noise_price x Q S T zs = true.
Notation s2 := (sigma2 x).
Notation h := (IZR (half_a x) / IZR (half_b x)).

Lemma facts : [/\ (0 < x.(sn))%Z, (0 < x.(sd))%Z, (2 * half_a x <= half_b x * Z.of_nat (x.(terms) + 2))%Z &
  (2 * grid <= (exp_down ((2 * Z.of_nat x.(M) + 1) * half_a x) (half_b x) x.(terms)).1)%Z] /\
  (0 < total_of (low_bells x) x.(M))%Z /\
  priced x.(tc) x.(tf) x.(terms) x.(pn) x.(pd) (noise_list (lows x) (highs x) x) Q S T zs.
Proof. by have /and5P [/Z.ltb_lt ? /Z.ltb_lt ? /Z.leb_le ? /Z.leb_le ? /andP [/Z.ltb_lt ? ?]] := yes. Qed.
Let sn0 : 0 < IZR x.(sn). Proof. by have [[/IZR_lt]] := facts. Qed.
Let sd0 : 0 < IZR x.(sd). Proof. by have [[_ /IZR_lt]] := facts. Qed.
Let a0 : (0 <= half_a x)%Z. Proof. by have [[_ ? _ _] _] := facts; rewrite /half_a; lia. Qed.
Let b0 : (0 < half_b x)%Z. Proof. by have [[? _ _ _] _] := facts; rewrite /half_b; lia. Qed.

Lemma half_is : h = / (2 * s2).
Proof.
rewrite /half_a /half_b /sigma2 (mult_IZR x.(sd) x.(sd)) (mult_IZR 2 _) (mult_IZR x.(sn) x.(sn)).
by field; lra.
Qed.

Lemma s2_pos : 0 < s2.
Proof. by apply: pow_lt; apply: Rmult_lt_0_compat => //; apply: Rinv_0_lt_compat. Qed.

Lemma bell_bn z : bell s2 z = bn h (Z.abs_nat z).
Proof. by rewrite /bn INR_IZR_INZ Zabs2Nat.id_abs -(mult_IZR (Z.abs z)) Z.abs_square (mult_IZR z z) half_is. Qed.

Lemma halves : 2 <= exp ((2 * INR x.(M) + 1) / (2 * s2)).
Proof.
have [[_ _ _ /IZR_le ok] _] := facts.
have ha : (0 <= (2 * Z.of_nat x.(M) + 1) * half_a x)%Z by move: a0; nia.
have [le _] := down_grid x.(terms) ha b0; have g := G_pos.
have e : IZR ((2 * Z.of_nat x.(M) + 1) * half_a x) / IZR (half_b x) = (2 * INR x.(M) + 1) / (2 * s2).
  rewrite (mult_IZR (_ + 1)) (plus_IZR _ 1) (mult_IZR 2) -INR_IZR_INZ /Rdiv -half_is /Rdiv; ring.
rewrite -e; apply: Rle_trans le; apply: (Rmult_le_reg_r G) => //.
move: ok; rewrite (mult_IZR 2); set v := IZR (_.1) => ok.
by have -> : v / G * G = v by field; lra.
Qed.

Lemma st0 : st h 0 = / exp h.
Proof. by rewrite -exp_Ropp /st; congr exp; rewrite /=; ring. Qed.
Lemma bn0 : G * bn h 0 = G.
Proof. by rewrite /bn (_ : - (INR 0 * INR 0 * h) = 0); [rewrite exp_0|rewrite /=]; ring. Qed.
Lemma twice : exp (- (2 * h)) = / exp h * / exp h.
Proof. by rewrite -exp_Ropp -exp_plus; congr exp; ring. Qed.

Lemma low_bells_ok z : 0 <= IZR (at_of (low_bells x) z) <= G * spike s2 x.(M) z.
Proof.
rewrite (spikeE s2 x.(M)) /at_of /low_bells; case: Z.leb_spec => hz; last first.
  rewrite nth_default ?bells_size; last by apply/leP; lia.
  by rewrite Rmult_0_r; lra.
have [[_ _ hn _] _] := facts; have up := up_grid a0 b0 hn; have g := G_pos.
have E0 := exp_pos h; set E := (exp_up _ _ _).1 in up *; set r := (grid * grid / E)%Z.
have hE : G * exp h <= IZR E.
  have := Rmult_le_compat_l _ _ _ (Rlt_le _ _ g) up.
  by have -> : G * (IZR E / G) = IZR E by field; lra.
have EZ : (0 < E)%Z by apply: lt_IZR; nra.
have r0 : (0 <= r)%Z by apply: Z.div_pos => //; apply: Z.square_nonneg.
have hr : IZR r <= G * / exp h.
  apply: Rle_trans (div_down (grid * grid) EZ) _; rewrite (mult_IZR grid grid); exact: inverse_of.
have [rr0 hrr] := down_step r0 r0 hr hr.
rewrite bell_bn -[Z.abs_nat z]add0n; apply: bells_low => //.
- by apply/leP; rewrite ?add0n; lia.
- by rewrite twice.
- by rewrite bn0; apply: Rle_refl.
- by rewrite st0.
Qed.

Lemma high_bells_ok z : G * spike s2 x.(M) z <= IZR (at_of (high_bells x) z).
Proof.
rewrite (spikeE s2 x.(M)) /at_of /high_bells; case: Z.leb_spec => hz; last first.
  rewrite nth_default ?bells_size; last by apply/leP; lia.
  by rewrite Rmult_0_r; lra.
have [down ge] := down_grid x.(terms) a0 b0; have g := G_pos.
have E0 := exp_pos h; set E := (exp_down _ _ _).1 in down ge *; set r := up_div (grid * grid) E.
have hE : IZR E <= G * exp h.
  have := Rmult_le_compat_l _ _ _ (Rlt_le _ _ g) down.
  by have -> : G * (IZR E / G) = IZR E by field; lra.
have EZ : (0 < E)%Z by apply: lt_IZR; lra.
have hr : G * / exp h <= IZR r.
  apply: Rle_trans (up_div_ok (grid * grid) EZ); rewrite (mult_IZR grid grid); apply: inverse_to => //; exact: IZR_lt.
have i0 : 0 <= / exp h by apply/Rlt_le/Rinv_0_lt_compat.
have hrr := up_step i0 i0 hr hr.
rewrite bell_bn -[Z.abs_nat z]add0n; apply: bells_high => //.
- by apply/leP; rewrite ?add0n; lia.
- by rewrite twice.
- by rewrite bn0; apply: Rle_refl.
- by rewrite st0.
Qed.

Theorem enclosed N d : (x.(M) <= N)%N -> (d <= x.(K))%N ->
  IZR (nth 0%Z (lows x) d) / G <= won s2 N (Z.of_nat d) <= IZR (nth 0%Z (highs x) d) / G.
Proof.
move=> hN hd; have [_ [pos _]] := facts; have g := G_pos.
have top := top_up high_bells_ok; have tu := total_up high_bells_ok; have td := total_down low_bells_ok.
rewrite /lows /highs !(nth_map 0%N) ?size_iota // nth_iota // add0n.
split.
  apply: (low_ok s2_pos halves hN) => [k hk|].
    have k1 : (k < x.(K).+1)%N by apply: leq_ltn_trans hk _.
    by rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n; apply: meet_down low_bells_ok _.
  by rewrite plus_IZR (mult_IZR 2); lra.
apply: (high_ok s2_pos halves hN) => // k hk.
have k1 : (k < x.(K).+1)%N by apply: leq_ltn_trans hk _.
rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n plus_IZR (mult_IZR 4) (mult_IZR (at_of _ _) grid).
have mu := meet_up s2_pos high_bells_ok (Z.of_nat k).
by nra.
Qed.

(** ** Every law by lead that is between *)
Section Private.
Variable q : Z -> R.
Hypothesis q_ge0 : forall d, 0 <= q d.
Hypothesis q_opp : forall d, q (- d)%Z = 1 - q d.
Hypothesis between : forall d, (d <= x.(K))%N -> IZR (nth 0%Z (lows x) d) / G <= q (Z.of_nat d) <= IZR (nth 0%Z (highs x) d) / G.
Notation asks := (noise_questions x.(K) x.(t) x.(missing) q).
Notation lo := (low_at (lows x) (highs x)).
Notation hi := (high_at (lows x) (highs x)).
Notation votes := (x.(K).-tuple (option 'I_2)).

Lemma at_between d : (Z.abs d <= Z.of_nat x.(K))%Z -> IZR (at_of (lows x) d) / G <= q (Z.abs d) <= IZR (at_of (highs x) d) / G.
Proof.
move=> hd; have hk : (Z.abs_nat d <= x.(K))%N by apply/leP; lia.
by have := between hk; rewrite Zabs2Nat.id_abs.
Qed.

Lemma lo_ok d : (Z.abs d <= Z.of_nat x.(K))%Z -> IZR (lo d) / G <= q d.
Proof.
move=> hd; have [h1 h2] := at_between hd; rewrite /low_at; case: Z.leb_spec => s.
  by rewrite -{2}(Z.abs_eq d s).
have e : q d = 1 - q (Z.abs d) by rewrite -q_opp; congr q; lia.
have g := G_pos; apply: (Rmult_le_reg_r G) => //; set m := Z.max _ _.
have -> : IZR m / G * G = IZR m by field; lra.
have h3 : q d * G >= 0 by have := q_ge0 d; nra.
have h4 : IZR (grid - at_of (highs x) d) <= q d * G.
  rewrite minus_IZR e; have := Rmult_le_compat_r _ _ _ (Rlt_le _ _ g) h2.
  by have -> : IZR (at_of (highs x) d) / G * G = IZR (at_of (highs x) d) by [field; lra]; lra.
by rewrite /m; case: (Z.max_spec 0 (grid - at_of (highs x) d)) => -[_ ->]; lra.
Qed.

Lemma hi_ok d : (Z.abs d <= Z.of_nat x.(K))%Z -> q d <= IZR (hi d) / G.
Proof.
move=> hd; have [h1 h2] := at_between hd; rewrite /high_at; case: Z.leb_spec => s.
  by rewrite -{1}(Z.abs_eq d s).
have e : q d = 1 - q (Z.abs d) by rewrite -q_opp; congr q; lia.
have g := G_pos; rewrite e minus_IZR.
by have -> : (G - IZR (at_of (lows x) d)) / G = 1 - IZR (at_of (lows x) d) / G by [field; lra]; lra.
Qed.

Lemma two (f : 'I_2 -> nat) : (\sum_(c < 2) f c = f ord0 + f ord_max)%N.
Proof. by rewrite !big_ord_recl big_ord0 addn0; congr (_ + f _)%N; apply: val_inj. Qed.

Lemma lead_in (v : votes) : (Z.abs (lead v) <= Z.of_nat x.(K))%Z.
Proof. by have [/leP h _] := votes_hist v; move: h; rewrite /votes_in two -plusE /lead; lia. Qed.

Lemma lead_even (v : votes) : ~~ x.(missing) -> there x.(missing) v -> Z.even (Z.of_nat x.(K) - lead v).
Proof.
rewrite /there => /negbTE -> c; have [_ /(_ c)] := votes_hist v; rewrite /votes_in two -plusE /lead => h.
have -> : (Z.of_nat x.(K) - (Z.of_nat (tnth (hist v) ord_max) - Z.of_nat (tnth (hist v) ord0)))%Z =
  (2 * Z.of_nat (tnth (hist v) ord0))%Z by lia.
by rewrite Z.even_mul.
Qed.

Lemma lead_near (v v' : votes) : near_votes x.(t) v v' -> (Z.abs (lead v - lead v') <= 2 * Z.of_nat x.(t))%Z.
Proof.
move=> /leP near; have := gained_moved v v'; have := gained_moved v' v; rewrite moved_sym /gained !two /lead.
by rewrite -!minusE -!plusE => /leP h1 /leP h2; lia.
Qed.

Lemma positive_le a c : a <= c -> positive a <= positive c.
Proof. by move=> h; apply: Rmax_lub; [have := positive_ge c; lra|apply: positive_ge0]. Qed.

(** Every pair of neighbouring votes within reach t has a list that stands for it. *)
Lemma noise_listed p : List.In p asks -> exists2 xs, List.In xs (noise_list (lows x) (highs x) x) & below (outcomes_of p) (real_items xs).
Proof.
move=> hp; have [v [v' [-> c c' near]]] := about_are hp.
exists (lead_items (lows x) (highs x) (lead v) (lead v')).
  have fits : lead_fits x (lead v) (lead v').
    rewrite /lead_fits; apply/andP; split; first by apply/Z.leb_le; apply: lead_near.
    by case m : (missing x) => //=; rewrite !lead_even ?m //; rewrite -m.
  pose row d := flatten [seq if lead_fits x d d' then [:: lead_items (lows x) (highs x) d d'] else [::] | d' <- window x.(K)].
  apply: (@in_flatten _ _ (row (lead v))); first by apply: (in_map row); apply/window_in; apply: lead_in.
  pose one d' := if lead_fits x (lead v) d' then [:: lead_items (lows x) (highs x) (lead v) d'] else [::].
  apply: (@in_flatten _ _ (one (lead v'))); first by apply: (in_map one); apply/window_in; apply: lead_in.
  by rewrite /one fits; left.
move=> y y0; rewrite /excess /outcomes_of big_map /real_items /lead_items /= !big_cons big_nil /= Rplus_0_r.
rewrite (_ : \rsum_(o <- index_enum bool_finType) _ = positive (q (lead v) - y * q (lead v')) + positive (q (- lead v)%Z - y * q (- lead v')%Z)); last exact: big_bool.
have h w : (Z.abs w <= Z.of_nat x.(K))%Z -> (Z.abs (- w) <= Z.of_nat x.(K))%Z by lia.
have [a a'] := (@lead_in v, @lead_in v').
have := hi_ok a; have := hi_ok (h _ a); have := lo_ok a'; have := lo_ok (h _ a') => l1 l2 u1 u2.
by apply: Rplus_le_compat; apply: positive_le; nra.
Qed.

Lemma noise_lawful p : List.In p asks -> (forall o, 0 <= p.1 o) /\ (forall o, 0 <= p.2 o) /\ \rsum_o p.1 o = 1.
Proof.
move=> hp; have [v [v' [-> _ _ _]]] := about_are hp; split=> [o|]; first exact: q_ge0.
split=> [o|]; first exact: q_ge0.
by rewrite big_bool /= /label_law q_opp; lra.
Qed.

Theorem between_private o0 s : allowed asks Q s -> close2 (exp (IZR x.(tc) / IZR x.(tf))) (IZR x.(pn) / IZR x.(pd))
  (fun v : Q.-tuple bool_finType => run_law o0 true s v) (fun v => run_law o0 false s v).
Proof.
have [_ [_ pr]] := facts.
exact: (priced_ok noise_lawful (fun p hp => about_mirrored hp) pr noise_listed).
Qed.
End Private.

(** Every adaptive strategy of at most Q questions, every set of transcripts: with noise of at most N, for each N
    from M on, and with discrete Gaussian noise, whose law is the limit. *)
Theorem noise_within N o0 s : (x.(M) <= N)%N -> allowed (noise_questions x.(K) x.(t) x.(missing) (won s2 N)) Q s ->
  close2 (exp (IZR x.(tc) / IZR x.(tf))) (IZR x.(pn) / IZR x.(pd))
  (fun v : Q.-tuple bool_finType => run_law o0 true s v) (fun v => run_law o0 false s v).
Proof.
move=> hN; apply: between_private => [d|d|d hd]; [exact: won_ge0|exact: won_opp|exact: enclosed].
Qed.

Theorem noise_ok q o0 s : noisy s2 q -> allowed (noise_questions x.(K) x.(t) x.(missing) q) Q s ->
  close2 (exp (IZR x.(tc) / IZR x.(tf))) (IZR x.(pn) / IZR x.(pd))
  (fun v : Q.-tuple bool_finType => run_law o0 true s v) (fun v => run_law o0 false s v).
Proof.
move=> lim; apply: between_private => [d|d|d hd].
- have [] // := @cv_between _ _ 0 1 0%N (lim d) _ => n _.
  by have := won_ge0 s2 n d; have := won_ge0 s2 n (- d); rewrite won_opp; lra.
- exact: noisy_opp lim.
- by apply: (@cv_between _ _ _ _ x.(M) (lim (Z.of_nat d))) => n hn; apply: enclosed hn hd.
Qed.
End Sound.
