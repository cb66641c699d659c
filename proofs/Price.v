(** The price of many answers, worked out in whole numbers: splits onto a lattice and their chords
    err upward, and so does what stands for other pairs; so where a list of items stands for every pair of a
    game, a yes of the checker is (total ε, δ)-privacy of every adaptive strategy of at most Q answers.
    Which items those are is a matter of the table: Answers.v, Named.v, Noise.v.
    Code: accountant/game.Game, whose windows and floating point are not followed here. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals Psatz.
From mathcomp Require Import all_ssreflect fingroup perm.
From darrm Require Import Definitions Sums Exp ManyClasses Game Dominate.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Close Scope Q_scope.

(** ** The computation *)
Definition up_div (a b : Z) : Z := (- (- a / b))%Z.

(** Where q/p lies on the lattice zs: (i, A, B, d) with p d = A + B and q d >= A z_i + B z_(i+1). *)
Fixpoint locate (zs : seq Z) (p q : Z) : option (nat * Z * Z * Z) :=
  match zs with
  | [::] => None
  | z :: rest =>
    if rest is z' :: _
    then if (q <=? z' * p)%Z && (z * p <=? q)%Z && (z <? z')%Z
         then Some (0%N, z' * p - q, q - z * p, z' - z)%Z
         else if locate rest p q is Some (i, a, b, d) then Some (i.+1, a, b, d) else None
    else if (z * p <=? q)%Z then Some (0%N, p, 0%Z, 1%Z) else None
  end.

(** An answer: its probabilities are p/d and p'/d. *)
Definition item := (Z * Z * Z)%type.
Definition place := (option (nat * Z * Z * Z) * Z * Z)%type.
Definition at_point (zs : seq Z) (z : Z) (o : item) : place :=
  let '(p, p', d) := o in (locate zs p (p' * z), p, d).

Section Compute.
Variable T : Z.
(** The values of n answers at the lattice's points, in units of 1/T, give one at (p/d, p' z/d). *)
Definition part (us : seq Z) (x : place) : Z :=
  let '(spot, p, d) := x in
  if spot is Some (i, a, b, w) then up_div (a * nth 0%Z us i + b * nth 0%Z us i.+1) (w * d)
  else up_div (p * T) d.
Definition worth (us : seq Z) (xs : seq place) : Z := foldr Z.add 0%Z [seq part us x | x <- xs].
Definition step (plans : seq (seq (seq place))) (us : seq Z) : seq Z :=
  [seq foldr Z.max w.2 [seq worth us xs | xs <- w.1] | w <- zip plans us].
Definition start (S : Z) (zs : seq Z) : seq Z := [seq Z.max 0 (up_div (T * (S - z)) S) | z <- zs].
End Compute.

Definition curve (S T : Z) (zs : seq Z) (pairs : seq (seq item)) (Q : nat) : seq Z :=
  let plans := [seq [seq [seq at_point zs z o | o <- p] | p <- pairs] | z <- zs] in
  iter Q (step T plans) (start T S zs).

Open Scope R_scope.

(** ** Lists whose members need no equality *)
Lemma in_map (A B : Type) (f : A -> B) (x : A) (s : seq A) : List.In x s -> List.In (f x) [seq f y | y <- s].
Proof. by elim: s => //= y s IH [->|/IH]; [left|right]. Qed.

Lemma in_list (A : eqType) (a : A) (s : seq A) : a \in s -> List.In a s.
Proof. by elim: s => //= b s IH; rewrite in_cons => /orP [/eqP ->|/IH]; [left|right]. Qed.

Lemma out_list (A : eqType) (a : A) (s : seq A) : List.In a s -> a \in s.
Proof. by elim: s => //= b s IH [->|/IH h]; rewrite in_cons ?eqxx ?h ?orbT. Qed.

Lemma in_flatten (A : Type) (a : A) l (ls : seq (seq A)) : List.In l ls -> List.In a l -> List.In a (flatten ls).
Proof.
have cat (s s' : seq A) : List.In a s \/ List.In a s' -> List.In a (s ++ s').
  by elim: s => [|b s IH] /=; [case|move=> [[->|h]|h]; [left|right; apply: IH; left|right; apply: IH; right]].
by elim: ls => //= l' ls IH [->|/IH h] hl; apply: cat; [left|right; apply: h].
Qed.

Lemma out_flatten (A : Type) (a : A) (ls : seq (seq A)) : List.In a (flatten ls) ->
  exists2 l, List.In l ls & List.In a l.
Proof.
have cat (s s' : seq A) : List.In a (s ++ s') -> List.In a s \/ List.In a s'.
  by elim: s => [|b s IH] /=; [right|move=> [->|/IH [h|h]]; [left; left|left; right|right]].
elim: ls => //= l ls IH /cat [h|/IH [l' h h']]; first by exists l => //; left.
by exists l' => //; right.
Qed.

Lemma out_map (A B : Type) (f : A -> B) b (s : seq A) : List.In b [seq f a | a <- s] -> exists2 a, List.In a s & b = f a.
Proof.
elim: s => //= a s IH [<-|/IH [a' h ->]]; first by exists a => //; left.
by exists a' => //; right.
Qed.

Lemma in_app (A : Type) (a : A) (s s' : seq A) : List.In a s -> List.In a (s ++ s').
Proof. by elim: s => //= b s IH [->|/IH]; [left|right]. Qed.

Lemma in_all (A : Type) (f : pred A) a (s : seq A) : List.In a s -> all f s -> f a.
Proof. by elim: s => //= b s IH [->|/IH h] /andP [h1 h2] //; apply: h. Qed.

(** ** Items *)
Lemma up_div_ok a b : (0 < b)%Z -> IZR a / IZR b <= IZR (up_div a b).
Proof.
move=> hb; have hb' : 0 < IZR b by apply: IZR_lt.
apply: (Rmult_le_reg_r (IZR b)) => //.
have -> : IZR a / IZR b * IZR b = IZR a by field; lra.
rewrite -mult_IZR; apply: IZR_le; rewrite /up_div.
by have := Z.mul_div_le (- a) b hb; lia.
Qed.

(** ** Pairs for which another stands need not be listed *)
Definition real_items (xs : seq item) : outcomes := [seq let '(a, b, d) := o in (IZR a / IZR d, IZR b / IZR d) | o <- xs].

Lemma real_lawful xs : (forall o, List.In o xs -> let '(p, p', d) := o in (0 <= p)%Z /\ (0 <= p')%Z /\ (0 < d)%Z) ->
  lawful (real_items xs).
Proof.
elim: xs => //= -[[a b] d] xs IH h o [<- /=|]; last by apply: IH => q hq; apply: h; right.
have [/IZR_le ha [/IZR_le hb /IZR_lt hd]] := h _ (or_introl erefl).
by split; apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
Qed.

(** w times the divergence of the items at u/w. *)
Definition excess_of (xs : seq item) (u w : Z) : Q :=
  Qsum [seq let '(a, b, d) := o in Qof (Z.max 0 (a * w - b * u)) d | o <- xs].
(** No divergence of xs is above that of ys: at 0 and at the kinks of ys it is enough. *)
Definition stands (ys xs : seq item) : bool :=
  all (fun o => let '(a, b, _) := o in Qle_bool (excess_of xs a b) (excess_of ys a b)) ((0, 1, 1)%Z :: ys).
(** Lists for which no other stands. *)
Definition prune (l : seq (seq item)) : seq (seq item) :=
  foldr (fun xs kept => if has (fun ys => stands ys xs) kept then kept
                        else xs :: [seq ys <- kept | ~~ stands xs ys]) [::] l.

Lemma excess_of_ok xs u w : (forall o, List.In o xs -> let '(p, p', d) := o in (0 <= p)%Z /\ (0 <= p')%Z /\ (0 < d)%Z) ->
  (0 < w)%Z -> Q2R (excess_of xs u w) = IZR w * excess (real_items xs) (IZR u / IZR w).
Proof.
move=> h /IZR_lt w0; rewrite /excess_of Q2R_sum /real_items /excess !big_map big_distrr /=.
apply: sum_eq => -[[a b] d] /h [_ [_ hd]] /=; have d0 := IZR_lt _ _ hd.
rewrite Q2R_of // -positive_scale; last lra.
have -> : IZR w * (IZR a / IZR d - IZR u / IZR w * (IZR b / IZR d)) = / IZR d * (IZR a * IZR w - IZR b * IZR u) by field; lra.
rewrite positive_scale; last exact/Rlt_le/Rinv_0_lt_compat.
rewrite /Rdiv Rmult_comm; congr (_ * _); rewrite /positive -!mult_IZR -minus_IZR.
case: (Z.max_spec 0 (a * w - b * u)) => -[lt ->]; [rewrite Rmax_left|rewrite Rmax_right] => //; apply: IZR_le; lia.
Qed.

Definition sound (xs : seq item) : Prop :=
  forall o, List.In o xs -> let '(p, p', d) := o in (0 <= p)%Z /\ (0 <= p')%Z /\ (0 < d)%Z.

Lemma stands_ok ys xs : sound ys -> sound xs -> stands ys xs -> below (real_items xs) (real_items ys).
Proof.
move=> hy hx /andP [/Qle_bool_iff/Qle_Rle h0 hk].
rewrite !excess_of_ok // in h0; rewrite /= /Rdiv Rinv_1 Rmult_0_l !Rmult_1_l in h0.
apply: below_at_kinks => //; try exact: real_lawful.
move=> x x0 [o ho [o2 e]].
have {ho} [a [b [d [ho ea]]]] : exists a b d, List.In (a, b, d) ys /\ o = (IZR a / IZR d, IZR b / IZR d).
  elim: (ys) ho => //= -[[a b] d] s IH [<-|/IH [a' [b' [d' [h e']]]]]; first by exists a, b, d; split=> //; left.
  by exists a', b', d'; split=> //; right.
have [ha [hb hd]] := hy _ ho; have d0 := IZR_lt _ _ hd; rewrite ea /= in o2 e.
have b0 : 0 < IZR b.
  have -> : IZR b = IZR b / IZR d * IZR d by field; lra.
  exact: Rmult_lt_0_compat.
have ex : x = IZR a / IZR b.
  apply: (Rmult_eq_reg_r (IZR b / IZR d)); last lra.
  by rewrite -e; field; lra.
have := in_all ho hk; rewrite /=.
move/Qle_bool_iff/Qle_Rle; have hb' := lt_IZR _ _ b0; rewrite !excess_of_ok // -ex => h.
exact: Rmult_le_reg_l h.
Qed.

Lemma prune_ok l : (forall xs, List.In xs l -> sound xs) -> (forall xs, List.In xs (prune l) -> List.In xs l) /\
  forall xs, List.In xs l -> exists2 ys, List.In ys (prune l) & below (real_items xs) (real_items ys).
Proof.
have in_filter (A : Type) (f : pred A) a (s : seq A) : List.In a [seq b <- s | f b] <-> List.In a s /\ f a.
  elim: s => [|b s IH] /=; first by split=> [|[]].
  case h : (f b) => /=; rewrite IH.
    by split=> [[<-|[hs fa]]|[[->|hs] fa]]; [split; [left|]|split; [right|]|left|right].
  by split=> [[hs fa]|[[e|hs] fa]]; [split; [right|]|rewrite e fa in h|].
have in_has (A : Type) (f : pred A) (s : seq A) : has f s -> exists2 a, List.In a s & f a.
  elim: s => //= b s IH /orP [h|/IH [a ha h]]; first by exists b => //; left.
  by exists a => //; right.
elim: l => [|xs l IH] h; first by split.
have [sub all] := IH (fun ys hy => h ys (or_intror hy)); have hxs := h xs (or_introl erefl).
rewrite [prune _]/= -/(prune l); case: ifP => [/in_has [ys hy st]|_].
  split=> [zs /sub|zs /= [<-|/all //]]; first by right.
  by exists ys => //; apply: stands_ok => //; apply: h; right; apply: sub.
split=> [zs /= [->|/in_filter [/sub hz _]]|zs /= [<-|/all [ys hy hb]]]; [by left|by right|by exists xs; [left|apply: below_refl]|].
case st : (stands xs ys); last by exists ys => //; right; apply/in_filter; rewrite st.
exists xs; first by left.
by apply: below_trans hb _; apply: stands_ok => //; apply: h; right; apply: sub.
Qed.

(** ** The value of the game is convex *)
Section Convex.
Variable O : finType.
Variable pairs : seq (laws O).
Notation value := (value pairs).
Hypothesis lawful : forall p, List.In p pairs ->
  (forall o, 0 <= p.1 o) /\ (forall o, 0 <= p.2 o) /\ \rsum_o p.1 o = 1.

Lemma best_le (f : laws O -> R) c ps : 0 <= c -> (forall p, List.In p ps -> f p <= c) -> best f ps <= c.
Proof.
move=> hc; elim: ps => //= p ps IH h; apply: Rmax_lub; first by apply: h; left.
by apply: IH => r hr; apply: h; right.
Qed.

Lemma best_ge0 (f : laws O -> R) ps : 0 <= best f ps.
Proof. by elim: ps => /= [|p ps IH]; [apply: Rle_refl|apply: Rle_trans IH (Rmax_r _ _)]. Qed.

Lemma value_ge0 n a b : 0 <= value n a b.
Proof. exact: Rle_trans (positive_ge0 _) (value_stop _ n a b). Qed.

Lemma value_add n a b a' b' : value n (a + a') (b + b') <= value n a b + value n a' b'.
Proof.
elim: n a b a' b' => [|n IH] a b a' b' /=.
  apply: Rmax_lub; last by have := positive_ge0 (a - b); have := positive_ge0 (a' - b'); lra.
  by have := positive_ge (a - b); have := positive_ge (a' - b'); lra.
apply: Rmax_lub.
  by apply: Rle_trans (IH _ _ _ _) _; apply: Rplus_le_compat; apply: Rmax_l.
apply: best_le => [|p hp]; first by have := value_ge0 n.+1 a b; have := value_ge0 n.+1 a' b'; rewrite /=; lra.
set f := fun p : laws O => \rsum_o value n (a * p.1 o) (b * p.2 o).
set f' := fun p : laws O => \rsum_o value n (a' * p.1 o) (b' * p.2 o).
have h1 := best_ge f hp; have h2 := best_ge f' hp.
have : \rsum_o value n ((a + a') * p.1 o) ((b + b') * p.2 o) <= f p + f' p.
  by rewrite /f /f' -big_split /=; apply: rsum_le => o _; rewrite !Rmult_plus_distr_r; apply: IH.
have := Rmax_r (value n a b) (best f pairs); have := Rmax_r (value n a' b') (best f' pairs); lra.
Qed.

(** More answers never do worse than telling all. *)
Lemma value_le n a b : 0 <= a -> 0 <= b -> value n a b <= a.
Proof.
elim: n a b => [|n IH] a b ha hb /=; first by apply: Rmax_lub; lra.
apply: Rmax_lub; first exact: IH.
apply: best_le => // p /lawful [h1 [h2 e]].
apply: (Rle_trans _ (\rsum_o (a * p.1 o))); last by rewrite -big_distrr /= e; lra.
by apply: rsum_le => o _; apply: IH; apply: Rmult_le_pos.
Qed.

Lemma value_0 n b : 0 <= b -> value n 0 b = 0.
Proof. by move=> hb; apply: Rle_antisym; [apply: value_le|apply: value_ge0]; lra. Qed.

Lemma value_falls n a b b' : 0 <= b -> b <= b' -> value n a b' <= value n a b.
Proof.
move=> hb h; have := value_add n a b 0 (b' - b); rewrite value_0; last lra.
by have -> : a + 0 = a by [ring]; have -> : b + (b' - b) = b' by [ring]; lra.
Qed.

(** ** What may stand for a pair *)
Lemma value_tame n x y : 0 <= x -> 0 <= y -> tame (fun a b => value n (x * a) (y * b)).
Proof.
move=> x0 y0; split=> [a b|c a b c0|a b a' b'|b b0]; first exact: value_ge0.
- by rewrite -value_scale //; congr value; ring.
- by rewrite !Rmult_plus_distr_l; apply: value_add.
- by rewrite Rmult_0_r value_0 //; apply: Rmult_le_pos.
Qed.

Definition outcomes_of (p : laws O) : outcomes := [seq (p.1 o, p.2 o) | o <- index_enum O].

Lemma lawful_outcomes p : List.In p pairs -> Dominate.lawful (outcomes_of p).
Proof.
move=> /lawful [h1 [h2 _]]; rewrite /outcomes_of => o; elim: (index_enum O) => //= i s IH [<- /=|/IH //].
by split.
Qed.

(** Where no divergence of a pair is above that of a measure, the measure may stand for the pair: a
    pair that is dropped for another one, an envelope of a group, a split onto the lattice. *)
Theorem stands_for n x y p s : List.In p pairs -> Dominate.lawful s -> below (outcomes_of p) s -> 0 <= x -> 0 <= y ->
  \rsum_o value n (x * p.1 o) (y * p.2 o) <= \rsum_(o <- s) value n (x * o.1) (y * o.2).
Proof.
move=> hp hs h x0 y0; have := below_worth (value_tame n x0 y0) (lawful_outcomes hp) hs h.
by rewrite /outcomes_of big_map.
Qed.

(** One answer more: a bound U of what n answers are worth and, for each pair, a measure that stands
    for it bound what n + 1 are worth. The measure may be another one at each x. *)
Theorem one_more n (U : R -> R) x v : 0 <= x -> (forall r, 0 <= r -> value n 1 r <= U r) -> U x <= v ->
  (forall p, List.In p pairs -> exists s, [/\ Dominate.lawful s, below (outcomes_of p) s &
    \rsum_(o <- s) (o.1 * U (x * o.2 / o.1)) <= v]) -> value n.+1 1 x <= v.
Proof.
move=> x0 hU hv hp; have base : value n 1 x <= v by apply: Rle_trans (hU x x0) hv.
rewrite [value n.+1 1 x]/=; apply: Rmax_lub => //.
apply: best_le => [|p hin]; first exact: Rle_trans (value_ge0 _ _ _) base.
have [s [hs hb sum]] := hp p hin; apply: Rle_trans sum.
apply: Rle_trans (stands_for n hin hs hb Rle_0_1 x0) _; apply: sum_le => o /hs [a0 b0].
have [pos|n0] := Rlt_dec 0 o.1.
  have -> : value n (1 * o.1) (x * o.2) = o.1 * value n 1 (x * o.2 / o.1).
    by rewrite -value_scale //; congr value; field; lra.
  apply: Rmult_le_compat_l => //; apply: hU; apply: Rmult_le_pos; first exact: Rmult_le_pos.
  exact/Rlt_le/Rinv_0_lt_compat.
have -> : o.1 = 0 by lra.
rewrite Rmult_0_r Rmult_0_l value_0; [exact: Rle_refl|exact: Rmult_le_pos].
Qed.

(** Where both orders of every pair are in the game, x >= 1 is enough: W_n(x) = 1 - x + x W_n(1/x). *)
Theorem value_mirror n a b : (forall p, List.In p pairs -> List.In (p.2, p.1) pairs /\ \rsum_o p.2 o = 1) ->
  value n a b = a - b + value n b a.
Proof.
move=> sym.
have one m : (forall c d, value m c d <= c - d + value m d c) -> forall c d, value m.+1 c d <= c - d + value m.+1 d c.
  move=> IH c d; rewrite [value m.+1 c d]/=; apply: Rmax_lub.
    by apply: Rle_trans (IH c d) _; have := value_more pairs m d c; lra.
  apply: best_le => [|p hp].
    have := value_stop pairs m.+1 d c; have := positive_ge (d - c); lra.
  have [hq e2] := sym p hp; have [_ [_ e1]] := lawful hp.
  apply: (Rle_trans _ (\rsum_o (c * p.1 o + - d * p.2 o + value m (d * p.2 o) (c * p.1 o)))).
    by apply: rsum_le => o _; have := IH (c * p.1 o) (d * p.2 o); lra.
  rewrite 2!big_split /= -!big_distrr /= e1 e2.
  have := best_ge (fun q : laws O => \rsum_o value m (d * q.1 o) (c * q.2 o)) hq.
  have := Rmax_r (value m d c) (best (fun q => \rsum_o value m (d * q.1 o) (c * q.2 o)) pairs).
  rewrite /=; lra.
have le m : forall c d, value m c d <= c - d + value m d c.
  elim: m => [|m IH]; last exact: one.
  move=> c d /=; apply: Rmax_lub; last by have := positive_ge (d - c); lra.
  by have := positive_ge0 (d - c); lra.
by apply: Rle_antisym; [apply: le|have := le n b a; lra].
Qed.

(** ** Values at the lattice's points bound all others *)
Variables S T : Z.
Hypotheses (hS : (0 < S)%Z) (hT : (0 < T)%Z).
Variable zs : seq Z.
Hypothesis zs_ge0 : forall i, (0 <= nth 0 zs i)%Z.
Notation z i := (IZR (nth 0%Z zs i) / IZR S).
Let s0 : 0 < IZR S. Proof. exact: IZR_lt. Qed.
Let t0 : 0 < IZR T. Proof. exact: IZR_lt. Qed.

Definition above n (us : seq Z) : Prop := size us = size zs /\
  forall i, (i < size zs)%N -> value n 1 (z i) <= IZR (nth 0%Z us i) / IZR T.

Lemma locate_ok p q i a b d : (0 <= p)%Z -> locate zs p q = Some (i, a, b, d) ->
  [/\ (i < size zs)%N, (0 < d)%Z, (0 <= a)%Z /\ (0 <= b)%Z, b = 0%Z \/ (i.+1 < size zs)%N &
      (a + b = p * d)%Z /\ (a * nth 0 zs i + b * nth 0 zs i.+1 <= q * d)%Z].
Proof.
move=> hp; elim: zs i a b d => [|z1 rest IH] i a b d //=.
case: rest IH => [|z2 rest] IH.
  case: ifP => // /Z.leb_le h [<- <- <- <-] /=; split=> //; try lia; by [left|split; lia].
case: ifP => [/andP [/andP [/Z.leb_le h2 /Z.leb_le h1] /Z.ltb_lt h3] [<- <- <- <-]|_].
  split=> //=; try lia; by [right|split; nia].
case e : locate => [[[[j a'] b'] d']|] // [<- <- <- <-].
by have [i1 i2 i3 i4 i5] := IH _ _ _ _ e.
Qed.

Lemma part_ok n us p q d : above n us -> (0 <= p)%Z -> (0 <= q)%Z -> (0 < d)%Z ->
  value n (IZR p / IZR d) (IZR q / (IZR d * IZR S)) <= IZR (part T us (locate zs p q, p, d)) / IZR T.
Proof.
move=> [sz h] hp hq hd.
have d0 : 0 < IZR d by apply: IZR_lt.
have p0 : 0 <= IZR p by apply: IZR_le.
have q0 : 0 <= IZR q by apply: IZR_le.
rewrite /part; case e : locate => [[[[i a] b] w]|]; last first.
  apply: (Rle_trans _ (IZR p / IZR d)).
    apply: value_le; apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat => //.
    by apply: Rmult_lt_0_compat.
  apply: (Rmult_le_reg_r (IZR T)) => //.
  have := @up_div_ok (p * T) _ hd; rewrite mult_IZR.
  have -> : IZR (up_div (p * T) d) / IZR T * IZR T = IZR (up_div (p * T) d) by field; lra.
  by have -> : IZR p / IZR d * IZR T = IZR p * IZR T / IZR d by field; lra.
have [hi hw [ha hb] hj [e1 e2]] := locate_ok hp e.
have w0 : 0 < IZR w by apply: IZR_lt.
have a0 : 0 <= IZR a by apply: IZR_le.
have b0 : 0 <= IZR b by apply: IZR_le.
have e1' : IZR a + IZR b = IZR p * IZR w by rewrite -plus_IZR e1 mult_IZR.
have e2' : IZR a * IZR (nth 0%Z zs i) + IZR b * IZR (nth 0%Z zs i.+1) <= IZR q * IZR w.
  by rewrite -!mult_IZR -plus_IZR; apply: IZR_le.
pose A := IZR a / (IZR w * IZR d); pose B := IZR b / (IZR w * IZR d).
have wd : 0 < IZR w * IZR d by apply: Rmult_lt_0_compat.
have A0 : 0 <= A by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
have B0 : 0 <= B by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
pose rest := IZR q / (IZR d * IZR S) - (A * z i + B * z i.+1).
have r0 : 0 <= rest.
  have -> : rest = (IZR q * IZR w - (IZR a * IZR (nth 0%Z zs i) + IZR b * IZR (nth 0%Z zs i.+1))) /
                   (IZR w * IZR d * IZR S).
    by rewrite /rest /A /B; field; lra.
  apply: Rmult_le_pos; first lra.
  by apply/Rlt_le/Rinv_0_lt_compat; apply: Rmult_lt_0_compat.
have -> : IZR p / IZR d = (A + B) + 0.
  rewrite Rplus_0_r /A /B; have -> : IZR a / (IZR w * IZR d) + IZR b / (IZR w * IZR d) =
    (IZR a + IZR b) / (IZR w * IZR d) by field; lra.
  by rewrite e1'; field; lra.
have -> : IZR q / (IZR d * IZR S) = (A * z i + B * z i.+1) + rest by rewrite /rest; ring.
apply: Rle_trans (value_add _ _ _ _ _) _; rewrite value_0 // Rplus_0_r.
apply: Rle_trans (value_add _ _ _ _ _) _.
have pA : value n A (A * z i) <= A * (IZR (nth 0%Z us i) / IZR T).
  rewrite -{1}(Rmult_1_r A) value_scale //; apply: Rmult_le_compat_l => //; exact: h.
have pB : value n B (B * z i.+1) <= B * (IZR (nth 0%Z us i.+1) / IZR T).
  case: hj => [hb0|hj]; last first.
    by rewrite -{1}(Rmult_1_r B) value_scale //; apply: Rmult_le_compat_l => //; exact: h.
  have -> : B = 0 by rewrite /B hb0 /Rdiv Rmult_0_l.
  by rewrite !Rmult_0_l value_0; lra.
apply: Rle_trans (Rplus_le_compat _ _ _ _ pA pB) _.
have hwd : (0 < w * d)%Z by lia.
have := @up_div_ok (a * nth 0%Z us i + b * nth 0%Z us i.+1) _ hwd.
rewrite plus_IZR !mult_IZR => hu.
apply: (Rmult_le_reg_r (IZR T)) => //.
set u := IZR (up_div _ _) in hu *.
have -> : u / IZR T * IZR T = u by field; lra.
apply: Rle_trans hu; apply: Req_le; rewrite /A /B; field; lra.
Qed.

(** ** One answer more *)
Variable items : seq (seq item).
Hypothesis items_ok : forall xs o, List.In xs items -> List.In o xs ->
  let '(p, p', d) := o in (0 <= p)%Z /\ (0 <= p')%Z /\ (0 < d)%Z.
(** One of them stands for every pair of the game. *)
Hypothesis covered : forall p, List.In p pairs -> exists2 xs, List.In xs items & below (outcomes_of p) (real_items xs).

Lemma worth_ok n us k xs : above n us -> (0 <= k)%Z ->
  (forall o, List.In o xs -> let '(p, p', d) := o in (0 <= p)%Z /\ (0 <= p')%Z /\ (0 < d)%Z) ->
  \rsum_(o <- real_items xs) value n (1 * o.1) (IZR k / IZR S * o.2) <=
  IZR (worth T us [seq at_point zs k o | o <- xs]) / IZR T.
Proof.
move=> hu hk; elim: xs => [|[[a b] d] xs IH] h.
  by rewrite big_nil /worth /= /Rdiv Rmult_0_l; lra.
rewrite [real_items _]/= big_cons.
have [ha [hb hd]] := h _ (or_introl erefl).
have d0 : 0 < IZR d by apply: IZR_lt.
have -> : worth T us [seq at_point zs k o | o <- (a, b, d) :: xs] =
  (part T us (locate zs a (b * k), a, d) + worth T us [seq at_point zs k o | o <- xs])%Z by [].
rewrite plus_IZR /Rdiv Rmult_plus_distr_r; apply: Rplus_le_compat; last first.
  by apply: IH => o ho; apply: h; right.
have hbk : (0 <= b * k)%Z by lia.
have := part_ok hu ha hbk hd; rewrite mult_IZR Rmult_1_l.
have -> : IZR b * IZR k / (IZR d * IZR S) = IZR k * / IZR S * (IZR b * / IZR d) by field; lra.
by [].
Qed.

Lemma foldr_max_ge (x : Z) (s : seq Z) : (x <= foldr Z.max x s)%Z /\ forall y, List.In y s -> (y <= foldr Z.max x s)%Z.
Proof.
elim: s => [|y s [h1 h2]] /=; first by split=> //; lia.
split; first by lia.
by move=> r [->|/h2]; lia.
Qed.

Notation plans := [seq [seq [seq at_point zs k o | o <- p] | p <- items] | k <- zs].

Lemma step_ok n us : above n us -> above n.+1 (step T plans us).
Proof.
move=> hu; have [sz h] := hu; have sp : size plans = size zs by rewrite size_map.
split; first by rewrite /step size_map size_zip sp sz minnn.
move=> i hi.
rewrite /step (nth_map ([::], 0%Z)) ?size_zip ?sp ?sz ?minnn // nth_zip ?sp ?sz // /fst /snd.
rewrite (nth_map 0%Z) //; set best_of := foldr _ _ _.
have [g1 g2] := foldr_max_ge (nth 0%Z us i)
  [seq worth T us xs | xs <- [seq [seq at_point zs (nth 0%Z zs i) o | o <- p] | p <- items]].
have up x : (x <= best_of)%Z -> IZR x / IZR T <= IZR best_of / IZR T.
  by move=> hx; apply: Rmult_le_compat_r; [apply/Rlt_le/Rinv_0_lt_compat|apply: IZR_le].
have first_ok := Rle_trans _ _ _ (h i hi) (up _ g1).
rewrite [value n.+1 _ _]/=; apply: Rmax_lub => //.
apply: best_le => [|p hp]; first exact: Rle_trans (value_ge0 _ _ _) first_ok.
have [xs hxs e] := covered hp.
have z0 : 0 <= z i by apply: Rmult_le_pos; [apply: IZR_le|apply/Rlt_le/Rinv_0_lt_compat].
apply: (Rle_trans _ _ _ (stands_for n hp (real_lawful (fun o ho => items_ok hxs ho)) e Rle_0_1 z0)).
apply: (Rle_trans _ _ _ (worth_ok hu (@zs_ge0 i) (fun o ho => @items_ok _ o hxs ho))).
by apply: up; apply: g2; apply: in_map; apply: (in_map _ hxs).
Qed.

Lemma start_ok : above 0 (start T S zs).
Proof.
split; first by rewrite size_map.
move=> i hi; rewrite /start (nth_map 0%Z) //= /positive.
set k := nth _ _ _; have := @up_div_ok (T * (S - k)) _ hS; rewrite mult_IZR minus_IZR.
set u := up_div _ _ => hu.
have m1 : IZR u <= IZR (Z.max 0 u) by apply: IZR_le; lia.
have m2 : 0 <= IZR (Z.max 0 u) by apply: (IZR_le 0); lia.
apply: Rmax_lub; last by apply: Rmult_le_pos => //; apply/Rlt_le/Rinv_0_lt_compat.
apply: (Rmult_le_reg_r (IZR T)) => //.
have -> : IZR (Z.max 0 u) / IZR T * IZR T = IZR (Z.max 0 u) by field; lra.
apply: Rle_trans m1; apply: Rle_trans hu; apply: Req_le; field; lra.
Qed.

Theorem curve_ok Q : above Q (curve S T zs items Q).
Proof. by elim: Q => [|Q IH]; [apply: start_ok|apply: step_ok]. Qed.
End Convex.

(** ** A yes of the checker *)
Definition whole (o : item) : bool := let '(p, p', d) := o in [&& Z.leb 0 p, Z.leb 0 p' & Z.ltb 0 d].

(** The promise is (tc/tf, pn/pd). The values' unit 1/T and the lattice zs/S need no trust. *)
Definition priced (tc tf : Z) (terms : nat) (pn pd : Z) (listed : seq (seq item)) (Q : nat) (S T : Z) (zs : seq Z) : bool :=
  let '(top, bottom) := exp_down tc tf terms in
  [&& Z.leb 0 tc, Z.ltb 0 tf, Z.ltb 0 pd, Z.ltb 0 S, Z.ltb 0 T, all (Z.leb 0) zs, all (all whole) listed &
      Z.leb (part T (curve S T zs (prune listed) Q) (locate zs bottom (top * S), bottom, bottom) * pd) (pn * T)].

(** Lists of items that a price may take beside those of a table, and that may stand for these: what they are
    plays no part, since a price is never lower for them. One whose answers each keep (ln (n/m), a/b) is below
    this one, whose Q answers are composed exactly. Code: accountant/game.Each *)
Definition keeping (n m a b : Z) : seq item :=
  let d := (b * (n + m))%Z in
  [:: (a * (n + m), 0, d); ((b - a) * n, (b - a) * m, d); ((b - a) * m, (b - a) * n, d); (0, a * (n + m), d)]%Z.

Section Priced.
Variable O : finType.
Variable pairs : seq (laws O).
Hypothesis lawful : forall p, List.In p pairs ->
  (forall o, 0 <= p.1 o) /\ (forall o, 0 <= p.2 o) /\ \rsum_o p.1 o = 1.
Hypothesis mirrored : forall p, List.In p pairs -> List.In (p.2, p.1) pairs.
Variables (tc tf : Z) (terms : nat) (pn pd : Z) (listed : seq (seq item)) (Q : nat) (S T : Z) (zs : seq Z).
Hypothesis yes : priced tc tf terms pn pd listed Q S T zs.
Hypothesis covered : forall p, List.In p pairs -> exists2 xs, List.In xs listed & below (outcomes_of p) (real_items xs).

Lemma checked : [/\ (0 <= tc)%Z, (0 < tf)%Z, (0 < pd)%Z & (0 < S)%Z /\ (0 < T)%Z] /\
  [/\ forall i, (0 <= nth 0 zs i)%Z, forall xs, List.In xs listed -> sound xs &
  let '(top, bottom) := exp_down tc tf terms in
  (part T (curve S T zs (prune listed) Q) (locate zs bottom (top * S), bottom, bottom) * pd <= pn * T)%Z].
Proof.
move: yes; rewrite /priced; case: exp_down => top bottom.
case/andP => /Z.leb_le h1 /andP [/Z.ltb_lt h2 /andP [/Z.ltb_lt h3 /andP [/Z.ltb_lt hS /andP [/Z.ltb_lt hT]]]].
case/andP => /all_nthP hz /andP [hl /Z.leb_le he]; do 2!split=> //.
- move=> i; have [hi|hi] := ltnP i (size zs); first by apply/Z.leb_le; apply: hz.
  by rewrite nth_default //; apply: Z.le_refl.
- move=> xs hxs [[a b] d] ho.
  by have /andP [/Z.leb_le ha /andP [/Z.leb_le hb /Z.ltb_lt hd]] := in_all ho (in_all hxs hl).
Qed.

(** The value of the game at e^ε is at most δ. *)
Lemma value_ok : exists2 e, e <= exp (IZR tc / IZR tf) & value pairs Q 1 e <= IZR pn / IZR pd.
Proof.
have [[a1 a2 a4 [hS hT]] [hz hl]] := checked.
move: (@exp_down_ge1 _ _ terms a1 a2) (@exp_down_ok _ _ terms a1 a2); case: exp_down => top bottom [ge1 hb] le he.
exists (IZR top / IZR bottom) => //.
have hb' : 0 < IZR bottom by apply: IZR_lt.
have [s0 t0] : 0 < IZR S /\ 0 < IZR T by split; apply: IZR_lt.
have p0 : 0 < IZR pd by apply: IZR_lt.
have htop : (0 <= top)%Z.
  apply: le_IZR; have -> : IZR top = IZR top / IZR bottom * IZR bottom by field; lra.
  by apply: Rmult_le_pos; lra.
have [sub all] := prune_ok hl.
have kept_covered p : List.In p pairs -> exists2 xs, List.In xs (prune listed) & below (outcomes_of p) (real_items xs).
  by case/covered => xs /all [ys hy hb2] hb1; exists ys => //; apply: below_trans hb1 hb2.
have h := curve_ok lawful hS hT hz (fun xs o hx ho => hl xs (sub xs hx) o ho) kept_covered Q.
have hq : (0 <= top * S)%Z by lia.
have hb1 : (0 <= bottom)%Z by lia.
have := part_ok lawful hS hT h hb1 hq hb; rewrite mult_IZR.
have -> : IZR bottom / IZR bottom = 1 by field; lra.
have -> : IZR top * IZR S / (IZR bottom * IZR S) = IZR top / IZR bottom by field; lra.
move=> hv; apply: Rle_trans hv _; move/IZR_le: he; rewrite !mult_IZR; set u := IZR (part _ _ _) => hu.
apply: (Rmult_le_reg_r (IZR T * IZR pd)); first exact: Rmult_lt_0_compat.
have -> : u / IZR T * (IZR T * IZR pd) = u * IZR pd by field; lra.
by have -> : IZR pn / IZR pd * (IZR T * IZR pd) = IZR pn * IZR T by field; lra.
Qed.

(** ** Both directions *)
Variable o0 : O.
Notation asked := (allowed pairs).
Fixpoint swap (s : strategy O) : strategy O :=
  if s is Ask p next then Ask (p.2, p.1) (fun o => swap (next o)) else Stop _.

Lemma swap_asked n s : asked n s -> asked n (swap s).
Proof. by elim: s n => [|p next IH] [|n] //= [h hn]; split=> [|o]; [apply: mirrored|apply: IH]. Qed.

Lemma swap_law side s v : run_law o0 side (swap s) v = run_law o0 (~~ side) s v.
Proof. by elim: s v => [|p next IH] [|o v] //=; rewrite IH; case: (side). Qed.

Lemma law_ge0 side n s v : asked n s -> 0 <= run_law o0 side s v.
Proof.
elim: s n v => [|p next IH] [|n] [|o v] //= h; try by [lra|case: ifP => _; lra].
case: h => /lawful [h1 [h2 _]] hn; apply: Rmult_le_pos; last exact: (IH _ n).
by case: (side).
Qed.

(** Every adaptive strategy of at most Q answers, every set of transcripts. *)
Theorem priced_ok s : asked Q s ->
  close2 (exp (IZR tc / IZR tf)) (IZR pn / IZR pd) (fun v : Q.-tuple O => run_law o0 true s v) (fun v => run_law o0 false s v).
Proof.
have [e he hv] := value_ok.
have one s' : asked Q s' -> close (exp (IZR tc / IZR tf)) (IZR pn / IZR pd)
    (fun v : Q.-tuple O => run_law o0 true s' v) (fun v => run_law o0 false s' v).
  move=> h A; have := game_private o0 e h A.
  have : 0 <= Pr (fun v : Q.-tuple O => run_law o0 false s' v) A by apply: rsum_ge0 => v _; apply: law_ge0 h.
  move=> h0 h2; have h3 := Rmult_le_compat_r _ _ _ h0 he.
  exact: Rle_trans h2 (Rplus_le_compat _ _ _ _ h3 hv).
move=> h; split; first exact: one.
move=> A; have := one _ (swap_asked h) A; rewrite /Pr.
by under eq_bigr do rewrite swap_law; under [X in _ <= _ * X + _]eq_bigr do rewrite swap_law.
Qed.
End Priced.

(** ** Questions about votes: pairs of allowed votes of which at most t differ *)
Section Questions.
Variables (K t : nat) (V O : finType) (ok : pred (K.-tuple V)).
Definition about (M : K.-tuple V -> O -> R) : seq (laws O) :=
  [seq (M w.1, M w.2) | w <- enum [pred w : K.-tuple V * K.-tuple V | [&& ok w.1, ok w.2 & (moved w.1 w.2 <= t)%N]]].

Lemma about_are M p : List.In p (about M) -> exists v v' : K.-tuple V,
  [/\ p = (M v, M v'), ok v, ok v' & near_votes t v v'].
Proof.
move=> hp; have [w hw ->] := out_map hp; move: (out_list hw); rewrite mem_enum => /and3P [h1 h2 h3].
by exists w.1, w.2; split.
Qed.

Lemma about_in M v v' : ok v -> ok v' -> near_votes t v v' -> List.In (M v, M v') (about M).
Proof.
move=> c c' near; apply: (@in_map _ _ (fun w => (M w.1, M w.2)) (v, v')); apply: in_list.
by rewrite mem_enum inE /=; apply/and3P.
Qed.

Lemma about_mirrored M p : List.In p (about M) -> List.In (p.2, p.1) (about M).
Proof.
case/about_are => v [v' [-> c c' near]]; apply: about_in => //.
by rewrite /near_votes /moved (eq_card (B := [set i | tnth v i != tnth v' i])) // => i; rewrite !inE eq_sym.
Qed.
End Questions.

(** A pair whose answers' probabilities are those of its items. *)
Lemma below_items (O : finType) (p : laws O) xs : (forall F : R -> R -> R, F 0 0 = 0 -> \rsum_o F (p.1 o) (p.2 o) =
    foldr Rplus 0 [seq let '(a, b, d) := o in F (IZR a / IZR d) (IZR b / IZR d) | o <- xs]) ->
  below (outcomes_of p) (real_items xs).
Proof.
move=> e y y0; rewrite /excess /outcomes_of /real_items !big_map (e (fun a b => positive (a - y * b))); last first.
  by rewrite Rmult_0_r Rminus_0_r positive_0 //; apply: Rle_refl.
by apply: Req_le; elim: xs {e} => [|[[a b] d] s IH]; rewrite ?big_nil //= big_cons IH.
Qed.
