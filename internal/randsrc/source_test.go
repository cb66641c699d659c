package randsrc

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"math/bits"
	mathrand "math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// over returns a Secure that reads from r. It is test code: a build of the
// package has no way to inject a reader.
func over(r io.Reader) *Secure { return &Secure{r: r} }

// repeat yields the bytes of word for ever.
func repeat(word uint64) io.Reader {
	b := binary.LittleEndian.AppendUint64(nil, word)
	return readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = b[i%8]
		}
		return len(p), nil
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// checkProjection shows that a map of 64 bits to 53 turns uniform words into
// uniform integers: each output bit is one input bit, no input bit serving two,
// and the map is linear over GF(2). Linearity is tested on words with long runs
// of ones, where roundings show, and on 10,000 random words of a fixed seed.
func checkProjection(uint53 func(word uint64) uint64) string {
	var unit [64]uint64
	var covered uint64
	for i := range unit {
		out := uint53(1 << i)
		if out >= One53 {
			return "out of range"
		}
		if out&(out-1) != 0 || covered&out != 0 {
			return "an input bit reaches two output bits, or two input bits one"
		}
		covered |= out
		unit[i] = out
	}
	if covered != One53-1 {
		return "an output bit never changes"
	}
	words := []uint64{0}
	for i := range 64 {
		words = append(words, 1<<i-1, math.MaxUint64<<i)
	}
	rng := mathrand.New(mathrand.NewPCG(1, 2))
	for range 10_000 {
		words = append(words, rng.Uint64())
	}
	for _, w := range words {
		var want uint64
		for i, out := range unit {
			if w>>i&1 == 1 {
				want ^= out
			}
		}
		if uint53(w) != want {
			return "not linear"
		}
	}
	return ""
}

func TestUint53IsExactlyUniform(t *testing.T) {
	real := func(word uint64) uint64 {
		return must.Get(over(repeat(word)).Uint53())(t)
	}
	if msg := checkProjection(real); msg != "" {
		t.Errorf("Secure.Uint53: %s", msg)
	}
	mutants := map[string]func(uint64) uint64{
		"52 bits":        func(w uint64) uint64 { return w >> 12 },
		"52 bits, even":  func(w uint64) uint64 { return w >> 11 &^ 1 },
		"54 bits":        func(w uint64) uint64 { return w >> 10 },
		"folded":         func(w uint64) uint64 { return (w ^ w>>11) >> 11 },
		"scaled float":   func(w uint64) uint64 { return uint64(float64(w) / (1 << 11)) },
		"top bit stuck":  func(w uint64) uint64 { return w>>11 | 1<<52 },
		"modulus 2^53-1": func(w uint64) uint64 { return w % (One53 - 1) },
	}
	for name, m := range mutants {
		if checkProjection(m) == "" {
			t.Errorf("mutant %q passes", name)
		}
	}
}

// Of the 256 bytes exactly half give true.
func TestBitIsExactlyFair(t *testing.T) {
	var all [bufferSize]byte
	for i := range all {
		all[i] = byte(i)
	}
	s := over(bytes.NewReader(all[:]))
	var ones int
	for range 256 {
		b, err := s.Bit()
		if err != nil {
			t.Fatal(err)
		}
		if b {
			ones++
		}
	}
	if ones != 128 {
		t.Errorf("%d of 256 bytes give true, want 128", ones)
	}
}

// Every byte of the reader is handed out at most once, in order, and is gone
// from the buffer afterwards.
func TestBytesAreUsedOnceAndWiped(t *testing.T) {
	var next byte
	s := over(readerFunc(func(p []byte) (int, error) {
		for i := range p {
			next = next%251 + 1 // never 0, so that a wiped byte can be told
			p[i] = next
		}
		return len(p), nil
	}))
	var want byte
	take := func(n int) (b [8]byte) {
		for i := range n {
			want = want%251 + 1
			b[i] = want
		}
		return b
	}
	for i := range 20 * bufferSize {
		before, n := s.left, 8
		if i%3 != 0 { // so that the rest of the buffer is often too short for a word
			n = 1
		}
		if before < n {
			for range before { // given up
				want = want%251 + 1
			}
		}
		b := take(n)
		if n == 8 {
			u, err := s.Uint53()
			if expected := binary.LittleEndian.Uint64(b[:]) >> 11; err != nil || u != expected {
				t.Fatalf("draw %d: word %#x, %v, want %#x", i, u, err, expected)
			}
		} else if bit, err := s.Bit(); err != nil || bit != (b[0]&1 == 1) {
			t.Fatalf("draw %d: bit %t, %v, want that of %d", i, bit, err, b[0])
		}
		for j, c := range s.buf {
			if used := j < bufferSize-s.left; used != (c == 0) {
				t.Fatalf("draw %d: buffer byte %d is %d, used %t", i, j, c, used)
			}
		}
	}
}

