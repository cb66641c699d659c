// Package training has the commands that train private models, in one place or in rounds of silos,
// that price the training, and that use the models: train, account train, federated, predict and
// evaluate.
package training
