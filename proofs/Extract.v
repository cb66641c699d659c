(** The checker as an OCaml program. Trusted: extraction, ExtrOcamlZBigInt, OCaml, zarith. *)
From Coq Require Import ZArith QArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From darrm Require TwoClasses ManyClasses ManyBound Optimal Bound ByName Price Answers Named NoisePrice.
Definition two_table := TwoClasses.Table.
Definition two_private := TwoClasses.private.
Definition shape_of (n : nat) := match n with O => Optimal.Free | S O => Optimal.Monotone | _ => Optimal.Any end.
Definition mean_prior := Bound.Mean.
Definition counts_prior := Bound.Counts.
Definition worst_prior := Bound.Worst.
Definition two_optimal := Bound.optimal.
Definition named_losses := ByName.Losses.
Definition named_optimal := ByName.named_optimal.
Definition many_table := ManyClasses.Table.
Definition many_private := ManyClasses.private.
Definition accuracy_prior := ManyBound.Accuracy.
Definition concentration_prior := ManyBound.Concentration.
Definition histograms_prior := ManyBound.Counts.
Definition many_row := ManyBound.Row.
Definition many_optimal := ManyBound.optimal.
Definition answers_price := Answers.price.
Definition answers_named := Named.named_price.
Definition answers_keeping := Price.keeping.
Definition noise_table := NoisePrice.Noise.
Definition noise_price := NoisePrice.noise_price.
Extraction Language OCaml.
Extraction "out/checker.ml" two_table two_private shape_of mean_prior counts_prior
  worst_prior two_optimal named_losses named_optimal many_table many_private accuracy_prior concentration_prior
  histograms_prior many_row many_optimal answers_price answers_named answers_keeping
  noise_table noise_price.
