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

(** ** Histograms near each other are those of votes near each other *)
Section Near.
Variables K C : nat.
Notation votes := (K.-tuple 'I_C).

Definition blocks (f : 'I_C -> nat) : seq 'I_C := flatten [seq nseq (f c) c | c <- enum 'I_C].

Lemma size_blocks f : size (blocks f) = (\sum_(c < C) f c)%N.
Proof.
rewrite size_flatten /shape -map_comp sumnE big_map big_enum /=.
by apply: eq_bigr => c _; rewrite size_nseq.
Qed.

Lemma count_blocks f c : count_mem c (blocks f) = f c.
Proof.
rewrite count_flatten -map_comp sumnE big_map big_enum /= (bigD1 c) //= count_nseq /= eqxx mul1n big1 ?addn0 // => d /negbTE n.
by rewrite count_nseq /= n.
Qed.

Lemma moved_tails (v w : votes) (a b b' : seq 'I_C) : tval v = a ++ b -> tval w = a ++ b' -> (moved v w <= size b)%N.
Proof.
move=> ev ew; rewrite /moved; apply: (@leq_trans #|[set i : 'I_K | (size a <= i)%N]|).
  apply/subset_leq_card/subsetP => i; rewrite !inE; apply: contraR; rewrite -ltnNge => lt.
  by have z := tnth v i; rewrite !(tnth_nth z) ev ew !nth_cat lt.
have sz : (size a + size b)%N = K by rewrite -size_cat -ev size_tuple.
have -> : #|[set i : 'I_K | (size a <= i)%N]| = (\sum_(size a <= i < K) 1)%N.
  by rewrite big_geq_mkord sum1dep_card.
by rewrite sum_nat_const_nat muln1 -sz addKn.
Qed.

Lemma near_votes_of t (h h' : histogram C) : votes_in h = K -> votes_in h' = K -> (gained h' h <= t)%N ->
  exists v w : votes, [/\ tally v = h, tally w = h' & near_votes t v w].
Proof.
move=> eh eh' near.
pose a := blocks (fun c => minn (tnth h c) (tnth h' c)).
pose b := blocks (fun c => tnth h c - tnth h' c)%N; pose b' := blocks (fun c => tnth h' c - tnth h c)%N.
have sum (x y : nat) : (minn x y + (x - y) = x)%N by rewrite minnE subnK // leq_subr.
have sz : size (a ++ b) == K.
  by rewrite size_cat !size_blocks -big_split /= -eh; apply/eqP/eq_bigr => c _; rewrite sum.
have sz' : size (a ++ b') == K.
  by rewrite size_cat !size_blocks -big_split /= -eh'; apply/eqP/eq_bigr => c _; rewrite minnC sum.
exists (Tuple sz), (Tuple sz'); split.
- by apply: eq_from_tnth => c; rewrite tnth_mktuple /= count_cat !count_blocks sum.
- by apply: eq_from_tnth => c; rewrite tnth_mktuple /= count_cat !count_blocks minnC sum.
- apply: leq_trans (@moved_tails (Tuple sz) (Tuple sz') a b b' _ _) _ => //.
  by rewrite size_blocks.
Qed.
End Near.

(** ** Multipliers bound how often any private mechanism is right *)
Lemma sum_pick (A : eqType) (s : seq A) (i : A) (F : A -> R) : uniq s -> i \in s -> \big[Rplus/0]_(j <- s | j == i) F j = F i.
Proof.
elim: s => //= j s IH /andP [nj u]; rewrite in_cons big_cons => /orP [/eqP e|hi].
  rewrite -e eqxx big1_seq ?Rplus_0_r // => k /andP [/eqP ek hk].
  by rewrite -e -ek hk in nj.
by case: eqP => [e|_]; [rewrite e hi in nj|apply: IH].
Qed.

Lemma positive_close (T : finType) e d (P P' : T -> R) : close e d P P' -> \rsum_o positive (P o - e * P' o) <= d.
Proof.
pose up o := if Rle_dec 0 (P o - e * P' o) then true else false.
move=> h; have := h [set o | up o]; rewrite /Pr => hs.
suff -> : \rsum_o positive (P o - e * P' o) = \rsum_(o in [set o | up o]) P o - e * \rsum_(o in [set o | up o]) P' o by lra.
rewrite (bigID up) /= [X in _ + X]big1 => [|o]; last first.
  by rewrite /up; case: Rle_dec => // n _; apply: positive_0; lra.
rewrite Rplus_0_r big_distrr /=.
have -> : forall x y, x - y = x + - 1 * y by move=> x y; ring.
rewrite big_distrr -big_split /=; apply: eq_big => o; first by rewrite inE.
by rewrite /up; case: Rle_dec => // p _; rewrite positive_id //; ring.
Qed.

(** ** Numbers of votes and the classes that have them *)
Section Keys.
Variables (K C : nat) (a : R).
Notation votes := (K.-tuple 'I_C).
Notation answers := (answers C).

Definition share (h : histogram C) (y : answers -> R) (k : option nat) : R := \rsum_(o | omap (tnth h) o == k) y o.
Definition members (l : seq nat) (k : option nat) : R := if k is Some b then INR (count_mem b l) else 1.
Definition objective (l : seq nat) (k : option nat) : R :=
  if k is Some b then (if b == head 0%N l then INR (count_mem b l) else 0) else a.

Lemma by_key (ks : seq (option nat)) (h : histogram C) y G : uniq ks ->
  (forall o, omap (tnth h) o \in ks \/ G (omap (tnth h) o) = 0) ->
  \rsum_o (y o * G (omap (tnth h) o)) = \rsum_(k <- ks) (share h y k * G k).
Proof.
move=> un all.
rewrite [RHS](eq_bigr (fun k => \rsum_o (if omap (tnth h) o == k then y o * G k else 0))) => [|k _].
  rewrite [RHS]exchange_big; apply: eq_bigr => o _; rewrite -big_mkcond /=.
  rewrite (eq_bigl (fun k => k == omap (tnth h) o)) => [|k]; last exact: eq_sym.
  case: (all o) => [hk|z]; first by rewrite sum_pick.
  by rewrite z Rmult_0_r big1 // => k /eqP ->; rewrite z Rmult_0_r.
by rewrite /share big_distrl /= big_mkcond.
Qed.

Lemma share_none (h : histogram C) y : share h y None = y None.
Proof. by rewrite /share (big_pred1 None) // => -[c|]. Qed.
Lemma share_some (h : histogram C) y b : share h y (Some b) = \rsum_(c | tnth h c == b) y (Some c).
Proof. by rewrite /share (reindex_omap Some id) => [|[c|]] //; apply: eq_bigl => c /=; rewrite [X in _ && X]eqxx andbT. Qed.

Lemma sum_members (h : histogram C) b x : \rsum_(c | tnth h c == b) x = INR (count_mem b (sort geq h)) * x.
Proof.
rewrite -(big_tuple _ _ h (pred1 b) (fun _ => x)) big_const_seq.
have -> : count_mem b (sort geq h) = count_mem b h by apply/seq.permP; rewrite perm_sort.
by elim: (count_mem b h) => [|n IH]; [rewrite /=; ring|rewrite iterS S_INR IH; ring].
Qed.

Lemma share_1 (h : histogram C) k : share h (fun _ => 1) k = members (sort geq h) k.
Proof. by case: k => [b|]; [rewrite share_some sum_members Rmult_1_r|apply: share_none]. Qed.

Lemma head_max (s : seq nat) x : x \in s -> (x <= head 0 (sort geq s))%N /\ head 0%N (sort geq s) \in s.
Proof.
rewrite -!(mem_sort geq s); have : sorted geq (sort geq s) by apply: sort_sorted => y z; apply: leq_total.
case: (sort geq s) => // y l so hx; split; last exact: mem_head.
have /allP h : all (geq y) l by apply: (order_path_min _ so) => u z w h1 h2; apply: leq_trans h2 h1.
by move: hx; rewrite in_cons => /orP [/eqP ->|/h].
Qed.

Lemma mostE (v : votes) c :
  [forall d, (count_mem d v <= count_mem c v)%N] = (tnth (tally v) c == head 0%N (sorted_tally v)).
Proof.
have inside d : count_mem d v \in tval (tally v).
  by rewrite (_ : count_mem d v = tnth (tally v) d) ?mem_tnth // tnth_mktuple.
have [_ /tnthP [d e]] := head_max (inside c); rewrite tnth_mktuple.
apply/forallP/eqP => [h|-> d']; last by have [] := head_max (inside d').
apply/eqP; rewrite eqn_leq; have [-> _] := head_max (inside c).
by rewrite /sorted_tally e tnth_mktuple h.
Qed.

Lemma share_merit (v : votes) k : share (tally v) (merit a v) k = objective (sorted_tally v) k.
Proof.
case: k => [b|]; last exact: share_none.
rewrite share_some /merit /= (eq_bigr (fun _ => if b == head 0%N (sorted_tally v) then 1 else 0)) => [|c /eqP <-].
  by rewrite sum_members /objective -/(sorted_tally v); case: eqP => _; rewrite ?Rmult_1_r ?Rmult_0_r.
by congr (if _ then _ else _); apply: mostE.
Qed.

End Keys.

Section Bound.
Variables (K C t : nat) (eps delta E a : R).
Notation votes := (K.-tuple 'I_C).
Notation answers := (answers C).
Hypothesis hE : exp eps <= E.
Variable M : votes -> dist answers.
Hypothesis hM : private (near_votes t) eps delta (fun v => M v).
Notation P := (at_key M).

Record multiplier := Multiplier { from : histogram C; to : histogram C; price : answers -> R; most : R }.
Definition allowed (m : multiplier) : Prop := [/\ votes_in (from m) = K, votes_in (to m) = K,
  (gained (to m) (from m) <= t)%N & forall o, 0 <= price m o <= most m].

Lemma row_ok m : allowed m ->
  \rsum_o (price m o * P (sort geq (from m)) (omap (tnth (from m)) o))
  - E * (\rsum_o (price m o * P (sort geq (to m)) (omap (tnth (to m)) o))) <= delta * most m.
Proof.
case: m => h h' y Y [/= e e' near hy]; have [v [w [<- <- nvw]]] := near_votes_of e e' near.
have c := mean_private hM nvw.
have {}c : close E delta (mean M v) (mean M w).
  move=> S; apply: Rle_trans (c S) _; have : 0 <= Pr (mean M w) S by apply: rsum_ge0 => o _; apply: mean_ge0.
  by nra.
have := positive_close c; set s := \rsum_o _ => hs.
rewrite -!/(sorted_tally _).
have -> : \rsum_o (y o * P (sorted_tally v) (omap (tnth (tally v)) o)) = \rsum_o (y o * mean M v o).
  by apply: eq_bigr => o _; rewrite -meanE.
have -> : \rsum_o (y o * P (sorted_tally w) (omap (tnth (tally w)) o)) = \rsum_o (y o * mean M w o).
  by apply: eq_bigr => o _; rewrite -meanE.
have Y0 : 0 <= Y by have := hy None; lra.
apply: (Rle_trans _ (s * Y)); last by rewrite [X in _ <= X]Rmult_comm; nra.
have -> : forall x z, x - E * z = x + (- E) * z by move=> x z; ring.
rewrite /s big_distrl big_distrr -big_split /=; apply: rsum_le => o _.
have := hy o; have := positive_ge (mean M v o - E * mean M w o).
have := positive_ge0 (mean M v o - E * mean M w o); nra.
Qed.

(** The sorted histograms, and the numbers of votes that their classes have. *)
Variables (L : seq (seq nat)) (keys : seq nat -> seq (option nat)).
Hypothesis L_uniq : uniq L.
Hypothesis L_all : forall v : votes, sorted_tally v \in L.
Hypothesis L_real : forall l, l \in L -> exists v : votes, sorted_tally v = l.
Hypothesis keys_uniq : forall l, uniq (keys l).
Hypothesis keys_all : forall (h : histogram C) o,
  omap (tnth h) o \in keys (sort geq h) \/ (o = None /\ forall v, M v None = 0).

Lemma none_0 l : (forall v, M v None = 0) -> P l None = 0.
Proof.
move=> h; rewrite /at_key; case: pickP => //= -[v [c|]] /andP [_ //= _].
by rewrite /mean big1 // => s _; rewrite h Rmult_0_r.
Qed.

Lemma keys_or_0 (h : histogram C) o :
  omap (tnth h) o \in keys (sort geq h) \/ P (sort geq h) (omap (tnth h) o) = 0.
Proof. by case: (keys_all h o) => [|[-> z]]; [left|right; apply: none_0]. Qed.

(** ** The theorem *)
Variables (u : votes -> R) (U : seq nat -> R).
Hypothesis uE : forall v, u v = U (sorted_tally v).
Definition weight (l : seq nat) : R := \rsum_(v | sorted_tally v == l) u v.

Lemma regroup F : \rsum_v (u v * F (sorted_tally v)) = \rsum_(l <- L) (weight l * F l).
Proof.
rewrite [RHS](eq_bigr (fun l => \rsum_v (if sorted_tally v == l then u v * F l else 0))) => [|l _]; last first.
  by rewrite /weight big_distrl /= big_mkcond.
rewrite exchange_big; apply: eq_bigr => v _; rewrite -big_mkcond /=.
by rewrite (eq_bigl (fun l => l == sorted_tally v)) ?sum_pick // => l; apply: eq_sym.
Qed.

Lemma simplex l : l \in L -> \rsum_(k <- keys l) (members l k * P l k) = 1.
Proof.
move=> /L_real [v <-]; rewrite -[RHS](mean_sum M v).
rewrite (eq_bigr (fun k => share (tally v) (fun _ => 1) k * P (sorted_tally v) k)) => [|k _].
  rewrite -by_key //; [by apply: eq_bigr => o _; rewrite Rmult_1_l -meanE|exact: keys_or_0].
by rewrite share_1.
Qed.

Lemma hits_sum : hits a u (fun v => M v) = \rsum_(l <- L) \rsum_(k <- keys l) (weight l * objective a l k * P l k).
Proof.
rewrite -hits_mean => [|s v]; last by rewrite !uE sorted_act.
rewrite /hits (eq_bigr (fun v => u v * (\rsum_(k <- keys (sorted_tally v))
    (objective a (sorted_tally v) k * P (sorted_tally v) k)))) => [|v _].
  rewrite (regroup (fun l => \rsum_(k <- keys l) (objective a l k * P l k))).
  by apply: eq_bigr => l _; rewrite big_distrr /=; apply: eq_bigr => k _; ring.
congr Rmult; rewrite (eq_bigr (fun o => merit a v o * P (sorted_tally v) (omap (tnth (tally v)) o))) => [|o _].
  rewrite (by_key _ _ (@keys_or_0 _)) //; by apply: eq_bigr => k _; rewrite share_merit.
by rewrite -meanE.
Qed.

(** What a multiplier's row takes from a key and gives to it. *)
Definition effect (m : multiplier) (l : seq nat) (k : option nat) : R :=
  (if sort geq (from m) == l then share (from m) (price m) k else 0)
  - E * (if sort geq (to m) == l then share (to m) (price m) k else 0).
Definition slope (ms : seq multiplier) (l : seq nat) (k : option nat) : R :=
  weight l * objective a l k - \rsum_(m <- ms) effect m l k.

Lemma effect_ok m : allowed m -> \rsum_(l <- L) \rsum_(k <- keys l) (effect m l k * P l k) <= delta * most m.
Proof.
move=> ok; apply: Rle_trans (row_ok ok); apply: Req_le; case: ok => e e' near _.
have [v [w [ev ew _]]] := near_votes_of e e' near.
have part (h : histogram C) : sort geq h \in L ->
    \rsum_(l <- L) \rsum_(k <- keys l) ((if sort geq h == l then share h (price m) k else 0) * P l k) =
    \rsum_o (price m o * P (sort geq h) (omap (tnth h) o)).
  move=> hl; rewrite (by_key _ _ (@keys_or_0 _)) // -(sum_pick (fun l => \rsum_(k <- keys l) (share h (price m) k * P l k)) L_uniq hl).
  rewrite [RHS]big_mkcond; apply: eq_bigr => l _; rewrite eq_sym; case: eqP => // _.
  by apply: big1 => k _; rewrite Rmult_0_l.
rewrite -!part; first last.
- by rewrite -ev; apply: L_all.
- by rewrite -ew; apply: L_all.
have -> : forall x z, x - E * z = x + (- E) * z by move=> x z; ring.
rewrite big_distrr -big_split; apply: eq_bigr => l _ /=.
by rewrite big_distrr -big_split; apply: eq_bigr => k _ /=; rewrite /effect; ring.
Qed.

Theorem upper_bound (ms : seq multiplier) (best : seq nat -> R) :
  (forall m, List.In m ms -> allowed m) ->
  (forall l k, l \in L -> k \in keys l -> slope ms l k <= best l * members l k) ->
  hits a u (fun v => M v) <= \rsum_(m <- ms) (delta * most m) + \rsum_(l <- L) best l.
Proof.
move=> hms hbest.
have rows : \rsum_(l <- L) \rsum_(k <- keys l) ((\rsum_(m <- ms) effect m l k) * P l k) <= \rsum_(m <- ms) (delta * most m).
  have -> : \rsum_(l <- L) \rsum_(k <- keys l) ((\rsum_(m <- ms) effect m l k) * P l k) =
      \rsum_(m <- ms) \rsum_(l <- L) \rsum_(k <- keys l) (effect m l k * P l k).
    rewrite [RHS]exchange_big; apply: eq_bigr => l _; rewrite [RHS]exchange_big.
    by apply: eq_bigr => k _; rewrite big_distrl.
  elim: ms hms {hbest} => [|m ms IH] h; first by rewrite !big_nil; apply: Rle_refl.
  rewrite !big_cons; apply: Rplus_le_compat; first by apply: effect_ok; apply: h; left.
  by apply: IH => m' hm'; apply: h; right.
have tops : \rsum_(l <- L) \rsum_(k <- keys l) (slope ms l k * P l k) <= \rsum_(l <- L) best l.
  rewrite big_seq [X in _ <= X]big_seq; apply: (big_ind2 (fun x y => x <= y)); first exact: Rle_refl.
    by move=> x y z w; apply: Rplus_le_compat.
  move=> l hl; rewrite -[X in _ <= X]Rmult_1_r -(simplex hl) big_distrr /= big_seq [X in _ <= X]big_seq.
  apply: (big_ind2 (fun x y => x <= y)); first exact: Rle_refl.
    by move=> x y z w; apply: Rplus_le_compat.
  by move=> k hk; have := hbest _ _ hl hk; have := at_key_ge0 M l k; nra.
rewrite hits_sum; have -> : \rsum_(l <- L) \rsum_(k <- keys l) (weight l * objective a l k * P l k) =
    \rsum_(l <- L) \rsum_(k <- keys l) ((\rsum_(m <- ms) effect m l k) * P l k)
    + \rsum_(l <- L) \rsum_(k <- keys l) (slope ms l k * P l k).
  rewrite -big_split; apply: eq_bigr => l _ /=; rewrite -big_split; apply: eq_bigr => k _ /=; rewrite /slope; ring.
lra.
Qed.
End Bound.