func TestConcurrentDrawsAreDistinct(t *testing.T) {
	var n uint64
	s := over(readerFunc(func(p []byte) (int, error) { // words 0, 1, 2, … in the top 53 bits
		for i := 0; i < len(p); i += 8 {
			binary.LittleEndian.PutUint64(p[i:], n<<11)
			n++
		}
		return len(p), nil
	}))
	const goroutines, each = 8, 2000
	draws := make([][]uint64, goroutines)
	var wg sync.WaitGroup
	for g := range draws {
		wg.Go(func() {
			for range each {
				u, err := s.Uint53()
				if err != nil {
					t.Error(err)
					return
				}
				draws[g] = append(draws[g], u)
			}
		})
	}
	wg.Wait()
	seen := make(map[uint64]bool)
	for _, d := range draws {
		for _, u := range d {
			if seen[u] {
				t.Fatalf("word %d was handed out twice", u)
			}
			seen[u] = true
		}
	}
	if len(seen) != goroutines*each {
		t.Errorf("%d words, want %d", len(seen), goroutines*each)
	}
}

func TestReadErrors(t *testing.T) {
	boom := errors.New("boom")
	calls := 0
	s := over(readerFunc(func(p []byte) (int, error) {
		calls++
		if calls == 1 { // fails after a part
			for i := range 100 {
				p[i] = 0xff
			}
			return 100, nil
		}
		if calls == 2 {
			return 0, boom
		}
		for i := range p {
			p[i] = 0xaa
		}
		return len(p), nil
	}))
	if u, err := s.Uint53(); !errors.Is(err, boom) || u != 0 {
		t.Errorf("got %d, %v; want 0 and boom", u, err)
	}
	if s.left != 0 || s.buf != [bufferSize]byte{} {
		t.Error("bytes of a failed read are kept")
	}
	// The next draw reads afresh and uses none of the first 100 bytes.
	if u, err := s.Uint53(); err != nil || u != 0xaaaaaaaaaaaaaaaa>>11 {
		t.Errorf("after the failure: %#x, %v", u, err)
	}
	if b, err := over(bytes.NewReader(make([]byte, bufferSize-1))).Bit(); !errors.Is(err,
		io.ErrUnexpectedEOF) || b {
		t.Errorf("short reader: %t, %v", b, err)
	}
}

func TestCopyAndNilAreRefused(t *testing.T) {
	s := NewSecure()
	if _, err := s.Uint53(); err != nil {
		t.Fatal(err)
	}
	// A copy as reflection or a careless struct assignment makes it; vet rejects
	// the plain assignment for the mutex.
	c := &Secure{self: s.self, buf: s.buf, left: s.left}
	if _, err := c.Uint53(); !errors.Is(err, errCopied) {
		t.Errorf("copy: %v, want errCopied", err)
	}
	if _, err := c.Bit(); !errors.Is(err, errCopied) {
		t.Errorf("copy: %v, want errCopied", err)
	}
	var none *Secure
	if _, err := none.Uint53(); err == nil {
		t.Error("nil source draws")
	}
	if _, err := none.Bit(); err == nil {
		t.Error("nil source draws")
	}
	var zero Secure
	if _, err := zero.Uint53(); err != nil {
		t.Errorf("zero value: %v", err)
	}
}

// A predictable rand.Reader put in place by the program does not reach Secure.
func TestReplacedGlobalReaderIsIgnored(t *testing.T) {
	old := rand.Reader
	defer func() { rand.Reader = old }()
	rand.Reader = readerFunc(func(p []byte) (int, error) {
		t.Error("the replaced reader was used")
		clear(p)
		return len(p), nil
	})
	if _, err := NewSecure().Uint53(); err != nil {
		t.Fatal(err)
	}
}

