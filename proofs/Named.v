(** A table for many answers that tells the classes apart, as t anchored chains of two classes do, and one of
    several labels with masses each: from integers to differential privacy. A pair is two votes about one label,
    near each other; each is one of the priced pairs, whatever the rule by which the table was made.
    Code: plurality/answers.Certify, CertifyEach, Problem.Named, Problem.Labels. *)
From Coq Require Import Reals Lra Lia ZArith Psatz.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Plurality ManyClasses Game Dominate Price Answers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** The checker *)
(** Every histogram of n votes for C classes. *)
Fixpoint compositions (C n : nat) : seq (seq nat) :=
  if C is C'.+1
  then flatten [seq [seq a :: l | l <- compositions C' (n - a)] | a <- iota 0 n.+1]
  else if n is 0 then [:: [::]] else [::].

(** The rows of [x] are a label, its histogram, and the masses of *no class* and of each class. *)
Definition row (x : table) (label : nat) (h : seq nat) : seq Z := masses x.(rows) (label :: h).
Definition named_histograms (x : table) : seq (seq nat) :=
  flatten [seq compositions x.(C) n | n <- iota 0 x.(K).+1 & fits x n].
Definition row_fits (x : table) (label : nat) (h : seq nat) : bool :=
  [&& size (row x label h) == x.(C).+1, all (Z.leb 0) (row x label h) & Z.eqb (foldr Z.add 0%Z (row x label h)) x.(one)].
Definition named_items (x : table) (label : nat) (h h' : seq nat) : seq item :=
  [seq (p.1, p.2, x.(one)) | p <- zip (row x label h) (row x label h')].
Definition named_list (x : table) (labels : nat) : seq (seq item) :=
  flatten [seq flatten [seq [seq named_items x label h h' | h' <- vectors x.(t) x.(t) h & fits x (sumn h')] |
                        h <- named_histograms x] | label <- iota 0 labels].

Definition named_price (x : table) (labels : nat) (more : seq (seq item)) (Q : nat) (S T : Z) (zs : seq Z) : bool :=
  [&& Z.ltb 0 x.(one), all (fun label => all (row_fits x label) (named_histograms x)) (iota 0 labels) &
      priced x.(tc) x.(tf) x.(terms) x.(pn) x.(pd) (named_list x labels ++ more) Q S T zs].

(** ** What it says *)
(** The answer to votes about a label. *)
Definition named_answer (x : table) (label : nat) (v : x.(K).-tuple (option 'I_x.(C))) (o : answers x.(C)) : R :=
  IZR (nth 0%Z (row x label (hist v)) (if o is Some c then c.+1 else 0%N)) / IZR x.(one).
(** Each question is about a label, of two votes of which at most t differ. *)
Definition named_questions (x : table) (labels : nat) : seq (laws (answers x.(C))) :=
  flatten [seq about x.(t) (@proper x) (named_answer label) | label <- iota 0 labels].

Lemma compositions_all (h : seq nat) : h \in compositions (size h) (sumn h).
Proof.
elim: h => // a h IH; apply/flatten_mapP; exists a; first by rewrite mem_iota add0n ltnS /= leq_addr.
by apply/map_f; rewrite /= addKn.
Qed.

Section Sound.
Variables (x : table) (labels : nat) (more : seq (seq item)) (Q : nat) (S T : Z) (zs : seq Z).
Hypothesis yes : named_price x labels more Q S T zs = true.
Notation KK := x.(K).
Notation CC := x.(C).
Let one0 : 0 < IZR x.(one). Proof. by case/and3P: yes => /Z.ltb_lt/IZR_lt. Qed.

Lemma listed_histogram (v : KK.-tuple (option 'I_CC)) : proper v -> tval (hist v) \in named_histograms x.
Proof.
move=> /proper_fits f; apply/flatten_mapP; exists (votes_in (hist v)).
  rewrite mem_filter f mem_iota add0n ltnS /=; by have [] := votes_hist v.
by rewrite -sumn_votes; have := compositions_all (hist v); rewrite size_tuple.
Qed.

Lemma row_ok label (v : KK.-tuple (option 'I_CC)) : label \in iota 0 labels -> proper v -> row_fits x label (hist v).
Proof. by move=> hl c; case/and3P: yes => _ /allP /(_ _ hl) /allP /(_ _ (listed_histogram c)). Qed.

Notation place o := (if o is Some c then (nat_of_ord c).+1 else 0%N).
Lemma row_sum (A : Type) (a0 : A) (m : seq A) (F : A -> R) : size m = CC.+1 ->
  \big[Rplus/0]_(o : answers CC) F (nth a0 m (place o)) = foldr Rplus 0 [seq F a | a <- m].
Proof.
case: m => // a m [sz]; rewrite (bigD1 None) //=; congr Rplus.
rewrite (reindex_omap Some id) //= => [|[c|]] //.
have -> (s : seq R) : foldr Rplus 0 s = \rsum_(b <- s) b by elim: s => [|b s IH] /=; rewrite ?big_nil // big_cons IH.
by rewrite big_map (big_nth a0) big_mkord sz; apply: eq_bigl => c; rewrite eqxx.
Qed.

Lemma named_are p : List.In p (named_questions x labels) -> exists label (v v' : KK.-tuple (option 'I_CC)),
  [/\ label \in iota 0 labels, p = (named_answer label v, named_answer label v') & [/\ proper v, proper v' & near_votes x.(t) v v']].
Proof.
move=> hp; have [ps hps hq] := out_flatten hp; have [label hl e] := out_map hps; rewrite e in hq.
by have [v [v' [ep c c' near]]] := about_are hq; exists label, v, v'; split=> //; apply: out_list.
Qed.

Lemma named_in label (v v' : KK.-tuple (option 'I_CC)) : label \in iota 0 labels -> proper v -> proper v' ->
  near_votes x.(t) v v' -> List.In (named_answer label v, named_answer label v') (named_questions x labels).
Proof.
move=> hl c c' near; apply: (@in_flatten _ _ (about x.(t) (@proper x) (named_answer label))); last exact: about_in.
by apply: (in_map (fun l => about x.(t) (@proper x) (named_answer l))); apply: in_list.
Qed.

Lemma named_lawful p : List.In p (named_questions x labels) ->
  (forall o, 0 <= p.1 o) /\ (forall o, 0 <= p.2 o) /\ \rsum_o p.1 o = 1.
Proof.
case/named_are => label [v [v' [hl -> [c c' _]]]] /=.
have ge0 (w : KK.-tuple (option 'I_CC)) o : proper w -> 0 <= named_answer label w o.
  move=> cw; have /and3P [_ /(all_nthP 0%Z) a _] := row_ok hl cw; apply: Rmult_le_pos; last exact/Rlt_le/Rinv_0_lt_compat.
  apply: IZR_le; set i := (if o is Some _ then _ else _).
  have [lt|ge] := ltnP i (size (row x label (hist w))); first by apply/Z.leb_le; apply: a.
  by rewrite nth_default //; apply: Z.le_refl.
split=> [o|]; first exact: ge0.
split=> [o|]; first exact: ge0.
have /and3P [/eqP sz _ /Z.eqb_eq e] := row_ok hl c.
rewrite (row_sum 0%Z (fun a => IZR a / IZR x.(one)) sz).
have -> : foldr Rplus 0 [seq IZR a / IZR x.(one) | a <- row x label (hist v)] =
    IZR (foldr Z.add 0%Z (row x label (hist v))) / IZR x.(one).
  elim: (row _ _ _) => [|a m IH] /=; first by rewrite /Rdiv Rmult_0_l.
  by rewrite IH plus_IZR; field; lra.
by rewrite e; field; lra.
Qed.

Lemma named_mirrored p : List.In p (named_questions x labels) -> List.In (p.2, p.1) (named_questions x labels).
Proof.
by case/named_are => label [v [v' [hl -> [c c' near]]]]; apply: named_in; rewrite // /near_votes moved_sym.
Qed.

(** Every pair of neighbouring votes within reach t, about every label, is one of the priced pairs. *)
Theorem named_listed p : List.In p (named_questions x labels) -> exists2 xs, List.In xs (named_list x labels) &
  forall F : R -> R -> R, \rsum_o F (p.1 o) (p.2 o) =
    foldr Rplus 0 [seq let '(a, b, d) := o in F (IZR a / IZR d) (IZR b / IZR d) | o <- xs].
Proof.
case/named_are => label [v [v' [hl -> [c c' near]]]].
exists (named_items x label (hist v) (hist v')).
  apply: in_flatten; first by apply: in_map; apply: in_list hl.
  apply: in_flatten; first by apply: in_map; apply: in_list; apply: listed_histogram c.
  apply: in_map; apply: in_list; rewrite mem_filter sumn_votes (proper_fits c') /=.
  have up := gained_moved v v'; have down := gained_moved v' v.
  apply: vectors_all; rewrite ?size_tuple // (@gains_gained _ (hist _) (hist _)) -/(gained _ _).
    exact: leq_trans up near.
  by apply: leq_trans down _; rewrite moved_sym.
move=> F; have /and3P [/eqP s _ _] := row_ok hl c; have /and3P [/eqP s' _ _] := row_ok hl c'.
rewrite /named_items -map_comp.
rewrite -(row_sum (0%Z, 0%Z) (fun q => F (IZR q.1 / IZR x.(one)) (IZR q.2 / IZR x.(one)))) ?size_zip ?s ?s' ?minnn //.
by apply: eq_bigr => o _; rewrite nth_zip ?s ?s'.
Qed.

(** Every adaptive strategy of at most Q questions, about any labels, every set of transcripts. *)
Theorem named_ok o0 s : allowed (named_questions x labels) Q s -> close2 (exp (total x)) (delta x)
  (fun v : Q.-tuple (answers CC) => run_law o0 true s v) (fun v => run_law o0 false s v).
Proof.
have /and3P [_ _ pr] := yes.
apply: (priced_ok named_lawful named_mirrored pr) => p /named_listed [xs hxs e].
by exists xs; [exact: in_app|exact: below_items (fun F _ => e F)].
Qed.
End Sound.
