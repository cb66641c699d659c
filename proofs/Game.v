(** Many answers: the value of the game bounds delta of every adaptive sequence.
    Code: accountant/game.Game, doc.go. Dominate.v and Price.v say what errs upward there. *)
From Coq Require Import Reals Lra Psatz.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions Sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Section Game.
Variable O : finType.
(** A pair is the answer's law under two neighbouring histograms, classes matched. *)
Definition laws := ((O -> R) * (O -> R))%type.
Variable pairs : seq laws.

(** The largest of the values and 0. *)
Fixpoint best (f : laws -> R) (ps : seq laws) : R :=
  if ps is p :: ps' then Rmax (f p) (best f ps') else 0.

(** F_n(a, b) = a W_n(b / a) with no division: the best that n more answers can do
    from a transcript of probabilities a and b. W_Q(e) = F_Q(1, e). *)
Fixpoint value (n : nat) (a b : R) : R :=
  if n is n'.+1
  then Rmax (value n' a b) (best (fun p => \rsum_o value n' (a * p.1 o) (b * p.2 o)) pairs)
  else positive (a - b).

(** An adversary knows all answers so far and picks the next pair, or stops. *)
Inductive strategy : Type := Stop | Ask (p : laws) (next : O -> strategy).
Fixpoint allowed (n : nat) (s : strategy) : Prop :=
  match s with
  | Stop => True
  | Ask p next => if n is n'.+1 then List.In p pairs /\ forall o, allowed n' (next o) else False
  end.

(** The sum of positive parts of a P(transcript) - b P'(transcript). *)
Fixpoint spent (s : strategy) (a b : R) : R :=
  match s with
  | Stop => positive (a - b)
  | Ask p next => \rsum_o spent (next o) (a * p.1 o) (b * p.2 o)
  end.

Lemma best_ge f p ps : List.In p ps -> f p <= best f ps.
Proof.
elim: ps => //= r ps IH [->|/IH h]; first exact: Rmax_l.
exact: Rle_trans h (Rmax_r _ _).
Qed.

Lemma value_stop n a b : positive (a - b) <= value n a b.
Proof. elim: n => [|n IH] /=; [exact: Rle_refl|exact: Rle_trans IH (Rmax_l _ _)]. Qed.

(** For every strategy of at most Q answers. *)
Theorem game_bounds Q s a b : allowed Q s -> spent s a b <= value Q a b.
Proof.
elim: s Q a b => [|p next IH] Q a b /=; first by move=> _; apply: value_stop.
case: Q => // Q [hp hn] /=.
apply: Rle_trans (Rmax_r _ _); apply: Rle_trans (best_ge _ hp).
by apply: rsum_le => o _; apply: IH (hn o).
Qed.

(** ** What [spent] means: hockey-stick divergence of the laws of transcripts *)
(** Transcripts of exactly Q answers: stopping early is asking nothing, seen as a
    fixed answer [o0]. *)
Variable o0 : O.
Fixpoint run_law (side : bool) (s : strategy) (v : seq O) : R :=
  match s, v with
  | Stop, v => if all (fun o => o == o0) v then 1 else 0
  | Ask p next, o :: v' => (if side then p.1 o else p.2 o) * run_law side (next o) v'
  | Ask _ _, [::] => 0
  end.

Lemma sum_tupleS Q (F : Q.+1.-tuple O -> R) :
  \rsum_v F v = \rsum_o \rsum_v F [tuple of o :: (v : Q.-tuple O)].
Proof.
rewrite (reindex (fun c : O * Q.-tuple O => [tuple of c.1 :: c.2])) /=; last first.
  exists (fun v => (thead v, [tuple of behead v])) => [[b v]|v] _; last by rewrite [RHS]tuple_eta.
  by congr pair; apply: val_inj.
by rewrite -(pair_bigA _ (fun b (v : Q.-tuple O) => F [tuple of b :: v])).
Qed.

Lemma spent_is Q s a b : allowed Q s ->
  \rsum_v positive (a * run_law true s (v : Q.-tuple O) - b * run_law false s v) = spent s a b.
Proof.
elim: Q s a b => [|Q IH] [|p next] a b //= h.
- rewrite (big_pred1 (in_tuple [::])) => [|v]; last by apply/esym/eqP/val_inj; case: v => [[]].
  by rewrite /= !Rmult_1_r.
- rewrite (bigD1 [tuple of nseq Q.+1 o0]) //= big1 => [|v hv]; last first.
    rewrite [all _ _](negbTE _) ?Rmult_0_r ?Rminus_0_r ?(positive_0 (Rle_refl 0)) //.
    apply: contra hv => /all_pred1P e; apply/eqP/val_inj.
    by rewrite [LHS]e size_tuple.
  by rewrite eqxx all_nseq eqxx orbT !Rmult_1_r Rplus_0_r.
- case: h => _ hn; rewrite sum_tupleS; apply: eq_bigr => o _.
  by rewrite -(IH _ _ _ (hn o)); apply: eq_bigr => v _ /=; rewrite !Rmult_assoc.
Qed.

(** Every set of transcripts of every strategy. *)
Theorem game_private Q s e : allowed Q s ->
  close e (value Q 1 e) (fun v : Q.-tuple O => run_law true s v) (fun v => run_law false s v).
Proof.
move=> hs; apply: close_positive.
apply: Rle_trans (game_bounds 1 e hs); rewrite -(spent_is 1 e hs).
by apply: rsum_le => v _; rewrite Rmult_1_l; apply: Rle_refl.
Qed.

(** ** The price with one argument: value n a b = a W_n(b/a) *)
Lemma rmax_scale c x y : 0 <= c -> Rmax (c * x) (c * y) = c * Rmax x y.
Proof. by move=> hc; rewrite RmaxRmult. Qed.

Lemma value_scale c n a b : 0 <= c -> value n (c * a) (c * b) = c * value n a b.
Proof.
move=> hc; elim: n a b => [|n IH] a b /=.
  by rewrite /positive -(rmax_scale _ _ hc) Rmult_0_r; congr Rmax; ring.
rewrite -(rmax_scale _ _ hc) IH; congr Rmax; elim: pairs => [|p ps IHp] /=; first by ring.
rewrite -(rmax_scale _ _ hc) IHp big_distrr /=; congr Rmax.
by apply: eq_bigr => o _; rewrite !Rmult_assoc IH.
Qed.

Definition W (n : nat) (x : R) : R := value n 1 x.
Theorem value_W n a b : 0 < a -> value n a b = a * W n (b / a).
Proof.
move=> ha; rewrite /W -value_scale; last exact: Rlt_le.
by congr value; field; lra.
Qed.

(** A larger price for fewer answers is none: the price of Q covers every smaller number. *)
Theorem value_more n a b : value n a b <= value n.+1 a b.
Proof. exact: Rmax_l. Qed.
End Game.
