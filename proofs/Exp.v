(** Rational bounds of e^x from its series: no floating point, no axiom beyond the reals. *)
From Coq Require Import Reals Lra Lia ZArith.
Open Scope R_scope.

Definition term (x : R) (i : nat) : R := / INR (fact i) * x ^ i.
Definition partial (x : R) (n : nat) : R := sum_f_R0 (term x) n.

Lemma term_ge0 x i : 0 <= x -> 0 <= term x i.
Proof.
intros h; apply Rmult_le_pos; [apply Rlt_le, Rinv_0_lt_compat, INR_fact_lt_0|now apply pow_le].
Qed.

Lemma partial_cv x : Un_cv (partial x) (exp x).
Proof. unfold exp, exp_in in *; destruct (exist_exp x) as [l h]; exact h. Qed.

Theorem exp_lower x n : 0 <= x -> partial x n <= exp x.
Proof. intros h; apply sum_incr; [apply partial_cv|intros; now apply term_ge0]. Qed.

(** The library's exp_increasing rests on classical logic; this does not. *)
Lemma exp_ge1 x : 0 <= x -> 1 <= exp x.
Proof. intros h; apply Rle_trans with (partial x 0); [unfold partial, term; simpl; lra|now apply exp_lower]. Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof.
intros h; replace y with (x + (y - x)) by ring; rewrite exp_plus.
assert (p : 0 <= exp x) by (replace x with (x / 2 + x / 2) by field; rewrite exp_plus; apply Rle_0_sqr).
assert (q : 1 <= exp (y - x)) by (apply exp_ge1; lra); nra.
Qed.

Lemma term_S x i : term x (S i) = term x i * (x / INR (S i)).
Proof.
unfold term; rewrite fact_simpl, mult_INR, <- tech_pow_Rmult; field; split;
 [now apply not_0_INR|apply INR_fact_neq_0].
Qed.

(** The terms halve from n+1 on, so the rest is at most twice the next one. *)
Theorem exp_upper x n : 0 <= x -> 2 * x <= INR (n + 2) -> exp x <= partial x n + 2 * term x (S n).
Proof.
intros hx hn.
assert (half : forall j, 2 * term x (S (S (n + j))) <= term x (S (n + j))).
{ intros j; rewrite term_S.
  assert (p : 0 < INR (S (S (n + j)))) by (apply lt_0_INR; lia).
  assert (q : INR (n + 2) <= INR (S (S (n + j)))) by (apply le_INR; lia).
  assert (r : x / INR (S (S (n + j))) <= / 2).
  { apply Rmult_le_reg_r with (INR (S (S (n + j)))); trivial.
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
  pose proof (term_ge0 x (S (n + j)) hx); nra. }
assert (all : forall j, partial x (n + j) + 2 * term x (S (n + j)) <= partial x n + 2 * term x (S n)).
{ induction j as [|j IH]; [rewrite Nat.add_0_r; lra|].
  rewrite Nat.add_succ_r; unfold partial in *; simpl sum_f_R0; pose proof (half j); lra. }
apply Rle_cv_lim with (Un := fun j => partial x (n + j)) (Vn := fun _ => partial x n + 2 * term x (S n)).
- intros j; pose proof (all j); pose proof (term_ge0 x (S (n + j)) hx); lra.
- intros eps he; destruct (partial_cv x eps he) as [N h]; exists N; intros j hj.
  apply h; lia.
- intros eps he; exists 0%nat; intros; unfold R_dist; rewrite Rminus_diag_eq, Rabs_R0; trivial.
Qed.

(** In integers: the sum for a/b times b^n n! (Horner), and that denominator. *)
Fixpoint series (a b : Z) (n : nat) : Z * Z * Z :=   (* sum, a^n, b^n n! *)
  match n with
  | O => (1, 1, 1)%Z
  | S n' => let '(s, p, f) := series a b n' in
            let m := (b * Z.of_nat n)%Z in
            (s * m + p * a, p * a, f * m)%Z
  end.

Lemma series_ok a b n : (0 < b)%Z -> let '(s, p, f) := series a b n in
  0 < IZR f /\ IZR s = IZR f * partial (IZR a / IZR b) n /\ IZR p = IZR f * term (IZR a / IZR b) n.
Proof.
intros hb; apply IZR_lt in hb; induction n as [|n IH].
- unfold partial, term; simpl; lra.
- cbn [series]; destruct (series a b n) as [[s p] f]; destruct IH as [h1 [h2 h3]].
  unfold partial in *; simpl sum_f_R0; rewrite term_S, !plus_IZR, !mult_IZR, <- INR_IZR_INZ, h2, h3.
  assert (p0 : 0 < INR (S n)) by (apply lt_0_INR; lia).
  split; [repeat apply Rmult_lt_0_compat; trivial|split; field; split; lra].
Qed.

Definition exact_down (a b : Z) (n : nat) : Z * Z := let '(s, _, f) := series a b n in (s, f).
Definition exact_up (a b : Z) (n : nat) : Z * Z :=
  let '(s, p, f) := series a b (S n) in (s + p, f)%Z.

Lemma exact_down_ok a b n : (0 <= a)%Z -> (0 < b)%Z ->
  let '(s, f) := exact_down a b n in IZR s / IZR f <= exp (IZR a / IZR b).
Proof.
intros ha hb; unfold exact_down; pose proof (series_ok a b n hb); destruct (series a b n) as [[s p] f].
destruct H as [h1 [h2 _]]; rewrite h2; unfold Rdiv at 1; rewrite Rmult_comm, <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
apply exp_lower; apply Rmult_le_pos; [now apply IZR_le|apply Rlt_le, Rinv_0_lt_compat; now apply IZR_lt].
Qed.

Lemma exact_up_ok a b n : (0 <= a)%Z -> (0 < b)%Z -> (2 * a <= b * Z.of_nat (n + 2))%Z ->
  let '(s, f) := exact_up a b n in exp (IZR a / IZR b) <= IZR s / IZR f.
Proof.
intros ha hb hn; unfold exact_up; pose proof (series_ok a b (S n) hb); destruct (series a b (S n)) as [[s p] f].
destruct H as [h1 [h2 h3]]; rewrite plus_IZR, h2, h3.
set (x := IZR a / IZR b) in *.
replace ((IZR f * partial x (S n) + IZR f * term x (S n)) / IZR f) with (partial x n + 2 * term x (S n))
  by (unfold partial; simpl sum_f_R0; field; lra).
apply exp_upper.
- apply Rmult_le_pos; [now apply IZR_le|apply Rlt_le, Rinv_0_lt_compat; now apply IZR_lt].
- apply IZR_le in hn; rewrite !mult_IZR, <- INR_IZR_INZ in hn; apply IZR_lt in hb.
  apply Rmult_le_reg_r with (IZR b); trivial; unfold x, Rdiv; rewrite !Rmult_assoc, Rinv_l; lra.
Qed.

(** Both bounds are at least 1, and their denominators above 0. *)
Lemma series_ge1 a b n : (0 <= a)%Z -> (0 < b)%Z -> let '(s, p, f) := series a b n in (0 < f <= s /\ 0 <= p)%Z.
Proof.
intros ha hb; induction n as [|n IH]; [simpl; lia|].
cbn [series]; destruct (series a b n) as [[s p] f]; assert (0 < b * Z.of_nat (S n))%Z by nia; nia.
Qed.

(** The same on a grid, so that the numbers stay short: rounded down and up. *)
Definition grid : Z := 2 ^ 120.
Definition exp_down (a b : Z) (n : nat) : Z * Z := let '(s, f) := exact_down a b n in (s * grid / f, grid)%Z.
Definition exp_up (a b : Z) (n : nat) : Z * Z := let '(s, f) := exact_up a b n in (s * grid / f + 1, grid)%Z.

Lemma grid_pos : (0 < grid)%Z. Proof. reflexivity. Qed.

Lemma floor_ok s f : (0 < f)%Z -> IZR (s * grid / f) / IZR grid <= IZR s / IZR f.
Proof.
intros hf; pose proof (Z.mul_div_le (s * grid) f hf) as h; apply IZR_le in h; rewrite !mult_IZR in h.
pose proof (IZR_lt _ _ hf) as pf; pose proof (IZR_lt _ _ grid_pos) as pg.
apply Rmult_le_reg_r with (IZR grid * IZR f); [now apply Rmult_lt_0_compat|].
replace (IZR (s * grid / f) / IZR grid * (IZR grid * IZR f)) with (IZR f * IZR (s * grid / f)) by (field; lra).
replace (IZR s / IZR f * (IZR grid * IZR f)) with (IZR s * IZR grid) by (field; lra); trivial.
Qed.

Lemma ceiling_ok s f : (0 < f)%Z -> IZR s / IZR f <= IZR (s * grid / f + 1) / IZR grid.
Proof.
intros hf; pose proof (Z.mul_succ_div_gt (s * grid) f hf) as h; rewrite <- Z.add_1_r in h.
apply IZR_lt in h; rewrite !mult_IZR in h.
pose proof (IZR_lt _ _ hf) as pf; pose proof (IZR_lt _ _ grid_pos) as pg.
apply Rmult_le_reg_r with (IZR grid * IZR f); [now apply Rmult_lt_0_compat|].
replace (IZR (s * grid / f + 1) / IZR grid * (IZR grid * IZR f)) with (IZR f * IZR (s * grid / f + 1)) by (field; lra).
replace (IZR s / IZR f * (IZR grid * IZR f)) with (IZR s * IZR grid) by (field; lra); lra.
Qed.

Theorem exp_down_ok a b n : (0 <= a)%Z -> (0 < b)%Z ->
  let '(s, f) := exp_down a b n in IZR s / IZR f <= exp (IZR a / IZR b).
Proof.
intros ha hb; unfold exp_down; pose proof (exact_down_ok a b n ha hb) as h; unfold exact_down in *.
pose proof (series_ge1 a b n ha hb); destruct (series a b n) as [[s p] f].
eapply Rle_trans; [apply floor_ok; lia|exact h].
Qed.

Theorem exp_up_ok a b n : (0 <= a)%Z -> (0 < b)%Z -> (2 * a <= b * Z.of_nat (n + 2))%Z ->
  let '(s, f) := exp_up a b n in exp (IZR a / IZR b) <= IZR s / IZR f.
Proof.
intros ha hb hn; unfold exp_up; pose proof (exact_up_ok a b n ha hb hn) as h; unfold exact_up in *.
pose proof (series_ge1 a b (S n) ha hb); destruct (series a b (S n)) as [[s p] f].
eapply Rle_trans; [exact h|apply ceiling_ok; lia].
Qed.

Lemma exp_down_ge1 a b n : (0 <= a)%Z -> (0 < b)%Z ->
  let '(s, f) := exp_down a b n in 1 <= IZR s / IZR f /\ (0 < f)%Z.
Proof.
intros ha hb; unfold exp_down, exact_down; pose proof (series_ge1 a b n ha hb); destruct (series a b n) as [[s p] f].
split; [|reflexivity]; pose proof grid_pos as g; pose proof (IZR_lt _ _ g) as pg.
assert (grid <= s * grid / f)%Z as h by (apply Z.div_le_lower_bound; nia); apply IZR_le in h.
apply Rmult_le_reg_r with (IZR grid); trivial; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