// The package must offer no way to a Secure but NewSecure(): no function with
// parameters that returns one, no method that sets its reader, no exported field.
func TestSecureCannotBeInjected(t *testing.T) {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	mentions := func(n ast.Node) bool {
		found := false
		if n != nil {
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "Secure" {
					found = true
				}
				return true
			})
		}
		return found
	}
	makers, fields := 0, 0
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Type.Results != nil && mentions(n.Type.Results) {
					makers++
					if n.Name.Name != "NewSecure" || n.Type.Params.NumFields() != 0 {
						t.Errorf("%s returns a Secure", n.Name.Name)
					}
				}
			case *ast.TypeSpec:
				st, ok := n.Type.(*ast.StructType)
				if !ok || n.Name.Name != "Secure" {
					return true
				}
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						fields++
						if name.IsExported() {
							t.Errorf("field Secure.%s is exported", name.Name)
						}
					}
					if len(f.Names) == 0 {
						t.Errorf("Secure embeds %v", f.Type)
					}
				}
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					if sel, ok := l.(*ast.SelectorExpr); ok && sel.Sel.Name == "r" {
						t.Errorf("%s: a reader is assigned", fset.Position(n.Pos()))
					}
				}
			}
			return true
		})
	}
	if makers != 1 || fields == 0 {
		t.Errorf("test is out of date: %d functions return a Secure, %d fields", makers, fields)
	}
}

