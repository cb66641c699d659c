package ensemble

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/randsrctest"
)

// prf is HMAC-SHA-256.
func prf(key []byte, message string) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, message)
	return h.Sum(nil)
}

// chosenKey is a key with a known secret: the bytes as another process of the job
// would send them, and the fingerprint that the job would have told.
func chosenKey(t testing.TB, secret []byte) *randsrc.Key {
	t.Helper()
	sent := append([]byte("darrm job key v1\n"), secret...)
	return must.Get(randsrc.ReadKey(bytes.NewReader(sent),
		[32]byte(prf(secret, "darrm job key v1: fingerprint"))))(t)
}

// The answer is that of the mechanism whose exactness exact_test.go shows by going
// through all words and coins, with the word and the coin that the comment of
// KeyedCoins defines: so with a random function for HMAC its distribution is exact.
func TestKeyedCoinsIsTheMechanismWithTheQuerysCoins(t *testing.T) {
	cases := exactCases(t)
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret")
		secret[0] |= 1
		m := rapid.SampledFrom(cases).Draw(t, "mechanism")
		id := rapid.String().Draw(t, "id")
		ones := rapid.IntRange(0, m.setting.K).Draw(t, "ones")
		sent := append([]byte("darrm job key v1\n"), secret...)
		key, err := randsrc.ReadKey(bytes.NewReader(sent),
			[32]byte(prf(secret, "darrm job key v1: fingerprint")))
		if err != nil {
			t.Fatal(err)
		}
		b := prf(prf(secret, "darrm job key v1: coins"), "\x00\x00\x00\x00\x00\x00\x00\x00"+
			rowOf("r", id, m.setting.K-ones, ones))
		word, coin := binary.LittleEndian.Uint64(b)>>11, b[8]&1 == 1
		want, err := answerOnes(m, &randsrctest.Sequence{Words: []uint64{word}, Bits: []bool{coin}}, ones)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a retry has the same answer
			if got, err := releaseKeyed(m, key, id, ones); err != nil || got != want {
				t.Fatalf("%t, %v; want %t", got, err, want)
			}
		}
	})
}

// rowOf is the row that two counts of a query have, none missing.
func rowOf(release, id string, zeros, ones int) string {
	var b []byte
	for _, s := range []string{release, id} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return string(append(b, 2)) + string(binary.AppendUvarint(nil, uint64(2*zeros))) +
		string(binary.AppendUvarint(nil, uint64(2*ones))) + "\x00"
}

func releaseKeyed(m *Mechanism, key *randsrc.Key, query string, ones int) (bool, error) {
	class, err := m.Answer(randsrc.KeyedCoins(key, "r"), query, []int{m.setting.K - ones, ones})
	return class == 1, err
}

