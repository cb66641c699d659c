(** What every theorem of the claim rests on; make compares it with assumptions.txt. *)
From Coq Require Import String.
Open Scope string_scope.
From darrm Require Definitions Missing Corners PostProcessing Plurality Optimal Exp TwoClasses ManyClasses ManyVotes
  ManyBound Bound Votes ByName Game Dominate Price Answers Named Noise NoisePrice Mixture Kernel.
Check "Missing.coins_private".
Print Assumptions Missing.coins_private.
Check "Missing.coined_private".
Print Assumptions Missing.coined_private.
Check "Corners.corners_private".
Print Assumptions Corners.corners_private.
Check "Corners.checked_alike".
Print Assumptions Corners.checked_alike.
Check "PostProcessing.post_private".
Print Assumptions PostProcessing.post_private.
Check "Plurality.plurality_private".
Print Assumptions Plurality.plurality_private.
Check "Plurality.plurality_law".
Print Assumptions Plurality.plurality_law.
Check "ManyClasses.vectors_all".
Print Assumptions ManyClasses.vectors_all.
Check "ManyClasses.partitions_all".
Print Assumptions ManyClasses.partitions_all.
Check "Optimal.lower_bound".
Print Assumptions Optimal.lower_bound.
Check "Exp.exp_up_ok".
Print Assumptions Exp.exp_up_ok.
Check "Exp.exp_down_ok".
Print Assumptions Exp.exp_down_ok.
Check "TwoClasses.private_ok".
Print Assumptions TwoClasses.private_ok.
Check "ManyClasses.private_ok".
Print Assumptions ManyClasses.private_ok.
Check "ManyVotes.mean_private".
Print Assumptions ManyVotes.mean_private.
Check "ManyVotes.hits_mean".
Print Assumptions ManyVotes.hits_mean.
Check "ManyVotes.upper_bound".
Print Assumptions ManyVotes.upper_bound.
Check "ManyBound.ways_sorted".
Print Assumptions ManyBound.ways_sorted.
Check "ManyBound.law_one".
Print Assumptions ManyBound.law_one.
Check "ManyBound.many_optimal".
Print Assumptions ManyBound.many_optimal.
Check "Bound.bound_ok".
Print Assumptions Bound.bound_ok.
Check "Bound.optimal_ok".
Print Assumptions Bound.optimal_ok.
Check "Bound.worst_ok".
Print Assumptions Bound.worst_ok.
Check "Votes.of_count_keeps".
Print Assumptions Votes.of_count_keeps.
Check "Votes.error_is_loss".
Print Assumptions Votes.error_is_loss.
Check "Votes.every_mechanism".
Print Assumptions Votes.every_mechanism.
Check "Votes.every_mechanism_worst".
Print Assumptions Votes.every_mechanism_worst.
Check "ByName.named_lower_bound".
Print Assumptions ByName.named_lower_bound.
Check "ByName.named_optimal_ok".
Print Assumptions ByName.named_optimal_ok.
Check "ByName.every_named_mechanism".
Print Assumptions ByName.every_named_mechanism.
Check "Game.game_bounds".
Print Assumptions Game.game_bounds.
Check "Game.game_private".
Print Assumptions Game.game_private.
Check "Game.value_W".
Print Assumptions Game.value_W.
Check "Dominate.below_worth".
Print Assumptions Dominate.below_worth.
Check "Dominate.below_only".
Print Assumptions Dominate.below_only.
Check "Dominate.below_at_kinks".
Print Assumptions Dominate.below_at_kinks.
Check "Kernel.k11_promise".
Print Assumptions Kernel.k11_promise.
Check "Price.stands_for".
Print Assumptions Price.stands_for.
Check "Price.one_more".
Print Assumptions Price.one_more.
Check "Price.value_mirror".
Print Assumptions Price.value_mirror.
Check "Price.prune_ok".
Print Assumptions Price.prune_ok.
Check "Price.curve_ok".
Print Assumptions Price.curve_ok.
Check "Price.priced_ok".
Print Assumptions Price.priced_ok.
Check "Answers.price_ok".
Print Assumptions Answers.price_ok.
Check "Named.named_listed".
Print Assumptions Named.named_listed.
Check "Named.named_ok".
Print Assumptions Named.named_ok.
Check "Noise.noisy_at".
Print Assumptions Noise.noisy_at.
Check "NoisePrice.enclosed".
Print Assumptions NoisePrice.enclosed.
Check "NoisePrice.between_private".
Print Assumptions NoisePrice.between_private.
Check "NoisePrice.noise_within".
Print Assumptions NoisePrice.noise_within.
Check "NoisePrice.noise_ok".
Print Assumptions NoisePrice.noise_ok.
Check "Mixture.mixture_dominated".
Print Assumptions Mixture.mixture_dominated.
