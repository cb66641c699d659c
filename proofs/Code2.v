(** The executable check of a two-class table: integers in, yes or no out. No proof here.
    Numbers: e+ = en/ed >= e^eps, Delta = dn/dd, E- = top/bottom <= e^(m eps), delta = pn/pd,
    phi(l) = nth l phi / one. *)
From Coq Require Import ZArith List Bool.
Import ListNotations.
Open Scope Z_scope.

(** ((1-p) x + p y) * s for p = n/s, along a list: one shorter. *)
Fixpoint step (n s : Z) (u : list Z) : list Z :=
  match u with
  | x :: ((y :: _) as u') => ((s - n) * x + n * y) :: step n s u'
  | _ => []
  end.

Record problem := Problem { en : Z; ed : Z; dn : Z; dd : Z; top : Z; bottom : Z; pn : Z; pd : Z }.

(** Corner i: numerators of p and p', and their denominator. *)
Definition corner_of (q : problem) (i : nat) : Z * Z * Z :=
  let hd := q.(dd) * (q.(en) + q.(ed)) in
  let hn := q.(en) * q.(dd) + q.(dn) * q.(ed) in
  match i with
  | 0%nat => (0, 0, 1) | 1%nat => (1, 1, 1)
  | 2%nat => (q.(dn), 0, q.(dd)) | 3%nat => (0, q.(dn), q.(dd))
  | 4%nat => (q.(dd), q.(dd) - q.(dn), q.(dd)) | 5%nat => (q.(dd) - q.(dn), q.(dd), q.(dd))
  | 6%nat => (hn, hd - hn, hd) | _ => (hd - hn, hn, hd)
  end.

Definition moves (i : nat) : bool := match i with O => false | S O => false | _ => true end.

(** Phi(p) - E- Phi(p') <= E- - 1 + 2 delta, times the denominators. *)
Definition leaf (q : problem) (x y scale : Z) : bool :=
  q.(pd) * (q.(bottom) * x - q.(top) * y)
  <=? (q.(pd) * (q.(top) - q.(bottom)) + 2 * q.(bottom) * q.(pn)) * scale.

(** All multisets of [left] teachers at the corners [cs], at most [mv] of which move. *)
Fixpoint visit (q : problem) (cs : list nat) : nat -> nat -> list Z -> list Z -> Z -> bool :=
  match cs with
  | [] => fun left _ u v scale =>
      match left with O => leaf q (hd 0 u) (hd 0 v) scale | S _ => true end
  | i :: cs' =>
      let '(n, n', s) := corner_of q i in
      fix use (left mv : nat) (u v : list Z) (scale : Z) {struct left} : bool :=
        visit q cs' left mv u v scale &&
        match left with
        | O => true
        | S left' =>
            if moves i
            then match mv with
                 | O => true
                 | S mv' => use left' mv' (step n s u) (step n' s v) (scale * s)
                 end
            else use left' mv (step n s u) (step n' s v) (scale * s)
        end
  end.

(** Where Δ is 0 or 1 four corners are two others. *)
Definition corners_of (q : problem) : list nat :=
  if (q.(dn) =? 0) || (q.(dn) =? q.(dd)) then [0; 1; 6; 7]%nat else [0; 1; 2; 3; 4; 5; 6; 7]%nat.

Definition sane (q : problem) : bool :=
  (0 <? q.(ed)) && (q.(ed) <=? q.(en)) && (0 <? q.(dd)) && (0 <=? q.(dn)) && (q.(dn) <=? q.(dd)) &&
  (0 <? q.(bottom)) && (q.(bottom) <=? q.(top)) && (0 <? q.(pd)) && (0 <=? q.(pn)).

(** Where the reached teachers may all be revealed: tε <= total (ε = a/b, total = c/f) and
    1 - (1-Δ)^t <= δ. *)
Definition revealed (a b c f dn dd pn pd : Z) (t : nat) : bool :=
  (Z.of_nat t * a * f <=? c * b) &&
  (pd * (Z.pow dd (Z.of_nat t) - Z.pow (dd - dn) (Z.of_nat t)) <=? pn * Z.pow dd (Z.of_nat t)).

Definition phi_ok (K : nat) (one : Z) (phi : list Z) : bool :=
  (0 <? one) && Nat.eqb (length phi) (S K) && forallb (fun x => (- one <=? x) && (x <=? one)) phi.

(** Whether both labels are treated alike: phi(K-l) = -phi(l). *)
Fixpoint opposite (u v : list Z) : bool :=
  match u, v with
  | x :: u', y :: v' => (x =? - y) && opposite u' v'
  | [], [] => true
  | _, _ => false
  end.
Definition alike (phi : list Z) : bool := opposite phi (rev phi).

(** -phi has the constraints of label 0, which are those of label 1 where both are treated alike. *)
Definition swept (q : problem) (K t : nat) (one : Z) (phi : list Z) : bool :=
  sane q && phi_ok K one phi && visit q (corners_of q) K t phi phi one &&
  (alike phi || visit q (corners_of q) K t (map Z.opp phi) (map Z.opp phi) one).
