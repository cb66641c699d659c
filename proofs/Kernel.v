(** One table checked by Coq's kernel itself: nothing is extracted, nothing is read.
    The numbers are those of gamma/testdata/k11-m3-pure.json (proofs/check --numbers). *)
From Coq Require Import ZArith List Reals.
From mathcomp Require Import all_ssreflect.
From darrm Require Import Definitions TwoClasses.
Import ListNotations.

Definition k11 : table := Table 11 11 43 1 10 3 10 0 1 0 1 9007199254740992
  [(-9007199254740711); (-8803022523031318); (-9007199254740711); (-9007199254740711);
   (-4882713426498132); (-8464088668058520); 8464088668058520; 4882713426498132;
   9007199254740711; 9007199254740711; 8803022523031318; 9007199254740711]%Z.
Lemma k11_private : TwoClasses.private k11 = true.
Proof. vm_cast_no_check (erefl true). Qed.

Theorem k11_promise : keeps_its_promise k11.
Proof. exact: private_ok k11_private. Qed.
