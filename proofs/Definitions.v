(** What the promises of darrm mean.  To be read by people: nothing is proved here but that the
    objects exist.  Code: packages constraints, gamma, plurality, ensemble. *)
From Coq Require Import Reals Lra.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(** ** Finite sums and products of real numbers
    Coq's reals need no MathComp structure, which would cost an axiom of choice: that + and * are
    monoids is enough for MathComp's big operators. *)
Lemma RplusA : associative Rplus. Proof. by move=> x y z; rewrite Rplus_assoc. Qed.
Lemma RmultA : associative Rmult. Proof. by move=> x y z; rewrite Rmult_assoc. Qed.
Canonical Rplus_law := Monoid.Law RplusA Rplus_0_l Rplus_0_r.
Canonical Rplus_com := Monoid.ComLaw Rplus_comm.
Canonical Rmult_law := Monoid.Law RmultA Rmult_1_l Rmult_1_r.
Canonical Rmult_com := Monoid.ComLaw Rmult_comm.
Canonical Rmult_mul := Monoid.MulLaw Rmult_0_l Rmult_0_r.
Canonical Rplus_add := Monoid.AddLaw Rmult_plus_distr_r Rmult_plus_distr_l.
Notation "\rsum_ ( i | P ) F" := (\big[Rplus/0]_(i | P) F)
  (at level 41, F at level 41, i at level 50).
Notation "\rsum_ ( i < n ) F" := (\big[Rplus/0]_(i < n) F)
  (at level 41, F at level 41, i, n at level 50).
Notation "\rsum_ ( i <- s ) F" := (\big[Rplus/0]_(i <- s) F)
  (at level 41, F at level 41, i, s at level 50).
Notation "\rsum_ ( i 'in' A ) F" := (\big[Rplus/0]_(i in A) F)
  (at level 41, F at level 41, i, A at level 50).
Notation "\rsum_ i F" := (\big[Rplus/0]_i F) (at level 41, F at level 41, i at level 0).
Notation "\rprod_ i F" := (\big[Rmult/1]_i F) (at level 36, F at level 36, i at level 0).

(** ** Distributions on a finite set, and how far apart two may be *)
Record dist (T : finType) := Dist {
  mass :> T -> R;
  mass_ge0 : forall x, 0 <= mass x;
  mass_sum : \rsum_x mass x = 1 }.

Definition Pr (T : finType) (P : T -> R) (S : {set T}) : R := \rsum_(x in S) P x.

(** [e] is a factor, e^ε and not ε: for every set S of outputs, P(S) <= e P'(S) + d. *)
Definition close (T : finType) (e d : R) (P P' : T -> R) : Prop :=
  forall S : {set T}, Pr P S <= e * Pr P' S + d.
Definition close2 (T : finType) (e d : R) (P P' : T -> R) : Prop :=
  close e d P P' /\ close e d P' P.

(** (ε, δ)-differential privacy of the output laws [M] under a relation of neighbours. *)
Definition private (D : Type) (near : D -> D -> Prop) (T : finType)
    (eps delta : R) (M : D -> T -> R) : Prop :=
  forall x x', near x x' -> close2 (exp eps) delta (M x) (M x').

(** ** Votes of K teachers that promise nothing: at most [t] of them differ
    Which relation of data sets that comes from plays no part. *)
Definition moved (K : nat) (V : finType) (v v' : K.-tuple V) : nat :=
  #|[set i | tnth v i != tnth v' i]|.
Definition near_votes (K t : nat) (V : finType) (v v' : K.-tuple V) : Prop :=
  (moved v v' <= t)%N.
Arguments near_votes {K} t {V} v v'.

(** A vote that is none, [None], may become a fair coin over the classes (--missing coin): every
    teacher has a coin c_i of its own, which counts where its vote is none. *)
Definition fill (K : nat) (V : finType) (v : K.-tuple (option V)) (c : K.-tuple V) : K.-tuple V :=
  [tuple odflt (tnth c i) (tnth v i) | i < K].
Definition with_coins (K : nat) (V O : finType) (M : K.-tuple V -> O -> R)
    (v : K.-tuple (option V)) (o : O) : R :=
  \rsum_c (M (fill v c) o / INR #|{: K.-tuple V}|).

(** ** Teachers whose votes are random, independent and private
    Teacher i votes by [P i] on one data set and by [P' i] on its neighbour; [e] is e^ε and d is
    the teacher's Δ. A teacher that promises nothing (ε = ∞) has Δ = 1. At most t teachers see
    the record. *)
Definition teacher (e d : R) (V : finType) (P P' : dist V) : Prop := close2 e d P P'.
Definition near_teachers (K t : nat) (e d : R) (V : finType) (P P' : 'I_K -> dist V) : Prop :=
  exists A : {set 'I_K}, (#|A| <= t)%N /\
    (forall i, i \in A -> teacher e d (P i) (P' i)) /\
    (forall i, i \notin A -> forall b, P i b = P' i b).

(** The probability of the votes v, and of the output o of M when votes are random. *)
Definition law (K : nat) (V : finType) (P : 'I_K -> dist V) (v : K.-tuple V) : R :=
  \rprod_i P i (tnth v i).
Definition output (K : nat) (V O : finType) (M : K.-tuple V -> O -> R)
    (P : 'I_K -> dist V) (o : O) : R :=
  \rsum_v (law P v * M v o).

(** ** Two classes: a table
    l votes of K are for class 1, which is the answer with probability q(l). *)
Definition by_count (K : nat) (q : nat -> R) (v : K.-tuple bool) (b : bool) : R :=
  if b then q (count id v) else 1 - q (count id v).
Definition answer (K : nat) (q : nat -> R) : ('I_K -> dist bool_finType) -> bool -> R :=
  output (@by_count K q).

(** The promise of a table of two classes: teachers' [e] = e^ε and [d] = Δ, answer's [E], [delta]. *)
Definition keeps (K t : nat) (e d E delta : R) (q : nat -> R) : Prop :=
  forall P P' : 'I_K -> dist bool_finType, near_teachers t e d P P' ->
  close2 E delta (answer q P) (answer q P').

(** What q loses against the majority where l or K-l votes are for class 1, l < K/2: w(l) says how
    often that is. 1 - q(K-l) + q(l) is twice the mean chance of the other label. *)
Definition loss (K : nat) (w : nat -> R) (q : nat -> R) : R :=
  \rsum_(l < uphalf K) (w l * (1 - (q (K - l)%N - q l))).

(** Every mechanism on votes of two classes, whatever it makes of them: its promise, its answer to
    l votes for class 1 (the mean over which teachers gave them), and how often its label is not the
    majority's where votes v come with the probability u(l). *)
Definition keeps_all (K t : nat) (e d E delta : R) (M : K.-tuple bool -> dist bool_finType) : Prop :=
  forall P P' : 'I_K -> dist bool_finType, near_teachers t e d P P' ->
  close2 E delta (output (fun v => M v) P) (output (fun v => M v) P').
Definition of_count (K : nat) (M : K.-tuple bool -> dist bool_finType) (l : nat) : R :=
  (\rsum_(v | count id (v : K.-tuple bool) == l) M v true) / INR #|[set v : K.-tuple bool | count id v == l]|.
Definition errs (K : nat) (M : K.-tuple bool -> dist bool_finType) (u : nat -> R) : R :=
  \rsum_(v | ((count id (v : K.-tuple bool)).*2 < K)%N) (u (count id v) * M v true)
  + \rsum_(v | (K < (count id (v : K.-tuple bool)).*2)%N) (u (count id v) * M v false).

(** What answers cost where the labels are not alike: [c0] for the answer 0 where class 1 has more
    votes, [c1] for the answer 1 where class 0 has more; a tie costs nothing. l votes for class 1 come
    with the probability p(l), votes v with u(l). *)
Definition charge (K : nat) (c0 c1 : R) (l : nat) (b : bool) : R :=
  if b then (if (l.*2 < K)%N then c1 else 0) else (if (K < l.*2)%N then c0 else 0).
Definition paid (K : nat) (c0 c1 : R) (p q : nat -> R) : R :=
  \rsum_(l < K.+1) (p l * (charge K c0 c1 l true * q l + charge K c0 c1 l false * (1 - q l))).
Definition pays (K : nat) (c0 c1 : R) (u : nat -> R) (M : K.-tuple bool -> dist bool_finType) : R :=
  \rsum_v (u (count id (v : K.-tuple bool)) * \rsum_b (charge K c0 c1 (count id v) b * M v b)).

(** ** Many classes: a table
    [h] counts the votes for each class. A histogram λ sorted down has one mass for each number v
    of votes in it, g λ (Some v), which the classes with v votes share, and g λ None for the
    answer *no class*. All masses of one λ have the sum D. *)
Definition histogram (C : nat) := C.-tuple nat.
Definition hist (K C : nat) (v : K.-tuple (option 'I_C)) : histogram C :=
  [tuple count_mem (Some c) v | c < C].
Definition answers (C : nat) := [finType of option 'I_C].
Definition sharing (C : nat) (h : histogram C) (o : answers C) : nat :=
  if o is Some c then count_mem (tnth h c) h else 1%N.
Definition prob (C : nat) (g : seq nat -> option nat -> R) (h : histogram C) (o : answers C) : R :=
  g (sort geq h) (omap (tnth h) o) / INR (sharing h o).
Definition plurality (K C : nat) (g : seq nat -> option nat -> R)
    (v : K.-tuple (option 'I_C)) : answers C -> R := prob g (hist v).
(** Votes of which none is none. *)
Definition complete (K C : nat) (v : K.-tuple (option 'I_C)) : Prop := None \notin v.

(** Every mechanism on votes for classes, whatever it makes of them. [hits] is how often its answer
    is a class with the most votes, where votes v come with the probability u(v); *no class* counts a. *)
Definition tally (K C : nat) (v : K.-tuple 'I_C) : histogram C := [tuple count_mem c v | c < C].
Definition sorted_tally (K C : nat) (v : K.-tuple 'I_C) : seq nat := sort geq (tally v).
Definition merit (K C : nat) (a : R) (v : K.-tuple 'I_C) (o : answers C) : R :=
  if o is Some c then (if [forall d, (count_mem d v <= count_mem c v)%N] then 1 else 0) else a.
Definition hits (K C : nat) (a : R) (u : K.-tuple 'I_C -> R) (M : K.-tuple 'I_C -> answers C -> R) : R :=
  \rsum_v (u v * \rsum_o (merit a v o * M v o)).
Definition named (K C : nat) (v : K.-tuple 'I_C) : K.-tuple (option 'I_C) := [tuple Some (tnth v i) | i < K].

(** Votes of teachers that are right with probability mu and name all other classes equally often;
    votes whose classes have Dirichlet-distributed shares, with parameters A/C; and votes whose sorted
    histogram l comes with the probability f(l), all votes with one sorted histogram equally often. *)
Definition skilled (K C : nat) (mu : R) (v : K.-tuple 'I_C) : R :=
  \rsum_c (/ INR C * \rprod_i (if tnth v i == c then mu else (1 - mu) / (INR C - 1))).
Definition rising (x : R) (n : nat) : R := \big[Rmult/1]_(i < n) (x + INR i).
Definition uneven (K C : nat) (A : R) (v : K.-tuple 'I_C) : R :=
  \rprod_c rising (A / INR C) (count_mem c v) / rising A K.
Definition counted (K C : nat) (f : seq nat -> R) (v : K.-tuple 'I_C) : R :=
  f (sorted_tally v) / INR #|[set v' : K.-tuple 'I_C | sorted_tally v' == sorted_tally v]|.
