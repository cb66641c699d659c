package ledger

// SHA-256 sums of the records in TestFormatIsStable, made with Python's hashlib
// from the text of the format.
const (
	// Of format 1.
	goldenGenesisHash = "6cac0917406e645c50dc40f197522b8889dfb595a1bcc7f83b08b18a3de94a8a"
	goldenEntryHash   = "e609867b91816af8fff432cdbe39f09744966e0c794ce5fdfdfa4a54c210bebe"
	goldenSlotSum     = "546dc5774c167cf7ac548d4901fe7a5f067731909c26d2586b64138a3384583c"

	goldenSecretSum    = "a7a69ebae4779cda63fee933d9a2e5a5bec6d63b171621827639e4970cb9fd2e"
	goldenGenesisHash2 = "4cfa7528f08bde42dd145bccb465fab3180832c806265cd11c8606ef7859a2e0"
	goldenEntryHash2   = "92a6cea8f315da75b0e68a4731b84654ce9458bfea29b924c9644727e78da86e"

	// Digests of votes, with Python's hmac.
	goldenNoVotes = "416c5392b9f36df188e90eb14d17bf0da190bfdb7f1f4956e6e566a569c8b15c"
	goldenVotes   = "ad95aa68f8163ae3eb8898093e774f4af0cf9e104813984df60b834d22e3c40b"
)
