package serve

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Changes that let somebody in, or let a request through, who must stay out, and that lose what was
// charged. They are planted in the long tests, and have their place every day.
var mutants = []mutant.Mutant{
	{Name: "half of a token's hash is compared", File: "client.go",
		Old: "subtle.ConstantTimeCompare(sum[:], hash[:])",
		New: "subtle.ConstantTimeCompare(sum[:16], hash[:16])", Killer: "TestEveryByteOfAHashCounts"},
	{Name: "the other half", File: "client.go", Old: "subtle.ConstantTimeCompare(sum[:], hash[:])",
		New: "subtle.ConstantTimeCompare(sum[16:], hash[16:])", Killer: "TestEveryByteOfAHashCounts"},
	{Name: "a certificate without a name is a client with a token", File: "client.go",
		Old: `m.Certificate != "" && m.Certificate == name`, New: "m.Certificate == name",
		Killer: "TestCertificates"},
	{Name: "the last hash alone opens", File: "client.go", Old: "found |= ", New: "found = ",
		Killer: "TestEveryByteOfAHashCounts|TestTokensRotate"},
	{Name: "a certificate that nobody verified", File: "client.go",
		Old: "if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {\n\t\tname := r.TLS.VerifiedChains[0][0]",
		New: "if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {\n\t\tname := r.TLS.PeerCertificates[0]", Killer: "TestCertificates"},
	{Name: "votes are read to the end", File: "request.go",
		Old: "if len(q.Votes) == p.most.teachers {", New: "if false {",
		Killer: "TestBodiesAreReadAsFarAsNeeded|TestRefusals"},
	{Name: "a null is a count", File: "request.go", Old: "if t.Kind() != '0' {\n\t\treturn 0, false",
		New: "if t.Kind() != '0' {\n\t\treturn 0, t.Kind() == 'n'", Killer: "TestRefusals"},
	{Name: "text that is no UTF-8", File: "request.go", Old: "jsontext.NewDecoder(body)",
		New: "jsontext.NewDecoder(body, jsontext.AllowInvalidUTF8(true))", Killer: "TestRefusals"},
	{Name: "a coded body is read as it is", File: "request.go",
		Old: `if !strings.EqualFold(encoding, "identity") {`, New: `if encoding == "" {`,
		Killer: "TestRefusals"},
	{Name: "to be read is to be ready", File: "look.go", Old: "h.err = s.Online.Ready(ctx)",
		New: "_, h.err = s.Online.State(ctx)", Killer: "TestReady"},
	{Name: "each look is a write", File: "look.go", Old: "if time.Since(h.at) > time.Second {",
		New: "if true {", Killer: "TestReady"},
	{Name: "a ticket brings an old certificate back", File: "listen.go",
		Old: ", SessionTicketsDisabled: true", New: "", Killer: "TestReload"},
	{Name: "answers again have another charge", File: "answer.go", Old: "receipt{ID, a.Charge.Seq,",
		New: "receipt{ID, a.Charge.Seq + uint64(len(s.room)%2),", Killer: "TestLinearisable"},
	{Name: "clients change with certificates that are wrong", File: "listen.go",
		Old:    "if config, err = s.at.tls(ctx); err != nil {\n\t\t\treturn err",
		New:    "if config, err = s.at.tls(ctx); err != nil {\n\t\t\tconfig = s.tls.Load()",
		Killer: "TestReload"},
	// found by a draw
	{Name: "an empty list of votes beside counts", File: "request.go", Old: "q.Votes = []vote{}",
		New: "", Killer: "TestRefusals"},
	{Name: "eleven lines at once", File: "journal.go", Old: "journalBurst = 10",
		New: "journalBurst = 11", Killer: "TestTenLinesAtOnce"},
	{Name: "clients are not told what was stated", File: "look.go", Old: "if !said {",
		New: "if true || !said {", Killer: "TestStatedIsTold"},
	{Name: "more requests at once than the rule names", File: "server.go", Old: "l.AtOnce > 1<<16",
		New: "l.AtOnce > 1<<17", Killer: "TestLimitsAreThoseNamed"},
	{Name: "fewer connections than the rule names", File: "server.go", Old: "l.Connections > 1<<20",
		New: "l.Connections > 1<<19", Killer: "TestLimitsAreThoseNamed"},
	{Name: "another default than is named", File: "server.go", Old: "DefaultPerAddress = 128",
		New: "DefaultPerAddress = 129", Killer: "TestLimitsAreThoseNamed"},
	{Name: "nothing left out is told", File: "journal.go", Old: "if n > 0 {", New: "if n > -1 {",
		Killer: "TestTenLinesAtOnce"},
	{Name: "a lower rate than the rule names", File: "client.go", Old: "c.Rate <= 1e9",
		New: "c.Rate <= 9e8", Killer: "TestRateIsTheOneNamed"},
	{Name: "a closed socket removes its name again", File: "listen.go",
		Old: "if errors.Is(err, net.ErrClosed) {\n\t\treturn err",
		New: "if false {\n\t\treturn err", Killer: "TestSocketIsRemovedOnce"},
	{Name: "the log does not tell the end", File: "run.go", Old: `s.Log.Info("stopped")`, New: "",
		Killer: "TestStatedIsTold"},
	{Name: "another teacher is named", File: "request.go",
		Old: "GET /v1/mechanism lists them)\", i+1)", New: "GET /v1/mechanism lists them)\", i-1)",
		Killer: "TestRefusals"},
	{Name: "the log does not tell what was stated", File: "run.go",
		Old: "s.Online.Stated(); any {", New: "s.Online.Stated(); false && any {",
		Killer: "TestStatedIsTold"},
}

func TestMutantsDie(t *testing.T) { mutant.AllDie(t, mutants) }
