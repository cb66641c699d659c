package randsrc

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// fixedKey is a key that no release can have: only this package builds one.
func fixedKey(seed byte) *Key {
	secret := sha256.Sum256([]byte{seed, 'k', 'e', 'y'})
	return newKey(secret)
}

// slowHMAC is HMAC-SHA-256 written out from RFC 2104, for keys of at most 64 bytes.
func slowHMAC(key, message []byte) []byte {
	var inner, outer [64]byte
	copy(inner[:], key)
	copy(outer[:], key)
	for i := range 64 {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	h := sha256.Sum256(append(inner[:], message...))
	h = sha256.Sum256(append(outer[:], h[:]...))
	return h[:]
}

// slowCoins is the stream of a query's bytes as the comment of Key defines it.
func slowCoins(secret [32]byte, query string, blocks int) []byte {
	k := slowHMAC(secret[:], []byte("darrm job key v1: coins"))
	var out []byte
	for i := range blocks {
		message := binary.BigEndian.AppendUint64(nil, uint64(i))
		out = append(out, slowHMAC(k, append(message, query...))...)
	}
	return out
}

func TestKeyedIsTheDocumentedFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret"))
		secret[0] |= 1 // the zero key is refused
		query := rapid.String().Draw(t, "query")
		want := slowCoins(secret, query, 40)
		src := newKey(secret).Coins(query)
		at := 0
		take := func(n int) []byte { // the rest of a block that is too short is given up
			if at/32 != (at+n-1)/32 {
				at += 32 - at%32
			}
			at += n
			return want[at-n : at]
		}
		for range rapid.IntRange(1, 100).Draw(t, "draws") {
			if rapid.Bool().Draw(t, "word") {
				u, err := src.Uint53()
				if w := binary.LittleEndian.Uint64(take(8)) >> 11; err != nil || u != w {
					t.Fatalf("word %d, %v; want %d", u, err, w)
				}
			} else {
				b, err := src.Bit()
				if w := take(1)[0]&1 == 1; err != nil || b != w {
					t.Fatalf("bit %t, %v; want %t", b, err, w)
				}
			}
		}
	})
}

// The counter has 8 bytes, all of which count: beyond 256 blocks, beyond 65,536, and where
// the lower four or seven bytes are full. No two blocks of a long stream are alike.
func TestKeyedCounterCarries(t *testing.T) {
	secret := sha256.Sum256([]byte("carry"))
	k := slowHMAC(secret[:], []byte("darrm job key v1: coins"))
	const query = "q"
	block := func(i uint64) [32]byte {
		return [32]byte(slowHMAC(k, append(binary.BigEndian.AppendUint64(nil, i), query...)))
	}
	src := newKey(secret).Coins(query)
	next := func() (out [32]byte) {
		t.Helper()
		b, err := src.take(32)
		if err != nil {
			t.Fatal(err)
		}
		copy(out[:], b)
		return out
	}
	seen := map[[32]byte]int{}
	for i := range 66_000 {
		got := next()
		if at, ok := seen[got]; ok {
			t.Fatalf("block %d is block %d", i, at)
		}
		seen[got] = i
		if near := i % 256; (near < 2 || near == 255) && got != block(uint64(i)) {
			t.Fatalf("block %d is not that of its counter", i)
		}
	}
	for bytes := 3; bytes < 8; bytes++ {
		src.next = 1<<(8*bytes) - 2
		for i := src.next; i < 1<<(8*bytes)+2; i++ {
			if got := next(); got != block(i) {
				t.Errorf("block %d is not that of its counter", i)
			}
		}
	}
}

// Recorded once, and computed again by slowCoins above: another release of this
// program that is halfway through a job must draw the same answers.
func TestKeyedGolden(t *testing.T) {
	secret := sha256.Sum256([]byte("golden"))
	src := newKey(secret).Coins("q17")
	u, _ := src.Uint53()
	b, _ := src.Bit()
	v, _ := src.Uint53()
	got := fmt.Sprint(u, b, v)
	if want := "2560936736531210 false 2011738562389217"; got != want {
		t.Errorf("coins %s, want %s", got, want)
	}
}

