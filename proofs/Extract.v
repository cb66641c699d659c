(** The checker as an OCaml program. Trusted: extraction, ExtrOcamlZBigInt, OCaml, zarith. *)
From Coq Require Import ZArith QArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From darrm Require TwoClasses ManyClasses.
Definition two_table := TwoClasses.Table.
Definition two_private := TwoClasses.private.
Definition many_table := ManyClasses.Table.
Definition many_private := ManyClasses.private.
Extraction Language OCaml.
Extraction "out/checker.ml" two_table two_private many_table many_private.
