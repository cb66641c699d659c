(** Noise that is priced by its label, of two classes: the law of the label is a chance for each lead. Noise of at
    most M bounds it from both sides, for all larger noise. NoisePrice.v has the checker.
    Code: accountant/noisymax.Certify, of two classes; python/darrm/_noise.py. *)
From Coq Require Import Reals Lra Lia ZArith Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums Plurality Exp Game Dominate Price.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** The law, to be read by people *)
(** 0, 1, -1, ..., N, -N. *)
Fixpoint window (N : nat) : seq Z :=
  if N is n.+1 then [:: Z.of_nat N, (- Z.of_nat N)%Z & window n] else [:: 0%Z].
(** Noise y is as likely as this, up to a factor that is the same for all y; s2 is σ². *)
Definition bell (s2 : R) (y : Z) : R := exp (- (IZR y * IZR y / (2 * s2))).
(** What a lead of x after noise gives: the label, or an even coin. *)
Definition wins (x : Z) : R := if (0 <? x)%Z then 1 else if (x =? 0)%Z then / 2 else 0.
(** How often a class that leads by d is the label, where both counts get noise of at most N. *)
Definition won (s2 : R) (N : nat) (d : Z) : R :=
  (\rsum_(y <- window N) \rsum_(z <- window N) (bell s2 y * bell s2 z * wins (d + y - z))) /
  (\rsum_(y <- window N) bell s2 y) ^ 2.
(** The discrete Gaussian noise has no largest value: its law is the limit. *)
Definition noisy (s2 : R) (q : Z -> R) : Prop := forall d, Un_cv (fun N => won s2 N d) (q d).

