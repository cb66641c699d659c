package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
)

func idxFile(sizes []int, values []byte) []byte {
	b := []byte{0, 0, 8, byte(len(sizes))}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, uint32(s))
	}
	return append(b, values...)
}

func write(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadMNIST(t *testing.T) {
	dir := t.TempDir()
	images := idxFile([]int{4, 1, 3}, []byte{0, 51, 255, 9, 9, 9, 1, 2, 3, 0, 0, 102})
	labels := idxFile([]int{4}, []byte{6, 1, 9, 6})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(images); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "t10k-images-idx3-ubyte.gz", packed.Bytes())
	if _, err := Load(context.Background(), MNIST69, dir, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without labels: %v", err)
	}
	write(t, dir, "t10k-labels-idx1-ubyte", labels)
	s, err := Load(context.Background(), MNIST69, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.Standin || s.Private.Len() != 1 || !slices.Equal(s.Private.Row(0), []float64{0, 0.2, 1}) ||
		!slices.Equal(s.Public.Row(0), []float64{3. / 255, 2. / 255, 1. / 255}) {
		t.Errorf("%v, %v", s.Private.Row(0), s.Public.Row(0))
	}
	write(t, dir, "t10k-labels-idx1-ubyte", idxFile([]int{3}, []byte{6, 1, 9}))
	if _, err := Load(context.Background(), MNIST69, dir, 1); err == nil {
		t.Error("3 labels for 4 images accepted")
	}
	write(t, dir, "t10k-labels-idx1-ubyte", idxFile([]int{4}, []byte{6, 1, 6, 6}))
	if _, err := Load(context.Background(), MNIST69, dir, 1); err == nil {
		t.Error("no 9 accepted")
	}
	write(t, dir, "t10k-images-idx3-ubyte.gz", packed.Bytes()[:20])
	if _, err := Load(context.Background(), MNIST69, dir, 1); err == nil ||
		errors.Is(err, fs.ErrNotExist) {
		t.Errorf("truncated gzip: %v", err)
	}
}

func TestLoadCIFAR(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(context.Background(), CIFAR10, dir, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	image := func(label, pixel byte) []byte {
		return append([]byte{label}, bytes.Repeat([]byte{pixel}, 3072)...)
	}
	var b []byte
	for i := range 3600 {
		b = append(b, image(byte(i%10), byte(i/10%256))...)
	}
	write(t, dir, "data_batch_1.bin", b)
	s, err := Load(context.Background(), CIFAR10, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	count := [2][10]int{}
	for i := range 1000 {
		count[0][int(s.Private.Response(i))]++
		count[1][int(s.Public.Response(i))]++
	}
	if count != [2][10]int{{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, {250, 250, 250, 250}} ||
		s.Public.Row(0)[5] != 100./255 {
		t.Errorf("%v", count)
	}
	write(t, dir, "data_batch_2.bin", b[:len(b)-1])
	if _, err := Load(context.Background(), CIFAR10, dir, 1); err == nil {
		t.Error("a cut batch accepted")
	}
	write(t, dir, "data_batch_2.bin", image(10, 0))
	if _, err := Load(context.Background(), CIFAR10, dir, 1); err == nil {
		t.Error("label 10 accepted")
	}
	write(t, dir, "data_batch_1.bin", b[:3073*500])
	write(t, dir, "data_batch_2.bin", image(0, 0))
	if _, err := Load(context.Background(), CIFAR10, dir, 1); err == nil {
		t.Error("too few images accepted")
	}
}

func TestLoadErrors(t *testing.T) {
	for _, name := range Names() {
		if _, err := Load(context.Background(), name, t.TempDir(), 1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(context.Background(), "iris", ".", 1); err == nil ||
		!strings.HasPrefix(err.Error(), "data set = iris") {
		t.Errorf("%v", err)
	}
	if _, err := Standin("iris", 1); err == nil {
		t.Error("stand-in of iris")
	}
	dir := t.TempDir()
	for file, content := range map[string]string{
		"communities.data":     "1,2,3\n",
		"compas-two-years.csv": "id,age\n1,2\n",
		"uci-credit-card.csv":  "1,2,3\n",
	} {
		write(t, dir, file, []byte(content))
	}
	for _, name := range []string{Crime, COMPAS, CreditCard} {
		if _, err := Load(context.Background(), name, dir, 1); err == nil ||
			!strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The facts of the real files. DARRM_DATA names the directory that holds those of the
// tables, DARRM_DATA_MNIST that of the images.
func describe(t *testing.T, s Set) Summary {
	t.Helper()
	o, err := s.Problem().Optimum()
	if err != nil {
		t.Fatal(err)
	}
	return s.DescribeAt(o)
}

func TestRealFiles(t *testing.T) {
	load := func(t *testing.T, name, variable string) (Set, Summary) {
		t.Helper()
		dir := os.Getenv(variable)
		if dir == "" {
			t.Skipf("%s names no directory", variable)
		}
		s, err := Load(context.Background(), name, dir, 1)
		if err != nil {
			t.Fatal(err)
		}
		d := describe(t, s)
		return s, d
	}
	t.Run(Crime, func(t *testing.T) {
		s, d := load(t, Crime, "DARRM_DATA")
		norm := [2]float64{}
		for i := range d.N {
			for j := range d.Dim {
				norm[0] += s.Private.Row(i)[j] * s.Private.Row(i)[j]
				norm[1] += s.Public.Row(i)[j] * s.Public.Row(i)[j]
			}
		}
		// R makes squared norms 1 + d times as long on average.
		if ratio := norm[1] / norm[0]; d.N != 159 || d.Dim != 124 || ratio < 60 || ratio > 250 ||
			d.PublicSmoothness < 6e3 || d.PublicSmoothness > 2.5e4 {
			t.Errorf("%+v, squared norms grow by %g", d, ratio)
		}
	})
	t.Run(COMPAS, func(t *testing.T) {
		_, d := load(t, COMPAS, "DARRM_DATA")
		if d.N != 2103 || d.Dim != 11 || math.Round(1e4*d.PrivateRate) != 3909 || d.Degenerate {
			t.Errorf("%+v", d)
		}
	})
	t.Run(CreditCard, func(t *testing.T) {
		_, d := load(t, CreditCard, "DARRM_DATA")
		if d.N != 200 || d.Dim != 21 || d.PrivateRate != 0.5 || d.PublicRate != 0.05 || d.Degenerate {
			t.Errorf("%+v", d)
		}
	})
	t.Run(MNIST69, func(t *testing.T) {
		s, d := load(t, MNIST69, "DARRM_DATA_MNIST")
		if d.N != 1000 || d.Dim != 784 {
			t.Errorf("%+v", d)
		}
		dir := os.Getenv("DARRM_DATA_MNIST")
		set, err := data.ReadLabelledImages(context.Background(), dir, "train")
		if err != nil {
			t.Skip("no training files")
		}
		// The 1000th 6 is image 9860, the 1000th 9 image 10183.
		six, nine := set.Image(9860), set.Image(10183)
		if set.Labels[9860] != 6 || set.Labels[10183] != 9 {
			t.Error("labels")
		}
		for j := range six {
			if s.Private.Row(999)[j] != float64(six[j])/255 ||
				s.Public.Row(999)[j] != float64(nine[783-j])/255 {
				t.Fatalf("pixel %d differs", j)
			}
		}
	})
}

func TestStandins(t *testing.T) {
	for _, v := range []struct {
		name      string
		n, d      int
		rate, pub float64
	}{{MNIST69, 1000, 784, math.NaN(), math.NaN()}, {Crime, 159, 124, math.NaN(), math.NaN()},
		{COMPAS, 2103, 11, 822. / 2103, 1100. / 2103}, {CreditCard, 200, 21, 0.5, 0.05}} {
		s, err := Standin(v.name, 1)
		if err != nil {
			t.Fatal(err)
		}
		d := describe(t, s)
		if !s.Standin || !strings.Contains(s.Source, "stand-in") || d.N != v.n || d.PublicN != v.n ||
			d.Dim != v.d || d.Degenerate {
			t.Errorf("%s: %+v", v.name, d)
		}
		if !math.IsNaN(v.rate) && (d.PrivateRate != v.rate || d.PublicRate != v.pub) {
			t.Errorf("%s: rates %g and %g", v.name, d.PrivateRate, d.PublicRate)
		}
		again, err := Standin(v.name, 1)
		if err != nil || s.Private.Digest() != again.Private.Digest() ||
			s.Public.Digest() != again.Public.Digest() || !slices.Equal(s.Start, again.Start) {
			t.Errorf("%s: not repeatable, %v", v.name, err)
		}
		other, err := Standin(v.name, 2)
		if err != nil || s.Private.Digest() == other.Private.Digest() ||
			slices.Equal(s.Start, other.Start) != (s.Start[0] == 0) {
			t.Errorf("%s: the seed does nothing, %v", v.name, err)
		}
	}
	// The moments that the images' stand-in matches.
	s, err := Standin(MNIST69, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, p := s.Private.Mean(), s.Public.Mean()
	var mm, gap, turn, scatter float64
	for j := range m {
		mm += m[j] * m[j] / 2
		gap += (m[j] - p[j]) * (m[j] - p[j]) / 2
		turn += (p[j] - m[j]) * p[j]
		for i := range s.Private.Len() {
			v := s.Private.Row(i)[j] - m[j]
			scatter += v * v / 2 / float64(s.Private.Len())
		}
	}
	if math.Abs(mm-26.61) > 1e-9 || math.Abs(gap-5.249) > 1e-9 || math.Abs(turn) > 1e-9 ||
		math.Abs(scatter-22.02) > 0.2 {
		t.Errorf("½‖m_D‖² = %g, ½‖m_D-m_P‖² = %g, ⟨m_P-m_D,m_P⟩ = %g, scatter %g", mm, gap, turn, scatter)
	}
	if raced.Enabled {
		return
	}
	c, err := Standin(CIFAR10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if y := c.Public.Response(i); y > 3 {
			t.Fatalf("public class %g", y)
		}
		if y := c.Private.Response(i); y != float64(i%10) {
			t.Fatalf("private class %g", y)
		}
		for _, v := range c.Private.Row(i) {
			if v < 0 || v > 1 {
				t.Fatalf("pixel %g", v)
			}
		}
	}
}

// Every client of n is drawn with probability size/n: the chi-squared statistic of 20
// counts has 19 degrees of freedom, and less variance than independent draws would have;
// false alarm below 1e-6.
func TestSample(t *testing.T) {
	const n, size, rounds = 20, 6, 20_000
	var count [n]int
	rng := generator(1)
	for range rounds {
		s := sample{size: size}
		for i := range n {
			s.add(rng, client{row: i})
		}
		for _, c := range s.clients {
			count[c.row]++
		}
	}
	chi := 0.0
	for _, c := range count {
		want := float64(rounds*size) / n
		chi += (float64(c) - want) * (float64(c) - want) / want
	}
	if chi > 64 {
		t.Errorf("chi-squared %g of %v", chi, count)
	}
}

// Small tables with every rule of the readers at work.
func TestReadTables(t *testing.T) {
	var b strings.Builder
	b.WriteString("ID" + strings.Repeat(",X", 23) + ",Y\n")
	for i := range 1000 { // EDUCATION is 1, 2, 3, …; every fifth defaults
		fmt.Fprintf(&b, "%d,7,1,%d,%d%s,%d\n", i, 1+i%3, i%3, strings.Repeat(fmt.Sprintf(",%d", i), 19),
			int(indicator(i%5 < 2)))
	}
	private, public, err := readCreditCard(strings.NewReader(b.String()), generator(1))
	if err != nil {
		t.Fatal(err)
	}
	if private.Len() != 200 || private.Dim() != 21 || rate(private) != 0.5 || rate(public) != 0.05 ||
		private.Row(3)[0] != 7 {
		t.Errorf("%d × %d, rates %g and %g", private.Len(), private.Dim(), rate(private), rate(public))
	}
	mean := public.Mean()[5]
	if math.Abs(mean) > 1e-9 {
		t.Errorf("standardised public mean %g", mean)
	}
	for i := 1; i < 200; i++ { // the features are the line number, standardised
		if private.Row(i)[5] <= private.Row(i - 1)[5] || public.Row(i)[5] <= public.Row(i - 1)[5] {
			t.Fatalf("client %d is drawn twice or out of order", i)
		}
	}
	if again, _, err := readCreditCard(strings.NewReader(b.String()), generator(1)); err != nil ||
		private.Digest() != again.Digest() {
		t.Errorf("not repeatable: %v", err)
	}
	if other, _, err := readCreditCard(strings.NewReader(b.String()), generator(2)); err != nil ||
		private.Digest() == other.Digest() {
		t.Errorf("every seed draws the same clients: %v", err)
	}
	if _, _, err := readCreditCard(strings.NewReader(strings.Replace(b.String(), ",1\n", ",2\n", 1)),
		generator(1)); err == nil || !strings.Contains(err.Error(), "response = 2") {
		t.Errorf("label 2: %v", err)
	}

	header := "age,priors_count,juv_fel_count,juv_misd_count,juv_other_count,decile_score,sex,race,days_b_screening_arrest,c_charge_degree,is_recid,score_text,two_year_recid\n"
	rows := "30,1,0,0,0,5,Male,Caucasian,0,F,0,Low,1\n" +
		"20,2,0,0,0,4,Female,African-American,-30,M,1,High,0\n" +
		"50,3,0,0,0,3,Male,African-American,30,F,1,High,1\n" + // one more than needed
		"30,1,0,0,0,5,Male,Other,0,F,0,Low,1\n" +
		"30,1,0,0,0,5,Male,Caucasian,31,F,0,Low,1\n" +
		"30,1,0,0,0,5,Male,Caucasian,,F,0,Low,1\n" +
		"30,1,0,0,0,5,Male,Caucasian,0,O,0,Low,1\n" +
		"30,1,0,0,0,5,Male,Caucasian,0,F,-1,Low,1\n" +
		"30,1,0,0,0,5,Male,Caucasian,0,F,0,N/A,1\n"
	private, public, err = readCOMPAS(strings.NewReader(header+rows), generator(1))
	if err != nil || private.Len() != 1 || !slices.Equal(private.Row(0),
		[]float64{30, 1, 0, 0, 0, 5, 1, 1, 0, 0, 1}) || private.Response(0) != 1 ||
		!slices.Equal(public.Row(0), []float64{20, 2, 0, 0, 0, 4, 0, 0, 1, 0, 1}) {
		t.Errorf("%+v, %+v, %v", private, public, err)
	}

	crime := ""
	for i, missing := range []int{-1, 1, 2, 50, 127, -1, -1} {
		for j := range 128 {
			switch {
			case j == missing:
				crime += "?"
			case j == 3:
				crime += "Name"
			default:
				crime += fmt.Sprint(i + 1)
			}
			if j < 127 {
				crime += ","
			}
		}
		crime += "\n"
	}
	// Complete but for county and community: rows 1, 2, 3, 6 and 7, so n = 2.
	private, public, err = readCrime(strings.NewReader(crime), generator(1))
	if err != nil || private.Len() != 2 || private.Row(1)[0] != 2./56 || private.Row(1)[1] != 0.2 ||
		private.Row(1)[2] != 2 || public.Response(1) != 6 {
		t.Errorf("%v, %v", private, err)
	}
}

func FuzzTables(f *testing.F) {
	f.Add("id,sex,age\n1,Male,69\n")
	f.Add(strings.Repeat("1,", 127) + "0\n" + strings.Repeat("2,", 127) + "1\n")
	f.Add("ID" + strings.Repeat(",X", 23) + ",Y\n" + strings.Repeat("1,", 24) + "1\n")
	f.Fuzz(func(t *testing.T, in string) {
		for _, read := range []func(io.Reader, *rand.Rand) (*data.Records, *data.Records,
			error){readCrime, readCOMPAS, readCreditCard} {
			private, public, err := read(strings.NewReader(in), generator(1))
			if err == nil && (private.Dim() != public.Dim() || private.Len() != public.Len()) {
				t.Error("shapes differ")
			}
		}
	})
}

func TestLongLines(t *testing.T) {
	for name, read := range map[string]func(io.Reader, *rand.Rand) (private, public *data.Records,
		err error){
		"crime": readCrime, "compas": readCOMPAS, "credit card": readCreditCard,
	} {
		if _, _, err := read(strings.NewReader(strings.Repeat("1", data.MaxLine+1)), generator(1)); err ==
			nil || !strings.Contains(err.Error(), "line 1 is longer than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
