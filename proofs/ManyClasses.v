(** A table of many classes, from integers to differential privacy: the walk over every sorted
    histogram and every vector of counts near it misses none.
    Code: plurality.Histograms, plurality.System.Pairs; _plurality.partitions, neighbours, worst. *)
From Coq Require Import Reals Lra ZArith QArith Qreals.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Plurality Exp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Close Scope Q_scope.

(** ** The walk *)
(** The sorted histograms of n votes for C classes, each with at most [most]. *)
Fixpoint partitions (C n most : nat) : seq (seq nat) :=
  if C is C'.+1
  then flatten [seq [seq x :: l | l <- partitions C' (n - x) x] | x <- iota 0 (minn n most).+1]
  else if n is 0 then [:: [::]] else [::].

(** Every vector that comes from h by at most [up] votes more and [down] votes less. *)
Fixpoint vectors (up down : nat) (h : seq nat) : seq (seq nat) :=
  if h is x :: h'
  then flatten [seq [seq y :: l | l <- vectors (up - (y - x)) (down - (x - y)) h'] |
                y <- iota (x - down) ((x + up).+1 - (x - down))]
  else [:: [::]].

Lemma partitionsS C n most : partitions C.+1 n most =
  flatten [seq [seq x :: l | l <- partitions C (n - x) x] | x <- iota 0 (minn n most).+1].
Proof. by []. Qed.

Lemma partitions_all (l : seq nat) most : sorted geq l -> all (geq most) l ->
  l \in partitions (size l) (sumn l) most.
Proof.
elim: l most => [|x l IH] most; first by [].
rewrite [size _]/= [sumn _]/= partitionsS => so /andP [hx ha].
have hl : all (geq x) l by apply: (order_path_min _ so) => a b c h1 h2; apply: leq_trans h2 h1.
apply/flatten_mapP; exists x; first by rewrite mem_iota add0n ltnS leq_min leq_addr.
by apply/map_f; rewrite addKn; apply: IH => //; apply: path_sorted so.
Qed.

Fixpoint gains (h l : seq nat) : nat :=
  match h, l with x :: h', y :: l' => (y - x + gains h' l')%N | _, _ => 0%N end.

Lemma vectors_all (h l : seq nat) up down : size l = size h ->
  (gains h l <= up)%N -> (gains l h <= down)%N -> l \in vectors up down h.
Proof.
elim: h l up down => [|x h IH] [|y l] up down //= [hs] hu hd.
have yu : (y - x <= up)%N := leq_trans (leq_addr _ _) hu.
have yd : (x - y <= down)%N := leq_trans (leq_addr _ _) hd.
apply/flatten_mapP; exists y.
  rewrite mem_iota subnKC; last by apply: leq_trans (leq_subr _ _) (leq_trans (leq_addr _ _) (leqnSn _)).
  by rewrite ltnS leq_subCl -leq_subLR yd yu.
by apply: map_f; apply: IH => //; rewrite leq_subRL // 1?addnC.
Qed.

(** ** Numbers *)
Record table := Table {
  K : nat; C : nat; t : nat; terms : nat; tc : Z; tf : Z; pn : Z; pd : Z;
  one : Z;                              (* the sum of a histogram's masses *)
  abstains : bool;                      (* whether *no class* is an answer: its mass is the last *)
  missing : bool;                       (* whether votes may be none *)
  rows : seq (seq nat * seq Z) }.       (* a sorted histogram, and the mass of each group *)

Definition masses (rows : seq (seq nat * seq Z)) (l : seq nat) : seq Z :=
  nth [::] [seq r.2 | r <- rows] (find (fun r => r.1 == l) rows).
Definition group (x : table) (l : seq nat) (o : option nat) : Z :=
  if o is Some v then nth 0%Z (masses x.(rows) l) (index v (undup l))
  else if x.(abstains) then nth 0%Z (masses x.(rows) l) (size (undup l)) else 0%Z.

Definition Qof (n d : Z) : Q := Qmake n (Z.to_pos d).
Definition Qpos (a : Q) : Q := if Qle_bool a 0 then 0%Q else a.
Definition Qsum (s : seq Q) : Q := foldr (fun a b => Qred (Qplus a b)) 0%Q s.

Definition chance (x : table) (l : seq nat) (h : seq nat) (o : option nat) : Q :=
  Qof (group x l o) (x.(one) * (if o is Some v then Z.of_nat (count_mem v h) else 1%Z)).
(** Σ_o (p(h,o) - E p(h',o))₊ *)
Definition spent (x : table) (E : Q) (h h' : seq nat) : Q :=
  let l := sort geq h in let l' := sort geq h' in
  let over o o' := Qpos (Qminus (chance x l h o) (Qmult E (chance x l' h' o'))) in
  Qsum (over None None :: [seq over (Some p.1) (Some p.2) | p <- zip h h']).

Definition factor (x : table) : Q := let '(top, bottom) := exp_down x.(tc) x.(tf) x.(terms) in Qof top bottom.

Definition row_ok (x : table) (l : seq nat) : bool :=
  let m := masses x.(rows) l in
  (size m == size (undup l) + x.(abstains))%N && Z.eqb (foldr Z.add 0%Z m) x.(one).

(** The histograms of K votes, and those of fewer where votes may be none. *)
Definition fits (x : table) (n : nat) : bool := if x.(missing) then (n <= x.(K))%N else n == x.(K).
Definition histograms (x : table) : seq (seq nat) :=
  flatten [seq partitions x.(C) n n | n <- iota 0 x.(K).+1 & fits x n].

Definition private (x : table) : bool :=
  let E := factor x in
  [&& Z.leb 0 x.(tc), Z.ltb 0 x.(tf), Z.leb 0 x.(pn), Z.ltb 0 x.(pd), Z.ltb 0 x.(one),
      all (fun r => all (Z.leb 0) r.2) x.(rows) &
      all (fun l => row_ok x l &&
             all (fun l' => [|| ~~ fits x (sumn l'), l' == l |
                                Qle_bool (spent x E l l') (Qof x.(pn) x.(pd))])
                 (vectors x.(t) x.(t) l))
          (histograms x)].

Open Scope R_scope.
Definition mass_of (x : table) (l : seq nat) (o : option nat) : R := IZR (group x l o) / IZR x.(one).
Definition total (x : table) : R := IZR x.(tc) / IZR x.(tf).
Definition delta (x : table) : R := IZR x.(pn) / IZR x.(pd).

Lemma Q2R_of n d : (0 < d)%Z -> Q2R (Qof n d) = IZR n / IZR d.
Proof. by move=> hd; rewrite /Q2R /Qof /= Z2Pos.id. Qed.
Lemma Q2R_pos a : Q2R (Qpos a) = positive (Q2R a).
Proof.
rewrite /Qpos; case h : Qle_bool.
  by move/Qle_bool_iff/Qle_Rle: h; rewrite RMicromega.Q2R_0 => h; rewrite positive_0.
rewrite positive_id //; apply: Rlt_le; apply: Rnot_le_lt => n.
have : Qle_bool a 0 = true by apply/Qle_bool_iff/Rle_Qle; rewrite RMicromega.Q2R_0.
by rewrite h.
Qed.
Lemma Q2R_sum s : Q2R (Qsum s) = \rsum_(a <- s) Q2R a.
Proof.
elim: s => [|a s IH]; first by rewrite big_nil RMicromega.Q2R_0.
by rewrite big_cons -IH -Q2R_plus; apply: Qeq_eqR; apply: Qred_correct.
Qed.

Section Sound.
Variable x : table.
Hypothesis yes : private x = true.
Notation g := (mass_of x).
Notation KK := x.(K).
Notation CC := x.(C).

Lemma facts : [/\ (0 <= x.(tc))%Z, (0 < x.(tf))%Z, (0 <= x.(pn))%Z, (0 < x.(pd))%Z & (0 < x.(one))%Z] /\
  all (fun r => all (Z.leb 0) r.2) x.(rows) /\
  forall l, l \in histograms x -> row_ok x l /\
    forall l', l' \in vectors x.(t) x.(t) l -> fits x (sumn l') -> l' <> l ->
      Q2R (spent x (factor x) l l') <= delta x.
Proof.
move: yes => /andP [/Z.leb_le a1 /andP [/Z.ltb_lt a2 /andP [/Z.leb_le a3 /andP [/Z.ltb_lt a4 /andP [/Z.ltb_lt a5 /andP [a6 /allP a7]]]]]].
do 2!split=> //; move=> l /a7 /andP [r /allP h]; split=> // l' /h.
move=> + s /eqP /negbTE n; rewrite s n /= => /Qle_bool_iff/Qle_Rle.
by rewrite Q2R_of.
Qed.

Lemma one_pos : 0 < IZR x.(one). Proof. by have [[_ _ _ _ /IZR_lt]] := facts. Qed.

Lemma nth_ge0 l i : 0 <= IZR (nth 0%Z (masses x.(rows) l) i).
Proof.
apply: IZR_le; have [_ [h _]] := facts; rewrite /masses.
elim: x.(rows) h => [|r s IH] /=; first by move=> _; rewrite nth_nil; apply: Z.le_refl.
case/andP => hr hs; case: ifP => _ /=; last exact: IH.
have [hi|hi] := ltnP i (size r.2); last by rewrite nth_default //; apply: Z.le_refl.
by apply/Z.leb_le; apply: (all_nthP 0%Z hr).
Qed.

Lemma g_ge0 l o : 0 <= g l o.
Proof.
apply: Rmult_le_pos; last exact/Rlt_le/Rinv_0_lt_compat/one_pos.
by case: o => [v|] /=; [apply: nth_ge0|case: ifP => _; [apply: nth_ge0|apply: Rle_refl]].
Qed.

Lemma factor_ok : 1 <= Q2R (factor x) <= exp (total x).
Proof.
have [[a1 a2 _ _ _] _] := facts.
have := @exp_down_ok _ _ x.(terms) a1 a2; have := @exp_down_ge1 _ _ x.(terms) a1 a2.
by rewrite /factor; case: exp_down => top bottom [h1 h2] h3; rewrite Q2R_of.
Qed.

Lemma chance_ok (h : histogram CC) o : Q2R (chance x (sort geq h) h (omap (tnth h) o)) = prob g h o.
Proof.
have p := one_pos; have s := sharing_pos h o.
rewrite /chance /prob /mass_of; set k := (if _ is Some v then _ else _).
have ek : IZR k = INR (sharing h o) by rewrite /k INR_IZR_INZ; case: o {s k} => [c|].
rewrite Q2R_of; last by apply: lt_IZR; rewrite mult_IZR ek; apply: Rmult_lt_0_compat.
by rewrite mult_IZR ek; field; lra.
Qed.

Lemma spent_ok (h h' : histogram CC) :
  Q2R (spent x (factor x) h h') = \rsum_o positive (prob g h o - Q2R (factor x) * prob g h' o).
Proof.
rewrite /spent Q2R_sum big_cons big_map (bigD1 None) //=; congr Rplus.
  by rewrite Q2R_pos Q2R_minus Q2R_mult (chance_ok h None) (chance_ok h' None).
rewrite [RHS](reindex_omap Some id) //= => [|[c|]] //.
rewrite (big_tuple _ _ [tuple of zip h h']) /=; apply: eq_big => c; first by rewrite eqxx.
move=> _; rewrite (tnth_nth (0%N, 0%N)) /= nth_zip ?size_tuple // -!(tnth_nth 0%N) /= Q2R_pos Q2R_minus Q2R_mult.
by rewrite (chance_ok h (Some c)) (chance_ok h' (Some c)).
Qed.

Lemma gains_gained n (h h' : n.-tuple nat) : gains h h' = (\sum_(c < n) (tnth h' c - tnth h c))%N.
Proof.
elim: n h h' => [|n IH] h h'; first by rewrite big_ord0 (tuple0 h) (tuple0 h').
rewrite big_ord_recl; case/tupleP: h => a h; case/tupleP: h' => a' h' /=.
by rewrite !tnth0 IH; congr addn; apply: eq_bigr => c _; rewrite !tnthS.
Qed.

Lemma sumn_votes (h : histogram CC) : sumn h = votes_in h.
Proof. by rewrite sumnE big_tuple. Qed.

Lemma in_histograms (h : histogram CC) : sorted geq h -> fits x (votes_in h) -> tval h \in histograms x.
Proof.
move=> so s; apply/flatten_mapP; exists (votes_in h).
  rewrite mem_filter s mem_iota add0n ltnS /=.
  by move: s; rewrite /fits; case: (x.(missing)) => // /eqP ->.
have := @partitions_all h (votes_in h) so; rewrite (size_tuple h) sumn_votes; apply.
by apply/allP => v /tnthP [c ->]; rewrite /= /geq /= /votes_in (bigD1 c) //= leq_addr.
Qed.

Notation full := (~~ x.(missing)).
Lemma fitsE n : (if full then n = KK else (n <= KK)%N) -> fits x n.
Proof. by rewrite /fits; case: (x.(missing)) => //= ->. Qed.

(** Every number of votes that differ, up to t; every set of answers; the answer is a law. *)
Theorem private_ok :
  (forall v v' : KK.-tuple (option 'I_CC), (full -> complete v) -> (full -> complete v') -> near_votes x.(t) v v' ->
    close2 (exp (total x)) (delta x) (plurality g v) (plurality g v')) /\
  (forall v : KK.-tuple (option 'I_CC), (full -> complete v) ->
    (forall o, 0 <= plurality g v o) /\ \rsum_o plurality g v o = 1).
Proof.
have [[_ _ a3 a4 _] [_ walk]] := facts; have [e1 e2] := factor_ok; split=> [v v' c c' near|v c].
  have hd : 0 <= delta x by apply: Rmult_le_pos; [apply: IZR_le|apply/Rlt_le/Rinv_0_lt_compat/IZR_lt].
  have check (h h' : histogram CC) : near_hist full KK x.(t) h h' -> sorted geq h ->
      \rsum_o positive (prob g h o - Q2R (factor x) * prob g h' o) <= delta x.
    move=> [ss up down ne] so; rewrite -spent_ok.
    have [s s'] : fits x (votes_in h) /\ fits x (votes_in h').
      by move: ss; rewrite /fits; case: (x.(missing)) => /= -[a b]; split; rewrite ?a ?b.
    have [_ near_ok] := walk _ (in_histograms so s); apply: near_ok; rewrite ?sumn_votes //.
      by apply: vectors_all; rewrite ?size_tuple // gains_gained.
    by move=> e; apply: ne; apply: val_inj.
  have [k k'] := plurality_private e1 hd g_ge0 check near (fun f => conj (c f) (c' f)).
  have up (f f' : answers CC -> R) : (forall o, 0 <= f' o) -> close (Q2R (factor x)) (delta x) f f' ->
      close (exp (total x)) (delta x) f f'.
    move=> f0 h S; have := h S; have : 0 <= Pr f' S by apply: rsum_ge0.
    by nra.
  by split; apply: up => // o; apply: (prob_ge0 g_ge0).
apply: plurality_law g_ge0 _ _ c => h /fitsE s.
set l := sort geq h.
have hs : l \in histograms x.
  have hl : size l == CC by rewrite size_sort size_tuple.
  rewrite -[l]/(tval (Tuple hl)); apply: in_histograms.
    by apply: sort_sorted => a b; apply: leq_total.
  by rewrite -sumn_votes /= (@perm_sumn l h) ?sumn_votes // perm_sort.
have [/andP [/eqP sz /Z.eqb_eq sm] _] := walk _ hs; have p := one_pos.
have tot m : IZR (foldr Z.add 0%Z m) = \rsum_(i < size m) IZR (nth 0%Z m i).
  by elim: m => [|a m IH]; rewrite ?big_ord0 //= big_ord_recl plus_IZR IH.
have e : \rsum_(v <- undup l) g l (Some v) = \rsum_(i < size (undup l)) (IZR (nth 0%Z (masses x.(rows) l) i) / IZR x.(one)).
  rewrite (big_nth 0%N) big_mkord; apply: eq_bigr => i _.
  by rewrite /mass_of /= index_uniq ?undup_uniq.
have := tot (masses x.(rows) l); rewrite sm sz e /mass_of /= => e1'.
have -> : \rsum_(i < size (undup l)) (IZR (nth 0%Z (masses x.(rows) l) i) / IZR x.(one)) =
  (\rsum_(i < size (undup l)) IZR (nth 0%Z (masses x.(rows) l) i)) / IZR x.(one) by rewrite -big_distrl.
have inv : IZR x.(one) * / IZR x.(one) = 1 by apply: Rinv_r; apply: Rgt_not_eq.
case: (x.(abstains)) e1'; last by rewrite addn0 => <-; rewrite /Rdiv Rmult_0_l Rplus_0_r.
by rewrite addn1 big_ord_recr /= => e2'; rewrite /Rdiv -Rmult_plus_distr_r -e2'.
Qed.
End Sound.
