package ledger

import (
	"bytes"
	"testing"
)

// Parts that other processes add up, with the key that they were sent, make the digest of
// all rows.
func TestVoteHashOfSeveralProcesses(t *testing.T) {
	whole := newVoteHash(secret{1, 2, 3})
	collected := whole.New()
	var sent bytes.Buffer
	if err := whole.SendKey(&sent); err != nil {
		t.Fatal(err)
	}
	sent.WriteString("the rest")
	for process := range 3 {
		h, rest, err := CutVoteKey(sent.Bytes())
		if err != nil || h == nil || string(rest) != "the rest" {
			t.Fatalf("%v, %q, %v", h, rest, err)
		}
		for row := range 400 { // the sum carries over its words
			votes := []int{process, row, -1}
			h.Add(votes)
			whole.Add(votes)
		}
		if err := collected.MergePart(h.Part()); err != nil {
			t.Fatal(err)
		}
	}
	if collected.digest("e", "d") != whole.digest("e", "d") || collected.Rows() != whole.Rows() ||
		whole.Rows() != 1200 {
		t.Errorf("%v of %d rows, want %v of %d", collected.digest("e", "d"), collected.Rows(),
			whole.digest("e", "d"), whole.Rows())
	}
	if err := collected.MergePart(nil); err == nil {
		t.Error("no part is merged")
	}
	if h, rest, err := CutVoteKey([]byte("no key")); h != nil || err != nil ||
		string(rest) != "no key" {
		t.Errorf("no key: %v, %q, %v", h, rest, err)
	}
	if _, _, err := CutVoteKey([]byte(voteKeyMagic + "short")); err == nil {
		t.Error("half a key is taken")
	}
}
