package datasets

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/data"
)

// Load reads the real files of a data set from a directory:
//
//	mnist-69     an IDX pair: train-images-idx3-ubyte and train-labels-idx1-ubyte, or
//	             t10k-… of the test set; plain or .gz
//	cifar-10     data_batch_1.bin and as many of the other four as there are
//	crime        communities.data
//	compas       compas-two-years.csv or compas-scores-two-years.csv
//	credit-card  uci-credit-card.csv or default-of-credit-card-clients.csv
//
// What is taken of them is each function's comment. The seed draws what the sources leave
// to chance: which clients credit-card consists of, the matrix that multiplies crime's
// public rows, and the start of logistic regression. mnist-69 and cifar-10 do not depend
// on it. An error that the files are not there is fs.ErrNotExist. Only regular
// files of at most data.MaxBytes are read, and only until ctx is done.
func Load(ctx context.Context, name, dir string, seed uint64) (Set, error) {
	from := folder{ctx, dir}
	s := Set{Name: name}
	rng := generator(seed)
	var err error
	switch name {
	case MNIST69:
		err = s.loadMNIST(from)
	case CIFAR10:
		err = s.loadCIFAR(from)
	case Crime:
		err = s.loadFile(from, rng, readCrime, "communities.data")
	case COMPAS:
		err = s.loadFile(from, rng, readCOMPAS, "compas-two-years.csv", "compas-scores-two-years.csv")
	case CreditCard:
		err = s.loadFile(from, rng, readCreditCard, clientFiles...)
	default:
		err = unknown(name)
	}
	if err != nil {
		return Set{}, err
	}
	return s.finish(startGenerator(seed)), nil
}

// folder is the folder of a data set's files, read until ctx is done.
type folder struct {
	ctx context.Context
	dir string
}

// open opens the first of the names that is there, unpacked if it ends in .gz. At most
// data.MaxBytes are read, packed and unpacked.
func (in folder) open(names ...string) (io.ReadCloser, string, error) {
	for _, name := range names {
		for _, suffix := range []string{"", ".gz"} {
			path := filepath.Join(in.dir, name+suffix)
			f, err := readfile.Open(in.ctx, path, data.MaxBytes)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || suffix == "" {
				return f, path, err
			}
			z, err := gzip.NewReader(f)
			if err != nil {
				f.Close()
				return nil, path, fmt.Errorf("%s: %w", path, err)
			}
			return unpacked{readfile.Limit(in.ctx, z, path+", unpacked,", data.MaxBytes), f}, path, nil
		}
	}
	return nil, "", fmt.Errorf("none of %s in %s: %w", strings.Join(names, ", "), in.dir,
		fs.ErrNotExist)
}

// read has the first of the names that is there read, and returns its path.
func (in folder) read(read func(io.Reader) error, names ...string) (string, error) {
	f, path, err := in.open(names...)
	if err != nil {
		return path, err
	}
	defer f.Close() // only read from
	if err := read(f); err != nil {
		return path, fmt.Errorf("%s: %w", path, err)
	}
	return path, nil
}