// Of the 64 bits of a word 53 are used, each once; the projection is linear.
func TestKeyedUint53IsExactlyUniform(t *testing.T) {
	key := fixedKey(1)
	msg := checkProjection(func(word uint64) uint64 {
		s := key.Coins("q")
		binary.LittleEndian.PutUint64(s.block[:8], word)
		s.left = len(s.block)
		return must.Get(s.Uint53())(t)
	})
	if msg != "" {
		t.Error(msg)
	}
	ones := 0
	for i := range 256 {
		s := key.Coins("q")
		s.block[0], s.left = byte(i), len(s.block)
		if b, err := s.Bit(); err != nil {
			t.Fatal(err)
		} else if b {
			ones++
		}
	}
	if ones != 128 {
		t.Errorf("%d of 256 bytes give true, want 128", ones)
	}
}

// draw returns a query's first word and coin, all that an answer needs.
func draw(t testing.TB, s *Keyed) (uint64, bool) {
	t.Helper()
	u, err := s.Uint53()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Bit()
	if err != nil {
		t.Fatal(err)
	}
	return u, b
}

// The same query has the same coins; other queries, other keys, and the key's
// other uses have others. Names are chosen to run into each other if the counter
// or the length were left out: "" and a counter's bytes, one name a beginning of another.
func TestKeyedCoinsBelongToKeyAndQuery(t *testing.T) {
	names := []string{"", "\x00", "0", "00", "1", "q", "q1", "q10", "q1\x00",
		strings.Repeat("\x00", 8), "\x00\x00\x00\x00\x00\x00\x00\x01", strings.Repeat("q", 55),
		strings.Repeat("q", 56), strings.Repeat("q", 4096)}
	seen := map[[32]byte]string{}
	for _, seed := range []byte{1, 2} {
		k := fixedKey(seed)
		for _, name := range names {
			a, b := k.Coins(name), fixedKey(seed).Coins(name)
			for i := range 3 { // blocks
				var x, y [32]byte
				for j := range x {
					p, err := a.take(1)
					if err != nil {
						t.Fatal(err)
					}
					q, err := b.take(1)
					if err != nil {
						t.Fatal(err)
					}
					x[j], y[j] = p[0], q[0]
				}
				if x != y {
					t.Fatalf("key %d, %q: two draws differ", seed, name)
				}
				me := fmt.Sprintf("key %d, %q, block %d", seed, name, i)
				if other, ok := seen[x]; ok {
					t.Errorf("%s has the bytes of %s", me, other)
				}
				seen[x] = me
			}
			pin := k.Pin()
			pin.Write([]byte(name))
			if other, ok := seen[[32]byte(pin.Sum(nil))]; ok {
				t.Errorf("pin of %q is %s", name, other)
			}
		}
		for what, b := range map[string][32]byte{"fingerprint": k.Fingerprint(),
			"coins key": k.material().coins, "pin key": k.material().pins, "secret": k.material().secret} {
			if other, ok := seen[b]; ok {
				t.Errorf("%s of key %d is %s", what, seed, other)
			}
			seen[b] = what
		}
	}
}

func TestNewKeyIsSystemRandomness(t *testing.T) {
	old := rand.Reader
	defer func() { rand.Reader = old }()
	rand.Reader = readerFunc(func(p []byte) (int, error) {
		t.Error("the replaced reader was used")
		clear(p)
		return len(p), nil
	})
	a, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	// False alarm 2⁻²⁵⁶.
	if a.material().secret == b.material().secret || a.Fingerprint() == b.Fingerprint() {
		t.Error("two keys are equal")
	}
}