// n = 2¹⁵ queries for each number of votes, under a fixed key, so there is no false
// alarm from run to run. Over keys: 6 standard deviations for each of the 24 counts
// of the K = 11 mechanism, false alarm below 5e-8 together. The mutants are far outside.
func TestKeyedCoinsHasTheRightProbabilities(t *testing.T) {
	raced.Sequential(t)
	const n = 1 << 15
	m := anyGamma(t, 11, 1, 0.9, 0.8, 0.5, 0.2, 0.05)
	key := chosenKey(t, []byte("0123456789abcdef0123456789abcdef"))
	type release func(key *randsrc.Key, query string, ones int) (bool, error)
	check := func(release release) string {
		for ones := range m.setting.K + 1 {
			p, err := ofOne(m)(ones)
			if err != nil {
				t.Fatal(err)
			}
			want := n * math.Ldexp(float64(p), -54)
			count, same, last := 0, 0, false
			for i := range n {
				one, err := release(key, fmt.Sprintf("%d-%d", ones, i), ones)
				if err != nil {
					t.Fatal(err)
				}
				if one {
					count++
				}
				if one == last {
					same++
				}
				last = one
			}
			q := want / n
			if d := math.Abs(float64(count) - want); d > 6*math.Sqrt(want*(1-q))+1e-9 {
				return fmt.Sprintf("%d ones: %d of %d answers are 1, want about %.0f", ones, count, n, want)
			}
			// Neighbours agree with probability q²+(1-q)², as independent answers do; overlapping
			// pairs are correlated, which at most triples the variance.
			agree := q*q + (1-q)*(1-q)
			if d := math.Abs(float64(same) - n*agree); d > 1+6*math.Sqrt(3*n*agree*(1-agree)) {
				return fmt.Sprintf("%d ones: %d of %d neighbours agree, want about %.0f", ones, same, n,
					n*agree)
			}
		}
		return ""
	}
	if what := check(func(k *randsrc.Key, q string, ones int) (bool, error) {
		return releaseKeyed(m, k, q, ones)
	}); what != "" {
		t.Error(what)
	}
	mutants := map[string]release{
		"coins of the votes": func(k *randsrc.Key, _ string, ones int) (bool, error) {
			return releaseKeyed(m, k, fmt.Sprint(ones), ones)
		},
		"two queries share their coins": func(k *randsrc.Key, q string, ones int) (bool, error) {
			return releaseKeyed(m, k, half(q), ones)
		},
		"no noise": func(_ *randsrc.Key, _ string, ones int) (bool, error) {
			return 2*ones > m.setting.K, nil
		},
		"majority of three tries": func(k *randsrc.Key, q string, ones int) (bool, error) {
			n := 0
			for i := range 3 {
				if one, _ := releaseKeyed(m, k, fmt.Sprint(q, "/", i), ones); one {
					n++
				}
			}
			return n > 1, nil
		},
	}
	for name, mutant := range mutants {
		if check(mutant) == "" {
			t.Errorf("mutant %q passes", name)
		}
	}
}

// half gives every two neighbouring queries one name.
func half(query string) string {
	var l, i int
	fmt.Sscanf(query, "%d-%d", &l, &i)
	return fmt.Sprintf("%d-%d", l, i/2)
}

func TestKeyedErrors(t *testing.T) {
	m := anyGamma(t, 3, 1, 0.5)
	key, err := randsrc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, ones := range []int{-1, 4} {
		if one, err := releaseKeyed(m, key, "q", ones); err == nil || one ||
			!strings.Contains(err.Error(), "votes for class") {
			t.Errorf("ones = %d: %t, %v", ones, one, err)
		}
	}
	for name, k := range map[string]*randsrc.Key{"nil": nil, "zero": new(randsrc.Key)} {
		if one, err := releaseKeyed(m, k, "q", 3); err == nil || one {
			t.Errorf("%s key: %t, %v", name, one, err)
		}
		if err := k.Send(io.Discard); err == nil {
			t.Errorf("%s key is sent", name)
		}
	}
	var sent bytes.Buffer
	if err := key.Send(&sent); err != nil {
		t.Fatal(err)
	}
	other, err := randsrc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := randsrc.ReadKey(bytes.NewReader(sent.Bytes()), other.Fingerprint()); err == nil {
		t.Error("a key is accepted for another")
	}
	if got, err := randsrc.ReadKey(bytes.NewReader(sent.Bytes()), key.Fingerprint()); err != nil ||
		got.Fingerprint() != key.Fingerprint() {
		t.Errorf("the key does not arrive: %v", err)
	}
	secret := sent.Bytes()[sent.Len()-32:]
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		for _, v := range []any{key, *key, randsrc.KeyedCoins(key, "r"), struct{ k *randsrc.Key }{key},
			struct{ k randsrc.Key }{*key}} {
			out := fmt.Sprintf(verb, v)
			if strings.Contains(out, fmt.Sprintf("%x", secret[:3])) ||
				strings.Contains(out, strings.Trim(fmt.Sprint(secret[:3]), "[]")) {
				t.Errorf("%s of %T prints the key: %s", verb, v, out)
			}
		}
	}
	a, b := key.Pin(), other.Pin()
	io.WriteString(a, "votes")
	io.WriteString(b, "votes")
	if bytes.Equal(a.Sum(nil), b.Sum(nil)) {
		t.Error("the pins of two keys are equal")
	}
}
