package ledger

// SHA-256 sums of the records in TestFormatIsStable, made with Python's hashlib
// from the text of the format.
const (
	goldenSecretSum   = "a7a69ebae4779cda63fee933d9a2e5a5bec6d63b171621827639e4970cb9fd2e"
	goldenVotesSum    = "9df609548ddeff82e9b8fcd3c04e1d5d300fc28f723ef268d511a110a1f6bf7a"
	goldenGenesisHash = "18adc9b67a2f2e85867015861a288dcd4290024f1057b93a0cc13ee264735386"
	goldenEntryHash   = "0e51f4a4acd2a589b05954cdf4d8c1d3064aaefe445a1f10f0757c83f8c4a3f1"

	// Digests of votes, with Python's hmac.
	goldenNoVotes = "9c7cabab52d4c7dbbd63ddf3c56f95cd74f9b8e147bd24eb9e509eeac13da6c2"
	goldenVotes   = "090f55e40dd09bbdf9a149346752338774bf843964db49ad7153586c3633eca0"
)