func TestZeroKeyIsRefused(t *testing.T) {
	for name, k := range map[string]*Key{"nil": nil, "zero": new(Key)} {
		s := k.Coins("q")
		if u, err := s.Uint53(); err == nil || u != 0 {
			t.Errorf("%s: word %d, %v", name, u, err)
		}
		if b, err := s.Bit(); err == nil || b {
			t.Errorf("%s: bit %t, %v", name, b, err)
		}
		if err := k.Send(new(bytes.Buffer)); err == nil {
			t.Errorf("%s is sent", name)
		}
		for what, f := range map[string]func(){"Fingerprint": func() { k.Fingerprint() },
			"Pin": func() { k.Pin() }} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic of %s", what, name)
					}
				}()
				f()
			}()
		}
	}
	if _, err := new(Keyed).Uint53(); err == nil {
		t.Error("zero Keyed draws")
	}
	if _, err := (*Keyed)(nil).Bit(); err == nil {
		t.Error("nil Keyed draws")
	}
}

// No formatting and no encoder gives the key away.
func TestKeyDoesNotLeak(t *testing.T) {
	k := newKey([32]byte(bytes.Repeat([]byte{0xA7}, 32)))
	m := k.material()
	type hidden struct{ k *Key }
	type hiddenValue struct{ k Key }
	type hiddenCoins struct{ c *Keyed }
	needles := []string{"a7a7", "A7A7", "167 167", "\xa7\xa7", "p6en", fmt.Sprint(m.coins[:4])[1:10],
		fmt.Sprintf("%x", m.coins[:4]), fmt.Sprintf("%x", m.pins[:4])}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%o"} {
		for _, v := range []any{k, *k, []*Key{k}, struct{ K *Key }{k}, struct{ K Key }{*k},
			map[string]Key{"k": *k}, k.Coins("q"), hidden{k}, &hidden{k}, hiddenValue{*k},
			[]hiddenValue{{*k}}, hiddenCoins{k.Coins("q")}} {
			out := fmt.Sprintf(verb, v)
			for _, n := range needles {
				if strings.Contains(out, n) {
					t.Errorf("%s of %T prints %q", verb, v, out)
				}
			}
		}
	}
	for _, v := range []any{k, *k, struct{ K *Key }{k}} {
		if b, err := json.Marshal(v); err == nil {
			t.Errorf("JSON of %T: %s", v, b)
		}
		if err := gob.NewEncoder(new(bytes.Buffer)).Encode(v); err == nil {
			t.Errorf("gob encodes %T", v)
		}
	}
}

func TestKeyTravels(t *testing.T) {
	k := fixedKey(3)
	var b bytes.Buffer
	if err := k.Send(&b); err != nil {
		t.Fatal(err)
	}
	sent := b.Bytes()
	got, err := ReadKey(bytes.NewReader(sent), k.Fingerprint())
	if err != nil || *got.material() != *k.material() {
		t.Fatalf("not the same key, %v", err)
	}
	refused := func(what string, b []byte, f [32]byte) {
		t.Helper()
		if k, err := ReadKey(bytes.NewReader(b), f); err == nil || k != nil {
			t.Errorf("%s: accepted", what)
		}
	}
	for n := range sent {
		refused(fmt.Sprintf("%d bytes", n), sent[:n], k.Fingerprint())
		flipped := bytes.Clone(sent)
		flipped[n] ^= 1
		refused(fmt.Sprintf("byte %d flipped", n), flipped, k.Fingerprint())
	}
	refused("a byte more", append(bytes.Clone(sent), 0), k.Fingerprint())
	refused("another key", sent, fixedKey(4).Fingerprint())
	refused("no fingerprint", sent, [32]byte{})
	zero := append([]byte(keyMagic), make([]byte, 32)...)
	refused("the zero key", zero, [32]byte{})
	boom := errors.New("boom")
	if _, err := ReadKey(readerFunc(func([]byte) (int, error) { return 0, boom }),
		k.Fingerprint()); !errors.Is(err, boom) {
		t.Errorf("failing reader: %v", err)
	}
}

// What is read as a key is a key that was sent, byte for byte.
func FuzzReadKey(f *testing.F) {
	var b bytes.Buffer
	k := fixedKey(5)
	if err := k.Send(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:20])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadKey(bytes.NewReader(data), k.Fingerprint())
		if (err == nil) != bytes.Equal(data, b.Bytes()) {
			t.Fatalf("%q: %v", data, err)
		}
		if err == nil && *got.material() != *k.material() {
			t.Fatal("another key")
		}
	})
}