// firstOf has the first of some folders read that has the files. The error is fs.ErrNotExist if none has.
func firstOf(dirs []string, read func(dir string) error) (err error) {
	for _, dir := range dirs {
		if err = read(dir); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// halves makes the private records, part 0, and the public ones, part 1.
func halves(of func(part int) (*data.Records, error)) (private, public *data.Records, err error) {
	if private, err = of(0); err == nil {
		public, err = of(1)
	}
	return private, public, err
}

type unpacked struct {
	io.Reader
	file io.Closer
}

func (u unpacked) Close() error { return u.file.Close() }

func (s *Set) loadFile(from folder, rng *rand.Rand,
	read func(io.Reader, *rand.Rand) (private, public *data.Records, err error),
	names ...string) (err error) {
	s.Source, err = from.read(func(f io.Reader) (err error) {
		s.Private, s.Public, err = read(f, rng)
		return err
	}, names...)
	return err
}

// eachNamed calls f with every row of a CSV file that has these columns, and with the places of its columns.
func eachNamed(r io.Reader, names []string, f func(h header, row []string) error) error {
	var h header
	return eachRow(r, 0, func(row []string) (err error) {
		if h == nil {
			h, err = newHeader(row, names...)
			return err
		}
		return f(h, row)
	})
}

// eachRow calls f with every row of a CSV file, which it must not keep. An error names the
// line.
func eachRow(r io.Reader, columns int, f func(row []string) error) error {
	cr := data.NewCSVReader(r)
	cr.FieldsPerRecord = columns
	for {
		row, err := cr.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := cr.FieldPos(0)
		if err := f(row); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// readCrime takes the rows without a missing value in any column but county, community
// and the name, which are dropped: 319 of the file's 1994. D is the first half, P the
// other, multiplied by I + N(0,1), drawn once. State and fold are divided by their
// ranges, 56 and 10; the other features and the response are in [0,1] already.
func readCrime(r io.Reader, rng *rand.Rand) (private, public *data.Records, err error) {
	const columns, d = 128, 124
	var x, y []float64
	err = eachRow(r, columns, func(row []string) error {
		used := append(slices.Clone(row[:1]), row[4:]...)
		if slices.Contains(used, "?") {
			return nil
		}
		for i, field := range used {
			v, err := data.ParseNumber(field)
			if err != nil {
				return err
			}
			switch i {
			case 0:
				x = append(x, v/56)
			case 1:
				x = append(x, v/10)
			case d:
				y = append(y, v)
			default:
				x = append(x, v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	n := len(y) / 2
	if n == 0 {
		return nil, nil, errors.New("fewer than two complete rows")
	}
	return inHalves(rng, n, d, x[:2*n*d], y[:2*n])
}

// header gives the columns of a table by name.
type header map[string]int

func newHeader(row []string, names ...string) (header, error) {
	h := header{}
	for i, name := range row {
		name = strings.TrimPrefix(name, "\ufeff")
		if _, ok := h[name]; !ok { // the original COMPAS file has priors_count twice
			h[name] = i
		}
	}
	for _, name := range names {
		if _, ok := h[name]; !ok {
			return nil, fmt.Errorf("there is no column %q", name)
		}
	}
	return h, nil
}

func (h header) number(row []string, name string) (float64, error) {
	v, err := data.ParseNumber(row[h[name]])
	if err != nil {
		return 0, fmt.Errorf("column %s: %w", name, err)
	}
	return v, nil
}

// readCOMPAS takes the customary rows (screened within 30 days of the arrest, is_recid
// not -1, a charge that is not "O", a score): the Caucasian ones are D, as many
// African-American ones, the first, P. Eleven features, standardised by P's statistics.
func readCOMPAS(r io.Reader, _ *rand.Rand) (private, public *data.Records, err error) {
	const d = 11
	counts := []string{"age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count",
		"decile_score"}
	var x, y [2][]float64
	err = eachNamed(r, append(counts, "sex", "race", "days_b_screening_arrest", "c_charge_degree", "is_recid",
		"score_text", "two_year_recid"), func(h header, row []string) error {
		text := func(name string) string { return row[h[name]] }
		which := slices.Index([]string{"Caucasian", "African-American"}, text("race"))
		if which < 0 || text("days_b_screening_arrest") == "" || text("is_recid") == "-1" ||
			text("c_charge_degree") == "O" || text("score_text") == "N/A" {
			return nil
		}
		days, err := h.number(row, "days_b_screening_arrest")
		if err != nil || math.Abs(days) > 30 {
			return err
		}
		for _, name := range counts {
			v, err := h.number(row, name)
			if err != nil {
				return err
			}
			x[which] = append(x[which], v)
		}
		label, err := h.number(row, "two_year_recid")
		if err != nil {
			return err
		}
		age := x[which][len(x[which])-len(counts)]
		x[which] = append(x[which], indicator(text("sex") == "Male"),
			indicator(text("c_charge_degree") == "F"), indicator(age < 25), indicator(age > 45), 1)
		y[which] = append(y[which], label)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	n := len(y[0])
	if n == 0 || len(y[1]) < n {
		return nil, nil, fmt.Errorf(
			"%d Caucasian and %d African-American rows, but there must be some, and no fewer of the latter",
			n, len(y[1]))
	}
	return standardised(n, d, x[0], y[0], x[1][:n*d], y[1][:n])
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// moments returns the mean of column j of d over some rows, and the mean square of what is left.
func moments(x []float64, d, j int, rows []int) (mean, square float64) {
	n := float64(len(rows))
	for _, i := range rows {
		mean += x[i*d+j] / n
	}
	for _, i := range rows {
		square += (x[i*d+j] - mean) * (x[i*d+j] - mean) / n
	}
	return mean, square
}

// standardised takes P's mean off each column and divides by P's standard deviation, for
// D as well: D's own would tell of it. Columns that are constant in P stay.
func standardised(n, d int, x, y, px, py []float64) (private, public *data.Records, err error) {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	for j := range d {
		mean, square := moments(px, d, j, rows)
		if std := math.Sqrt(square); std > 1e-12*(1+math.Abs(mean)) {
			for i := range n {
				x[i*d+j] = (x[i*d+j] - mean) / std
				px[i*d+j] = (px[i*d+j] - mean) / std
			}
		}
	}
	return halves(func(part int) (*data.Records, error) {
		return data.NewRecords(n, d, [][]float64{x, px}[part], [][]float64{y, py}[part])
	})
}
