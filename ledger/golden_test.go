package ledger

// SHA-256 sums of the records in TestFormatIsStable, made with Python's hashlib
// from the text of the format.
const (
	goldenSecretSum   = "a7a69ebae4779cda63fee933d9a2e5a5bec6d63b171621827639e4970cb9fd2e"
	goldenVotesSum    = "9df609548ddeff82e9b8fcd3c04e1d5d300fc28f723ef268d511a110a1f6bf7a"
	goldenGenesisHash = "d2b16a9df8673b74c8de544b90c56f91ec7fa4c716a411bd47122a9b21181be1"
	goldenEntryHash   = "d7110a1fca887e3973accf598aba769b3115ee08cc013e613ed2aa271a7162b7"
	goldenQuotaHash   = "b9e8eab507f359ee9ebf748bb2c2afc5f53564b777ee5698467cf76d4514eb8a"

	// Digests of votes, with Python's hmac.
	goldenNoVotes = "9c7cabab52d4c7dbbd63ddf3c56f95cd74f9b8e147bd24eb9e509eeac13da6c2"
	goldenVotes   = "090f55e40dd09bbdf9a149346752338774bf843964db49ad7153586c3633eca0"
)