(** Votes for the classes 0 and 1, or for none; the lead of class 1; the law of "the label is 1". *)
Definition lead (K : nat) (v : K.-tuple (option 'I_2)) : Z :=
  (Z.of_nat (tnth (hist v) ord_max) - Z.of_nat (tnth (hist v) ord0))%Z.
Definition label_law (K : nat) (q : Z -> R) (v : K.-tuple (option 'I_2)) (one : bool) : R :=
  q (if one then lead v else (- lead v)%Z).
Definition there (K : nat) (missing : bool) (v : K.-tuple (option 'I_2)) : bool := missing || (None \notin v).
(** The questions of the game: such votes, at most t of them changed. *)
Definition noise_questions (K t : nat) (missing : bool) (q : Z -> R) : seq (laws bool_finType) :=
  about t (@there K missing) (@label_law K q).

(** ** Sums over windows *)
Lemma windowS N : window N.+1 = [:: Z.of_nat N.+1, (- Z.of_nat N.+1)%Z & window N]. Proof. by []. Qed.

Lemma window_in N y : List.In y (window N) <-> (Z.abs y <= Z.of_nat N)%Z.
Proof.
elim: N => [|N IH]; first by split=> [[<-|[]]|h] //; left; rewrite /= in h; lia.
by rewrite windowS /= -/(Z.of_nat N.+1) IH; split=> [[<-|[<-|h]]|h]; lia.
Qed.

Section Law.
Variable s2 : R.
Hypothesis s2_pos : 0 < s2.
Notation b := (bell s2).
Notation A N := (\rsum_(y <- window N) b y).
Definition spike (N : nat) (c : Z) : R := \rsum_(z <- window N) (b z * (if (z =? c)%Z then 1 else 0)).
Definition meet (N : nat) (k : Z) : R := \rsum_(y <- window N) (b y * spike N (y + k)).
Definition num (N : nat) (d : Z) : R := \rsum_(y <- window N) \rsum_(z <- window N) (b y * b z * wins (d + y - z)).

Lemma bell_pos z : 0 < b z. Proof. exact: exp_pos. Qed.

Lemma bell_le1 z : b z <= 1.
Proof.
rewrite -exp_0; apply: exp_le; suff : 0 <= IZR z * IZR z / (2 * s2) by lra.
by apply: Rmult_le_pos; [nra|apply/Rlt_le/Rinv_0_lt_compat; lra].
Qed.

Lemma bell_opp z : b (- z) = b z.
Proof. by rewrite /bell opp_IZR; congr (exp (- (_ / _))); ring. Qed.

Lemma spikeE N c : spike N c = if (Z.abs c <=? Z.of_nat N)%Z then b c else 0.
Proof.
elim: N => [|N IH].
  rewrite /spike big_seq1; case: (Z.eqb_spec 0 c) => [<-|n]; first by rewrite /= Rmult_1_r.
  by case: Z.leb_spec => h; [exfalso; move: h => /=; lia|rewrite Rmult_0_r].
have [p hp] : exists p, p = Z.of_nat N.+1 by exists (Z.of_nat N.+1).
rewrite /spike windowS !big_cons -/(spike N c) IH -hp; have {}hp : p = (Z.of_nat N + 1)%Z by lia.
case: (Z.eqb_spec p c) => [e1|n1]; case: (Z.eqb_spec (- p) c) => [e2|n2];
  case: (Z.leb_spec (Z.abs c) (Z.of_nat N)) => h; case: (Z.leb_spec (Z.abs c) p) => h'; try by (exfalso; lia).
- by rewrite -e1; ring.
- by rewrite -e2; ring.
- by ring.
- by ring.
Qed.

Lemma spike_self N y : List.In y (window N) -> spike N y = b y.
Proof. by move=> /window_in /Z.leb_le h; rewrite spikeE h. Qed.

Lemma spike_in N c : 0 <= spike N c <= 1.
Proof. by rewrite spikeE; case: ifP => _; have := bell_pos c; have := bell_le1 c; lra. Qed.

Lemma wins_opp x : wins (- x) = 1 - wins x.
Proof.
rewrite /wins; case: (Z.ltb_spec 0 (- x)) => h1; case: (Z.ltb_spec 0 x) => h2;
  case: (Z.eqb_spec (- x) 0) => h3; case: (Z.eqb_spec x 0) => h4; first [by exfalso; lia|lra].
Qed.

Lemma wins_up x : wins (x + 1) = wins x + / 2 * ((if (x =? 0)%Z then 1 else 0) + (if (x =? -1)%Z then 1 else 0)).
Proof.
rewrite /wins; case: (Z.ltb_spec 0 (x + 1)) => h1; case: (Z.ltb_spec 0 x) => h2;
  case: (Z.eqb_spec (x + 1) 0) => h3; case: (Z.eqb_spec x 0) => h4; case: (Z.eqb_spec x (-1)) => h5; first [by exfalso; lia|lra].
Qed.

Lemma square N : (A N) ^ 2 = \rsum_(y <- window N) \rsum_(z <- window N) (b y * b z).
Proof. by rewrite /pow Rmult_1_r big_distrl; apply: eq_bigr => y _; rewrite big_distrr. Qed.

Lemma num_opp N d : num N (- d) + num N d = (A N) ^ 2.
Proof.
rewrite square [X in _ + X]/num exchange_big /num -big_split; apply: eq_bigr => y _; rewrite -big_split; apply: eq_bigr => z _ /=.
have -> : (- d + y - z)%Z = (- (d + z - y))%Z by lia.
by rewrite wins_opp; ring.
Qed.

Lemma num_up N d : num N (d + 1) = num N d + / 2 * (meet N d + meet N (d + 1)).
Proof.
rewrite /num /meet -big_split big_distrr -big_split; apply: eq_bigr => y _.
rewrite /spike /= !big_distrr -big_split big_distrr -big_split; apply: eq_bigr => z _ /=.
have -> : (d + 1 + y - z)%Z = (d + y - z + 1)%Z by lia.
have -> : (z =? y + d)%Z = (d + y - z =? 0)%Z by apply/idP/idP => /Z.eqb_eq h; apply/Z.eqb_eq; lia.
have -> : (z =? y + (d + 1))%Z = (d + y - z =? -1)%Z by apply/idP/idP => /Z.eqb_eq h; apply/Z.eqb_eq; lia.
by rewrite wins_up; ring.
Qed.

Lemma num_at N d : num N (Z.of_nat d) =
  / 2 * ((A N) ^ 2 + \rsum_(k < d) (meet N (Z.of_nat k) + meet N (Z.of_nat k + 1))).
Proof.
elim: d => [|d IH]; first by have := num_opp N 0; rewrite big_ord0 /=; lra.
have -> : Z.of_nat d.+1 = (Z.of_nat d + 1)%Z by lia.
by rewrite num_up IH big_ord_recr /=; ring.
Qed.

Lemma A_pos N : 0 < A N.
Proof.
elim: N => [|N IH]; first by rewrite big_seq1; apply: bell_pos.
by rewrite windowS !big_cons; have := bell_pos (Z.of_nat N.+1); have := bell_pos (- Z.of_nat N.+1); lra.
Qed.

Lemma won_at N d : won s2 N (Z.of_nat d) =
  / 2 + / 2 * ((\rsum_(k < d) (meet N (Z.of_nat k) + meet N (Z.of_nat k + 1))) / (A N) ^ 2).
Proof.
rewrite /won -/(num N _) num_at; have := A_pos N; move: (\rsum_(y <- _) _) (\rsum_(k < d) _) => a s h.
by field; lra.
Qed.

Lemma won_opp N d : won s2 N (- d) = 1 - won s2 N d.
Proof.
have h := A_pos N; have e := num_opp N d; rewrite /won -!/(num N _).
have -> : num N (- d) = (A N) ^ 2 - num N d by lra.
by field; lra.
Qed.

Lemma won_ge0 N d : 0 <= won s2 N d.
Proof.
apply: Rmult_le_pos; last by apply/Rlt_le/Rinv_0_lt_compat/pow_lt/A_pos.
have ge0 (s : seq Z) f : (forall z, 0 <= f z) -> 0 <= \rsum_(z <- s) f z.
  by move=> h; elim: s => [|z s IH]; rewrite ?big_nil ?big_cons; [lra|have := h z; lra].
apply: (ge0) => y; apply: (ge0) => z; have := bell_pos y; have := bell_pos z => h1 h2.
apply: Rmult_le_pos; first nra.
by rewrite /wins; case: ifP => _; [|case: ifP => _]; lra.
Qed.

(** ** Noise of more than M *)
Variable M : nat.
Hypothesis halves : 2 <= exp ((2 * INR M + 1) / (2 * s2)).

Lemma bell_halves N : (M <= N)%N -> 2 * b (Z.of_nat N.+1) <= b (Z.of_nat N).
Proof.
move=> /leP /le_INR h.
have e : b (Z.of_nat N) = b (Z.of_nat N.+1) * exp ((2 * INR N + 1) / (2 * s2)).
  by rewrite /bell -exp_plus; congr exp; rewrite -!INR_IZR_INZ S_INR; field; lra.
have : exp ((2 * INR M + 1) / (2 * s2)) <= exp ((2 * INR N + 1) / (2 * s2)).
  by apply: exp_le; apply: Rmult_le_compat_r; [apply/Rlt_le/Rinv_0_lt_compat; lra|lra].
by have := bell_pos (Z.of_nat N.+1); rewrite e; nra.
Qed.

Lemma A_tail n : A M <= A (M + n) /\ A (M + n) + 2 * b (Z.of_nat (M + n)) <= A M + 2 * b (Z.of_nat M).
Proof.
elim: n => [|n [h1 h2]]; first by rewrite addn0; lra.
rewrite addnS windowS !big_cons bell_opp.
by have := bell_halves (leq_addr n M); have := bell_pos (Z.of_nat (M + n).+1); lra.
Qed.

Lemma meet_step N k : meet N k <= meet N.+1 k <= meet N k + 4 * b (Z.of_nat N.+1).
Proof.
have [p hp] : exists p, p = Z.of_nat N.+1 by exists (Z.of_nat N.+1).
rewrite {2 3}/meet windowS !big_cons -hp bell_opp.
have -> : \rsum_(y <- window N) (b y * spike N.+1 (y + k)) = b p * spike N (p - k) + b p * spike N (- p - k) + meet N k.
  rewrite {2 3}/spike /meet !big_distrr -!big_split; apply: eq_bigr => y _ /=.
  rewrite {1}/spike windowS !big_cons -/(spike N (y + k)) -hp bell_opp.
  have -> : (p =? y + k)%Z = (y =? p - k)%Z by apply/idP/idP => /Z.eqb_eq h; apply/Z.eqb_eq; lia.
  have -> : (- p =? y + k)%Z = (y =? - p - k)%Z by apply/idP/idP => /Z.eqb_eq h; apply/Z.eqb_eq; lia.
  by ring.
have b0 := bell_pos p.
have part N' c : 0 <= b p * spike N' c <= b p by have := spike_in N' c; nra.
have := part N.+1 (p + k)%Z; have := part N.+1 (- p + k)%Z; have := part N (p - k)%Z; have := part N (- p - k)%Z; lra.
Qed.

Lemma meet_tail n k : meet M k <= meet (M + n) k /\ meet (M + n) k + 4 * b (Z.of_nat (M + n)) <= meet M k + 4 * b (Z.of_nat M).
Proof.
elim: n => [|n [h1 h2]]; first by rewrite addn0; lra.
rewrite addnS; have := meet_step (M + n) k; have := bell_halves (leq_addr n M).
by have := bell_pos (Z.of_nat (M + n).+1); lra.
Qed.
End Law.

(** ** The limit *)
Lemma cv_between u l c c' m : Un_cv u l -> (forall n, (m <= n)%N -> c <= u n <= c') -> c <= l <= c'.
Proof.
move=> cv h; split; apply: Rnot_lt_le => lt.
  have e0 : c - l > 0 by lra.
  have [N hN] := cv _ e0; have [h1 _] := h (maxn N m) (leq_maxr _ _).
  have /hN : (maxn N m >= N)%coq_nat by apply/leP; apply: leq_maxl.
  by rewrite /R_dist => /Rabs_def2 [h2 h3]; lra.
have e0 : l - c' > 0 by lra.
have [N hN] := cv _ e0; have [_ h1] := h (maxn N m) (leq_maxr _ _).
have /hN : (maxn N m >= N)%coq_nat by apply/leP; apply: leq_maxl.
by rewrite /R_dist => /Rabs_def2 [h2 h3]; lra.
Qed.

Lemma noisy_opp s2 q d : noisy s2 q -> q (- d)%Z = 1 - q d.
Proof.
move=> h; have := CV_plus _ _ _ _ (h d) (h (- d)%Z) => cv.
have [] := @cv_between _ _ 1 1 0%N cv; last by lra.
by move=> n _; rewrite won_opp; lra.
Qed.

(** ** The limit exists *)
Section Limit.
Variable s2 : R.
Hypothesis s2_pos : 0 < s2.
Notation A N := (\rsum_(y <- window N) bell s2 y).

Lemma halves_from : exists M, 2 <= exp ((2 * INR M + 1) / (2 * s2)).
Proof.
have [up_lt _] := archimed s2; exists (Z.to_nat (up s2)).
have u0 : (0 <= up s2)%Z by apply: le_IZR; lra.
have e : INR (Z.to_nat (up s2)) = IZR (up s2) by rewrite INR_IZR_INZ Z2Nat.id.
apply: (Rle_trans _ (partial 1 1)); first by rewrite /partial /term /=; lra.
apply: Rle_trans (exp_lower 1 1%N Rle_0_1) _; apply: exp_le; rewrite e.
apply: (Rmult_le_reg_r (2 * s2)); first lra.
by have -> : (2 * IZR (up s2) + 1) / (2 * s2) * (2 * s2) = 2 * IZR (up s2) + 1 by [field; lra]; lra.
Qed.

Lemma grows_to (u : nat -> R) c : (forall n, u n <= u n.+1) -> (forall n, u n <= c) -> {l | Un_cv u l}.
Proof. by move=> up top; apply: growing_cv => //; exists c => _ [n ->]; apply: top. Qed.

Lemma upto (u : nat -> R) M c : (forall n, u n <= u n.+1) -> (forall n, u (M + n)%N <= c) -> forall n, u n <= c.
Proof.
move=> up top n; apply: Rle_trans (top n); elim: M {top} => [|M IH]; first exact: Rle_refl.
by rewrite addSn; apply: Rle_trans IH (up _).
Qed.

Lemma const_cv c : Un_cv (fun _ => c) c.
Proof. by move=> e he; exists 0%N => n _; rewrite /R_dist Rminus_diag_eq // Rabs_R0. Qed.

Lemma same_cv (u v : nat -> R) l : (forall n, u n = v n) -> Un_cv v l -> Un_cv u l.
Proof. by move=> e cv eps he; have [N h] := cv eps he; exists N => n hn; rewrite e; apply: h. Qed.

Lemma A_cv : exists2 l, Un_cv (fun N => A N) l & 0 < l.
Proof.
have [M hM] := halves_from.
have up n : A n <= A n.+1.
  by rewrite windowS !big_cons; have := bell_pos s2 (Z.of_nat n.+1); have := bell_pos s2 (- Z.of_nat n.+1); lra.
have [l cv] : {l | Un_cv (fun N => A N) l}.
  apply: (@grows_to _ (A M + 2 * bell s2 (Z.of_nat M))) => //; apply: (@upto _ M) => // n.
  by have [_] := A_tail s2_pos hM n; have := bell_pos s2 (Z.of_nat (M + n)); lra.
exists l => //; apply: Rlt_le_trans (A_pos s2 0) _; exact: (growing_ineq _ _ up cv 0%N).
Qed.

Lemma meet_cv k : exists l, Un_cv (fun N => meet s2 N k) l.
Proof.
have [M hM] := halves_from; have up n : meet s2 n k <= meet s2 n.+1 k by have [] := meet_step s2_pos n k.
have [l cv] : {l | Un_cv (fun N => meet s2 N k) l}; last by exists l.
apply: (@grows_to _ (meet s2 M k + 4 * bell s2 (Z.of_nat M))) => //; apply: (@upto (fun N => meet s2 N k) M) => // n.
by have [_] := meet_tail s2_pos hM n k; have := bell_pos s2 (Z.of_nat (M + n)); lra.
Qed.

Lemma rise_cv d : exists l, Un_cv (fun N => \rsum_(k < d) (meet s2 N (Z.of_nat k) + meet s2 N (Z.of_nat k + 1))) l.
Proof.
elim: d => [|d [l IH]].
  by exists 0; apply: same_cv (const_cv 0) => n; rewrite big_ord0.
have [l1 h1] := meet_cv (Z.of_nat d); have [l2 h2] := meet_cv (Z.of_nat d + 1).
by exists (l + (l1 + l2)); apply: same_cv (CV_plus _ _ _ _ IH (CV_plus _ _ _ _ h1 h2)) => n; rewrite big_ord_recr.
Qed.

Lemma won_cv d : exists l, Un_cv (fun N => won s2 N (Z.of_nat d)) l.
Proof.
have [a ha a0] := A_cv; have [r hr] := rise_cv d.
have inv : Un_cv (fun N => / (A N) ^ 2) (/ a ^ 2).
  have c : continuity_pt (fun x => / x ^ 2) a by apply: derivable_continuous_pt; reg; apply: pow_nonzero; lra.
  exact: (continuity_seq (fun x => / x ^ 2) _ _ c ha).
have cv := CV_plus _ _ _ _ (const_cv (/ 2)) (CV_mult _ _ _ _ (const_cv (/ 2)) (CV_mult _ _ _ _ hr inv)).
by exists (/ 2 + / 2 * (r * / a ^ 2)); apply: same_cv cv => n; rewrite won_at.
Qed.

(** So the law of discrete Gaussian noise is there, for each lead. *)
Theorem noisy_at d : exists l, Un_cv (fun N => won s2 N d) l.
Proof.
have [l h] := won_cv (Z.abs_nat d); rewrite Zabs2Nat.id_abs in h; case: (Z.abs_spec d) => -[_ e]; rewrite e in h; first by exists l.
by exists (1 - l); apply: same_cv (CV_minus _ _ _ _ (const_cv 1) h) => n; rewrite won_opp; ring.
Qed.
End Limit.