// slowChaCha8 writes out n 64-bit outputs of the generator that math/rand/v2 documents, from
// its specification (c2sp.org/chacha8rand), one word at a time. Of ChaCha with 8 rounds, a key
// of 32 bytes and no nonce it takes blocks 0 to 15, to which only the key is added at the end;
// four blocks at a time are interleaved by 32-bit words. The last 32 of the 1,024 bytes are
// the next key and no output.
func slowChaCha8(seed [32]byte, n int) []uint64 {
	var key [8]uint32
	rekey := func(b []byte) {
		for i := range key {
			key[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	}
	rekey(seed[:])
	quarter := func(x *[16]uint32, a, b, c, d int) {
		x[a] += x[b]
		x[d] = bits.RotateLeft32(x[d]^x[a], 16)
		x[c] += x[d]
		x[b] = bits.RotateLeft32(x[b]^x[c], 12)
		x[a] += x[b]
		x[d] = bits.RotateLeft32(x[d]^x[a], 8)
		x[c] += x[d]
		x[b] = bits.RotateLeft32(x[b]^x[c], 7)
	}
	var out []uint64
	for len(out) < n {
		var stream []byte
		for first := uint32(0); first < 16; first += 4 {
			var blocks [4][16]uint32
			for b := range blocks {
				x := &blocks[b]
				*x = [16]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}
				copy(x[4:], key[:])
				x[12] = first + uint32(b)
				for range 4 { // two rounds each: columns, then diagonals
					for i := range 4 {
						quarter(x, i, 4+i, 8+i, 12+i)
					}
					for i := range 4 {
						quarter(x, i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4)
					}
				}
				for i := range key {
					x[4+i] += key[i]
				}
			}
			for word := range 16 {
				for b := range blocks {
					stream = binary.LittleEndian.AppendUint32(stream, blocks[b][word])
				}
			}
		}
		for at := 0; at < 992; at += 8 {
			out = append(out, binary.LittleEndian.Uint64(stream[at:]))
		}
		rekey(stream[992:])
	}
	return out[:n]
}

// seededKey is the key of NewSeededStream as its comment defines it.
func seededKey(seed, stream uint64) [32]byte {
	b := binary.LittleEndian.AppendUint64([]byte("darrm seeded source v1"), seed)
	return sha256.Sum256(binary.LittleEndian.AppendUint64(b, stream))
}

// Words and coins of a stream are the specification's outputs, in order, for more than 256
// keys' worth of them: words the top 53 bits, coins the top bit.
func TestSeededIsTheDocumentedFunction(t *testing.T) {
	for _, id := range [][2]uint64{{0, 0}, {1, 0}, {0, 1}, {42, 7}, {1 << 63, 1<<64 - 1}} {
		want := slowChaCha8(seededKey(id[0], id[1]), 40_000)
		src := NewSeededStream(id[0], id[1])
		for i, w := range want {
			if i%3 == 2 {
				if got, err := src.Bit(); err != nil || got != (w>>63 == 1) {
					t.Fatalf("seed %d, stream %d, output %d: coin %t, %v; want %d", id[0], id[1], i, got, err,
						w>>63)
				}
			} else if got, err := src.Uint53(); err != nil || got != w>>11 {
				t.Fatalf("seed %d, stream %d, output %d: %d, %v; want %d", id[0], id[1], i, got, err, w>>11)
			}
		}
	}
}

// Experiments stay repeatable as long as these hold. The values are those of slowChaCha8
// under seededKey, both written from the specification and not from this package.
func TestSeededGolden(t *testing.T) {
	tests := []struct {
		seed, stream uint64
		want         [3]uint64
	}{
		{0, 0, [3]uint64{2942078472018009, 1156459144936403, 5551376668152799}},
		{1, 0, [3]uint64{6588808113368861, 6195576494735952, 2708372370285767}},
		{0, 1, [3]uint64{4269593638168104, 6872079124390719, 6176674461135234}},
		{42, 0, [3]uint64{6602379643133541, 5797077163886823, 3361830978667629}},
		{20240, 3, [3]uint64{2306366830671226, 5086106420357374, 6477646903527790}},
		{18446744073709551615, 18446744073709551615,
			[3]uint64{3573458868160693, 8055833192176803, 19635132160950}},
	}
	for _, tt := range tests {
		s := NewSeededStream(tt.seed, tt.stream)
		for i, want := range tt.want {
			if got, _ := s.Uint53(); got != want {
				t.Errorf("seed %d, stream %d, draw %d: %d, want %d", tt.seed, tt.stream, i, got, want)
			}
		}
	}
	a, b := NewSeeded(7), NewSeededStream(7, 0)
	for range 10 {
		x, _ := a.Uint53()
		y, _ := b.Uint53()
		if x != y {
			t.Fatal("NewSeeded is not stream 0")
		}
	}
}

// n = 2¹⁶ words per source. Each of the 53 bits: 7 standard deviations, false
// alarm 2.6e-12 each. Chi-square of the top and the low 8 bits, 255 degrees of
// freedom: limit 440, tail probability 6e-12. Serial: agreement of bit 0 of
// neighbouring words and of coins, 7 standard deviations. Together below 1e-9.
func TestSourcesLookUniform(t *testing.T) {
	const n = 1 << 16
	for name, src := range map[string]Source{"secure": NewSecure(), "seeded": NewSeeded(42)} {
		var bits [53]int
		var top, low [256]float64
		var same, coins, sameCoins int
		var prev uint64
		var prevCoin bool
		for range n {
			u, err := src.Uint53()
			if err != nil || u >= One53 {
				t.Fatalf("%s: %d, %v", name, u, err)
			}
			for i := range bits {
				bits[i] += int(u >> i & 1)
			}
			top[u>>45]++
			low[u&255]++
			if u&1 == prev&1 {
				same++
			}
			prev = u
			c, err := src.Bit()
			if err != nil {
				t.Fatal(err)
			}
			if c {
				coins++
			}
			if c == prevCoin {
				sameCoins++
			}
			prevCoin = c
		}
		half := func(what string, count int) {
			if d := math.Abs(float64(count)-n/2) / math.Sqrt(n/4); d > 7 {
				t.Errorf("%s: %s: %d of %d, %g standard deviations off", name, what, count, n, d)
			}
		}
		for _, b := range bits {
			half("a bit of Uint53", b)
		}
		half("repeated low bits", same)
		half("coins", coins)
		half("repeated coins", sameCoins)
		for what, counts := range map[string]*[256]float64{"top 8 bits": &top, "low 8 bits": &low} {
			var chi2 float64
			for _, c := range counts {
				chi2 += (c - n/256) * (c - n/256) / (n / 256)
			}
			if chi2 > 440 {
				t.Errorf("%s: %s: chi-square %g on 255 degrees of freedom", name, what, chi2)
			}
		}
	}
}