// Nobody outside this package chooses a key: the functions that return one are
// NewKey without parameters, and ReadKey, which needs the fingerprint of a key that
// there is; no field is exported.
func TestKeyCannotBeChosen(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "keyed.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var makers []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.IsExported() && n.Recv == nil {
				makers = append(makers, fmt.Sprint(n.Name.Name, " ", n.Type.Params.NumFields()))
			}
		case *ast.TypeSpec:
			if st, ok := n.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						if name.IsExported() {
							t.Errorf("field %s.%s is exported", n.Name.Name, name.Name)
						}
					}
					if len(f.Names) == 0 {
						t.Errorf("%s embeds %v", n.Name.Name, f.Type)
					}
				}
			}
		}
		return true
	})
	if got := strings.Join(makers, ", "); got != "NewKey 0, ReadKey 2" {
		t.Errorf("exported functions: %s", got)
	}
}

// TestSourcesLookUniform across queries: n = 2¹⁶ names as ids are, and the first word
// and coin of each. The key is fixed, so there is no false alarm from run to run;
// over keys it would be below 1e-9 (7 standard deviations for each of 56 counts;
// chi-square limit 440 on 255 degrees of freedom, tail 6e-12).
func TestKeyedLooksUniformAcrossQueries(t *testing.T) {
	raced.Sequential(t)
	const n = 1 << 16
	key := fixedKey(6)
	if what := looksUniform(t, n, func(i int) *Keyed {
		return key.Coins(fmt.Sprint("query-", i))
	}); what != "" {
		t.Error(what)
	}
	// The same count sees coins that do not depend on all of the name.
	mutants := map[string]func(i int) *Keyed{
		"one name":      func(int) *Keyed { return key.Coins("query") },
		"last bit lost": func(i int) *Keyed { return key.Coins(fmt.Sprint("query-", i/2)) },
		"256 names":     func(i int) *Keyed { return key.Coins(fmt.Sprint("query-", i%256)) },
		"coins by number": func(i int) *Keyed {
			s := key.Coins("")
			s.block[0], s.block[8], s.left = byte(i), byte(i>>8), 32
			return s
		},
	}
	for name, m := range mutants {
		if looksUniform(t, n, m) == "" {
			t.Errorf("mutant %q passes", name)
		}
	}
}

func looksUniform(t *testing.T, n int, source func(i int) *Keyed) string {
	var bits [53]int
	var low [256]float64
	coins, sameCoin, sameBit := 0, 0, 0
	prev, prevCoin := uint64(0), false
	for i := range n {
		u, coin := draw(t, source(i))
		for j := range bits {
			bits[j] += int(u >> j & 1)
		}
		low[u&255]++
		if coin {
			coins++
		}
		if coin == prevCoin {
			sameCoin++
		}
		if u&1 == prev&1 {
			sameBit++
		}
		prev, prevCoin = u, coin
	}
	half := func(count int) bool {
		return math.Abs(float64(count)-float64(n)/2) <= 7*math.Sqrt(float64(n)/4)
	}
	for j, c := range bits {
		if !half(c) {
			return fmt.Sprintf("bit %d: %d of %d", j, c, n)
		}
	}
	if !half(coins) || !half(sameCoin) || !half(sameBit) {
		return fmt.Sprintf("coins %d, repeated coins %d, repeated bits %d of %d", coins, sameCoin,
			sameBit, n)
	}
	chi2, want := 0.0, float64(n)/256
	for _, c := range low {
		chi2 += (c - want) * (c - want) / want
	}
	if chi2 > 440 {
		return fmt.Sprintf("chi-square %g", chi2)
	}
	return ""
}

func BenchmarkKeyed(b *testing.B) {
	key := fixedKey(7)
	for b.Loop() {
		s := key.Coins("query-1234567")
		if _, err := s.Uint53(); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Bit(); err != nil {
			b.Fatal(err)
		}
	}
}
