(** Many classes: every private mechanism on the votes becomes, by the mean over the names of the
    teachers and of the classes, a function of the sorted histogram and of a class's votes, as private
    and as often right. So multipliers of privacy rows bound how often any of them is right.
    Code: plurality (doc.go, "The mechanism"), plurality.System.UpperBound; _plurality.bound. *)
From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Plurality.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Section Names.
Variables K C : nat.
Notation votes := (K.-tuple 'I_C).
Notation answers := (answers C).
Notation names := ({perm 'I_K} * {perm 'I_C})%type.
Implicit Types (s r : names) (v w : votes) (o : answers).

(** ** The teachers and the classes by other names *)
Definition act s v : votes := [tuple s.2 (tnth v (s.1 i)) | i < K].
Definition after s r : names := (s.1 * r.1, r.2 * s.2)%g.

Lemma act_act s r v : act s (act r v) = act (after s r) v.
Proof. by apply: eq_from_tnth => i; rewrite !tnth_mktuple /= !permM. Qed.

Lemma act_inj s : injective (act s).
Proof.
move=> v w e; apply: eq_from_tnth => i; have := congr1 (fun x => tnth x (s.1^-1 i)%g) e.
by rewrite !tnth_mktuple permKV => /perm_inj.
Qed.

Lemma after_inj r : injective (fun s => after s r).
Proof. by move=> [a b] [a' b'] [/mulIg -> /mulgI ->]. Qed.

Lemma countE v c : count_mem c v = (\sum_(i < K) (tnth v i == c))%N.
Proof. by rewrite -sum1_count big_tuple big_mkcond. Qed.

Lemma count_act s v c : count_mem (s.2 c) (act s v) = count_mem c v.
Proof.
rewrite !countE [RHS](reindex_inj (@perm_inj _ s.1)) /=.
by apply: eq_bigr => i _; rewrite tnth_mktuple (inj_eq perm_inj).
Qed.

Lemma tally_act s v : permute s.2 (tally (act s v)) = tally v.
Proof. by apply: eq_from_tnth => c; rewrite !tnth_mktuple count_act. Qed.

Lemma sorted_act s v : sorted_tally (act s v) = sorted_tally v.
Proof. by rewrite /sorted_tally -(tally_act s v) sort_permute. Qed.

Lemma moved_act s v w : moved (act s v) (act s w) = moved v w.
Proof.
rewrite /moved -[RHS](card_preimset _ (@perm_inj _ s.1)) /=; apply: eq_card => i.
by rewrite !inE !tnth_mktuple (inj_eq perm_inj).
Qed.

Lemma merit_act a s v o : merit a (act s v) (omap s.2 o) = merit a v o.
Proof.
case: o => [c|] //=; rewrite (count_act s v c); congr (if _ then _ else _).
by apply/forallP/forallP => h d; [have := h (s.2 d)|have := h (s.2^-1 d)%g];
  rewrite ?(count_act s v) // -{2}(permKV s.2 d) (count_act s v).
Qed.

(** Votes with the same sorted histogram are the same votes by other names, and so are classes with
    the same number of votes. *)
Notation key v o := (omap (tnth (tally v)) o).

Lemma other_names v w (o o' : answers) : sorted_tally v = sorted_tally w -> key v o = key w o' ->
  exists s, w = act s v /\ o' = omap s.2 o.
Proof.
move=> same keys.
have pe : perm_eq (tally v) (tally w).
  by apply: (@perm_trans _ (sorted_tally v)); [rewrite perm_sym perm_sort|rewrite same perm_sort].
have [r hr] : exists r : {perm 'I_C}, (forall c, tnth (tally v) c = tnth (tally w) (r c)) /\ o' = omap r o.
  have /tuple_permP [r e] := pe.
  have er c : tnth (tally v) c = tnth (tally w) (r c).
    by rewrite (_ : tally v = [tuple tnth (tally w) (r i) | i < C]) ?tnth_mktuple //; apply: val_inj.
  case: o o' keys => [c|] [c'|] //= keys; last by exists r.
  case: keys => keys; exists (r * tperm (r c) c')%g; split=> [d|]; rewrite permM ?tpermL //.
  by rewrite er; case: tpermP => [-> |-> |//]; rewrite -er keys.
have [s e] : exists s : {perm 'I_K}, w = [tuple tnth [tuple r (tnth v i) | i < K] (s i) | i < K].
  have /tuple_permP [s e] : perm_eq w [tuple r (tnth v i) | i < K]; last by exists s; apply: val_inj.
  have -> : [tuple r (tnth v i) | i < K] = act (1%g, r) v.
    by apply: eq_from_tnth => i; rewrite !tnth_mktuple /= perm1.
  apply/allP => d _; apply/eqP; have [er _] := hr; have := er (r^-1 d)%g; rewrite permKV !tnth_mktuple => <-.
  by have := @count_act (1%g, r) v (r^-1 d)%g; rewrite /= permKV.
exists (s, r); split; last by have [] := hr.
by rewrite e; apply: eq_from_tnth => i; rewrite !tnth_mktuple.
Qed.

(** ** The mean over all names *)
Variable M : votes -> dist answers.
Notation N := (INR #|{: names}|).

Definition mean v o : R := \big[Rplus/0]_(s : names) (/ N * M (act s v) (omap s.2 o)).

Lemma names_pos : 0 < N.
Proof. by apply: lt_0_INR; apply/ltP/card_gt0P; exists (1%g, 1%g). Qed.
Lemma share_ge0 : 0 <= / N. Proof. exact/Rlt_le/Rinv_0_lt_compat/names_pos. Qed.
Lemma shares : \big[Rplus/0]_(s : names) / N = 1.
Proof. by rewrite rsum_const; apply: Rinv_r; apply: Rgt_not_eq; apply: names_pos. Qed.

Lemma mean_ge0 v o : 0 <= mean v o.
Proof. by apply: rsum_ge0 => s _; apply: Rmult_le_pos; [apply: share_ge0|apply: mass_ge0]. Qed.

Lemma mean_sum v : \rsum_o mean v o = 1.
Proof.
rewrite /mean exchange_big -[RHS]shares; apply: eq_bigr => s _.
by rewrite -big_distrr /= (sum_permute s.2 (M (act s v))) mass_sum Rmult_1_r.
Qed.

Lemma mean_act r v o : mean (act r v) (omap r.2 o) = mean v o.
Proof.
rewrite /mean [RHS](reindex_inj (@after_inj r)); apply: eq_bigr => s _; rewrite act_act; congr (_ * M _ _).
by case: o => [c|] //=; rewrite permM.
Qed.

(** It is as private, *)
Lemma close_names (T : finType) (f : T -> T) e d (P P' : T -> R) : injective f ->
  close e d P P' -> close e d (fun x => P (f x)) (fun x => P' (f x)).
Proof.
move=> inj h S; have := h (f @: S); rewrite /Pr.
by rewrite !big_imset /=; [|move=> x y _ _; apply: inj..].
Qed.

Lemma omap_inj (r : {perm 'I_C}) : injective (omap r : answers -> answers).
Proof. by move=> [x|] [y|] //= [] /perm_inj ->. Qed.

Lemma mean_private t eps delta : private (near_votes t) eps delta (fun v => M v) ->
  forall v w, near_votes t v w -> close (exp eps) delta (mean v) (mean w).
Proof.
move=> h v w near; apply: (close_mix (fun _ => share_ge0) shares) => s.
apply: (@close_names _ (omap s.2) _ _ (M (act s v)) (M (act s w))); first exact: omap_inj.
by have [] := h (act s v) (act s w); rewrite // /near_votes moved_act.
Qed.

(** and as often right. *)
Lemma hits_mean a (u : votes -> R) : (forall s v, u (act s v) = u v) -> hits a u mean = hits a u (fun v => M v).
Proof.
move=> hu; rewrite -[RHS]Rmult_1_l -[X in X * _]shares big_distrl /= /hits.
rewrite (eq_bigr (fun v => \big[Rplus/0]_(s : names) (/ N * (u (act s v) *
  \rsum_o (merit a (act s v) (omap s.2 o) * M (act s v) (omap s.2 o)))))) => [|v _].
  rewrite exchange_big; apply: eq_bigr => s _; rewrite -big_distrr /=; congr Rmult.
  rewrite [RHS](reindex_inj (@act_inj s)) /=; apply: eq_bigr => v _; congr Rmult.
  by rewrite (sum_permute s.2 (fun o => merit a (act s v) o * M (act s v) o)).
have -> : \rsum_o (merit a v o * mean v o) =
    \rsum_o \big[Rplus/0]_(s : names) (/ N * (merit a (act s v) (omap s.2 o) * M (act s v) (omap s.2 o))).
  apply: eq_bigr => o _; rewrite /mean big_distrr /=; apply: eq_bigr => s _; rewrite merit_act; ring.
rewrite exchange_big big_distrr /=; apply: eq_bigr => s _; rewrite hu -big_distrr /=; ring.
Qed.

(** ** It depends on the sorted histogram and the class's votes *)
Definition at_key (l : seq nat) (k : option nat) : R :=
  if [pick x : votes * answers | (sorted_tally x.1 == l) && (key x.1 x.2 == k)] is Some x then mean x.1 x.2 else 0.

Lemma at_key_ge0 l k : 0 <= at_key l k.
Proof. by rewrite /at_key; case: pickP => [x _|_]; [apply: mean_ge0|apply: Rle_refl]. Qed.

Lemma meanE v o : mean v o = at_key (sorted_tally v) (key v o).
Proof.
rewrite /at_key; case: pickP => [[w o'] /= /andP [/eqP e /eqP ek]|/(_ (v, o))] /=; last by rewrite !eqxx.
by have [s [-> ->]] := other_names e ek; rewrite mean_act.
Qed.
End Names.
