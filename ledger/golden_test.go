package ledger

// SHA-256 sums of the records in TestFormatIsStable, made with Python's hashlib
// from the text of the format.
const (
	goldenGenesisHash = "6cac0917406e645c50dc40f197522b8889dfb595a1bcc7f83b08b18a3de94a8a"
	goldenEntryHash   = "e609867b91816af8fff432cdbe39f09744966e0c794ce5fdfdfa4a54c210bebe"
	goldenSlotSum     = "546dc5774c167cf7ac548d4901fe7a5f067731909c26d2586b64138a3384583c"
)
