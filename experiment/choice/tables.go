package choice

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
)

// table is one table of the study: files with their SHA-256, and public rules of its columns.
type table struct {
	Name  string            `json:"name"`
	Title string            `json:"title"`
	Files map[string]string `json:"files"` // SHA-256 by name; of two, that with "test" is held out
	// Source says where the files are from.
	Source   string           `json:"source"`
	Response string           `json:"response"`
	NoHeader bool             `json:"no_header"`
	Judge    bool             `json:"judge"`   // it judges the rule, and has no part in it
	Classes  []string         `json:"classes"` // words of the response
	Range    *prepare.Range   `json:"range"`   // of a response that is a number
	Columns  []prepare.Column `json:"columns"`
}

//go:embed tables.json
var tablesFile []byte

// tables returns the tables of the study that have files.
func tables() (list []table, err error) {
	err = json.Unmarshal(tablesFile, &list)
	return list, err
}

// task returns the task of package choose.
func (t table) task() string {
	if t.Range != nil {
		return "linear"
	}
	return "logistic"
}

// records are the records of a table without a constant feature, and the bound that its rules add up to.
type records struct {
	all, test *data.Records // test is nil where the table has no part of its own for it
	bound     float64
}

// read reads the table from a folder, with a center of its ranges.
func (t table) read(ctx context.Context, folder, center string) (r records, err error) {
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		text, err := t.open(ctx, folder, name)
		if err != nil {
			return r, err
		}
		own, bound, err := t.prepare(text, center)
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		if r.bound = bound; strings.Contains(name, "-test.") {
			r.test = own
		} else {
			r.all = own
		}
	}
	return r, nil
}

// open returns a file's text, unpacked, whose hash must be the stated one.
func (t table) open(ctx context.Context, folder, name string) (string, error) {
	path := filepath.Join(folder, name)
	f, err := readfile.Open(ctx, path, data.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s; its source is %s", experiment.ErrNoData, path, t.Source)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	var in io.Reader = io.TeeReader(f, h)
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(in, data.MaxBytes))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != t.Files[name] {
		return "", check.Want("SHA-256 of "+path, got, t.Files[name]+", that of "+t.Source)
	}
	return string(text), nil
}

// prepare maps a file's rows to records. Rows without a response are left out.
func (t table) prepare(text, center string) (*data.Records, float64, error) {
	csv, err := data.NewCSV(strings.NewReader(text), !t.NoHeader)
	if err != nil {
		return nil, 0, err
	}
	rules := prepare.Rules{Response: t.Response, Center: center}
	response := prepare.Column{Name: t.Response, Scale: t.Range, Categories: t.Classes}
	rules.Columns = append(slices.Clone(t.Columns), response)
	for _, c := range t.Columns {
		rules.Only = append(rules.Only, c.Name)
	}
	m, err := rules.Map(csv)
	if err != nil {
		return nil, 0, err
	}
	r, err := prepare.Read(csv, m)
	return r, m.Radius(2), err
}
