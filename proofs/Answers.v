(** A table for many answers of sorted histograms, from integers to differential privacy: every pair of votes
    that are near is one of the priced pairs.
    Code: plurality/answers.Certify, CertifyEach; python/darrm/_answers.py. *)
From Coq Require Import Reals Lra Lia ZArith Psatz.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Plurality ManyClasses Game Dominate Price.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** Tables *)
Definition shared (h : seq nat) (o : option nat) : Z := if o is Some v then Z.of_nat (count_mem v h) else 1%Z.
(** The answer's item under h and h', whose sorted forms are l and l'. *)
Definition item_of (x : table) (l l' h h' : seq nat) (o o' : option nat) : item :=
  (group x l o * shared h' o', group x l' o' * shared h o, x.(one) * (shared h o * shared h' o'))%Z.
Definition items_of (x : table) (h h' : seq nat) : seq item :=
  let l := sort geq h in let l' := sort geq h' in
  item_of x l l' h h' None None :: [seq item_of x l l' h h' (Some p.1) (Some p.2) | p <- zip h h'].
Definition all_items (x : table) : seq (seq item) :=
  flatten [seq [seq items_of x l l' | l' <- vectors x.(t) x.(t) l & fits x (sumn l')] |
           l <- histograms x].

(** [more] may stand for the table's own. *)
Definition price (x : table) (more : seq (seq item)) (Q : nat) (S T : Z) (zs : seq Z) : bool :=
  private x && priced x.(tc) x.(tf) x.(terms) x.(pn) x.(pd) (all_items x ++ more) Q S T zs.

(** Votes of which none is none, unless votes may be. *)
Definition proper (x : table) (v : x.(K).-tuple (option 'I_x.(C))) : bool := x.(missing) || (None \notin v).
(** The questions of the game: such votes, at most t of them changed. *)
Definition questions (x : table) : seq (laws (answers x.(C))) := about x.(t) (@proper x) (plurality (mass_of x)).

Section Sound.
Variable x : table.
Variables (more : seq (seq item)) (Q : nat) (S T : Z) (zs : seq Z).
Hypothesis yes : price x more Q S T zs = true.
Notation g := (mass_of x).
Notation KK := x.(K).
Notation CC := x.(C).
Let hp : private x = true. Proof. by case/andP: yes. Qed.
Let one0 : 0 < IZR x.(one). Proof. exact: one_pos hp. Qed.

Lemma shared_real (h : histogram CC) o : IZR (shared h (omap (tnth h) o)) = INR (sharing h o).
Proof. by rewrite INR_IZR_INZ; case: o. Qed.

(** An item has the probabilities of its answer. *)
Lemma item_ok (h h' : histogram CC) o (F : R -> R -> R) :
  (let '(a, b, d) := item_of x (sort geq h) (sort geq h') h h' (omap (tnth h) o) (omap (tnth h') o) in
   F (IZR a / IZR d) (IZR b / IZR d)) = F (prob g h o) (prob g h' o).
Proof.
have p := one0; have s := sharing_pos h o; have s' := sharing_pos h' o.
rewrite /item_of /prob /mass_of !mult_IZR !shared_real.
by congr F; field; lra.
Qed.

Lemma items_law (h h' : histogram CC) (F : R -> R -> R) :
  foldr Rplus 0 [seq let '(a, b, d) := o in F (IZR a / IZR d) (IZR b / IZR d) | o <- items_of x h h'] =
  \rsum_o F (prob g h o) (prob g h' o).
Proof.
rewrite (bigD1 None) //= -(item_ok h h' None F) /=; congr Rplus.
have -> (s : seq R) : foldr Rplus 0 s = \rsum_(a <- s) a.
  by elim: s => [|a s IH] /=; rewrite ?big_nil // big_cons IH.
rewrite !big_map [RHS](reindex_omap Some id) //= => [|[c|]] //.
rewrite (big_tuple _ _ [tuple of zip h h']) /=; apply: eq_big => c; first by rewrite eqxx.
move=> _; rewrite (tnth_nth (0%N, 0%N)) /= nth_zip ?size_tuple // -!(tnth_nth 0%N) /=.
by rewrite -(item_ok h h' (Some c) F).
Qed.

Lemma properE (v : KK.-tuple (option 'I_CC)) : proper v -> ~~ x.(missing) -> complete v.
Proof. by rewrite /proper; case: (x.(missing)). Qed.

Lemma proper_fits (v : KK.-tuple (option 'I_CC)) : proper v -> fits x (votes_in (hist v)).
Proof.
have [few all] := votes_hist v; rewrite /proper /fits.
by case: (x.(missing)) => //= c; apply/eqP/all.
Qed.

Lemma questions_lawful p : List.In p (questions x) ->
  (forall o, 0 <= p.1 o) /\ (forall o, 0 <= p.2 o) /\ \rsum_o p.1 o = 1.
Proof.
case/about_are => v [v' [-> c c' _]] /=; have [_ law] := private_ok hp.
by have [h1 h2] := law v (properE c); have [h3 _] := law v' (properE c').
Qed.

Lemma questions_listed p : List.In p (questions x) -> exists2 xs, List.In xs (all_items x) &
  forall F : R -> R -> R, \rsum_o F (p.1 o) (p.2 o) =
    foldr Rplus 0 [seq let '(a, b, d) := o in F (IZR a / IZR d) (IZR b / IZR d) | o <- xs].
Proof.
case/about_are => v [v' [-> c c' near]].
have [s e] := sort_exists (hist v).
exists (items_of x (permute s (hist v)) (permute s (hist v'))); last first.
  move=> F; rewrite items_law -(sum_permute s) /=; apply: eq_bigr => o _.
  by rewrite /plurality !prob_permute.
have k := proper_fits c; have k' := proper_fits c'.
have hl : tval (permute s (hist v)) \in histograms x.
  apply: in_histograms; last by rewrite votes_permute.
  by rewrite e; apply: sort_sorted => a b; apply: leq_total.
apply: in_flatten; first by apply: in_map; apply: in_list hl.
apply: in_map; apply: in_list; rewrite mem_filter sumn_votes votes_permute k' /=.
have up := gained_moved v v'; have down := gained_moved v' v.
apply: vectors_all; rewrite ?size_tuple // (@gains_gained _ (permute s _) (permute s _)).
  by rewrite -/(gained _ _) gained_permute; apply: leq_trans up near.
by rewrite -/(gained _ _) gained_permute; apply: leq_trans down _; rewrite moved_sym.
Qed.

(** Every adaptive strategy of at most Q questions, every set of transcripts. *)
Theorem price_ok o0 s : allowed (questions x) Q s -> close2 (exp (total x)) (delta x)
  (fun v : Q.-tuple (answers CC) => run_law o0 true s v) (fun v => run_law o0 false s v).
Proof.
have /andP [_ pr] := yes.
apply: (priced_ok questions_lawful _ pr) => p; first exact: about_mirrored.
case/questions_listed => xs hxs e; exists xs; first exact: in_app.
exact: below_items (fun F _ => e F).
Qed.
End Sound.
