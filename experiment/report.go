package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/markup"
	"github.com/darrm/darrm/internal/readfile"
)

// reportPage holds the contents of the page.
type reportPage struct {
	Sections      []section
	Claims, Fails int
}

// Summary counts, in sentences, the experiments that agree with their sources or theory, and names
// those that do not.
func (p reportPage) Summary() []string {
	agree, quick, untested := 0, 0, 0
	var differ []string
	for _, s := range p.Sections {
		switch {
		case len(s.Claims) == 0:
			untested++
		case len(s.Failed()) == 0:
			agree++
		default:
			differ = append(differ, fmt.Sprintf("%s (%d of %d statements fail)", s.Title, len(s.Failed()),
				len(s.Claims)))
		}
		if s.Quick {
			quick++
		}
	}
	n := len(p.Sections)
	out := []string{fmt.Sprintf("%d of %s found what their sources or theory say: of %s about the "+
		"numbers, %d hold.", agree, count(n, "experiment"), count(p.Claims, "statement"),
		p.Claims-p.Fails)}
	switch {
	case p.Claims == 0:
		out[0] = fmt.Sprintf("%s, and no statement about the numbers was tested.", count(n, "experiment"))
	case p.Fails == 0 && untested == 0:
		out[0] = fmt.Sprintf(
			"All agree: %s found what their sources or theory say. %s about the numbers were tested and "+
				"all hold.", count(n, "experiment"), count(p.Claims, "statement"))
	}
	if len(differ) > 0 {
		out = append(out, "What does not agree: "+strings.Join(differ, "; ")+
			". The statements, with the numbers they were tested on:")
	}
	// The list of failures follows, so what else there is to say comes before it.
	if untested > 0 && p.Claims > 0 {
		out = slices.Insert(out, 1, fmt.Sprintf("Without a statement that can be tested: %d.", untested))
	}
	if quick > 0 {
		out = slices.Insert(out, 1, fmt.Sprintf("In a quick form, smaller than the source's: %d of %d.",
			quick, n))
	}
	return out
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// section is one experiment on the page.
type section struct {
	Result
	Record   Record
	ID       string
	Tables   []shownTable
	Pictures []picture
	Params   string
}

type picture struct {
	Caption string
	SVG     markup.Trusted
}

// shownTable is a table whose methods have their titles.
type shownTable struct {
	Table
	catalog *Catalog
}

// Cells returns a row of the table as text.
func (t shownTable) Cells(row []any) []string {
	out := make([]string, len(row))
	for i, cell := range row[:min(len(row), len(t.Columns))] {
		out[i] = t.Columns[i].text(cell)
		if s, ok := cell.(string); ok {
			out[i] = t.catalog.Title(Method(s))
		}
	}
	return out
}

// WriteReport writes one HTML page about the experiments in the folders, each either an
// experiment's own or one that holds such. The page is whole in itself: pictures and
// styles are in it, it has no scripts, and it asks for nothing from any network. Every file
// is compared with its record first; the error names the one that differs. If ctx ends the
// error is ctx.Err().
func (c *Catalog) WriteReport(ctx context.Context, w io.Writer, dirs ...string) error {
	page := reportPage{}
	var found []string
	for _, dir := range dirs {
		list, err := recordedIn(dir)
		if err != nil {
			return err
		}
		found = append(found, list...)
	}
	if len(found) == 0 {
		return fmt.Errorf("no experiment with a %s in %s", recordFile, strings.Join(dirs, ", "))
	}
	ids := map[string]bool{}
	for _, dir := range found {
		s, err := c.readSection(ctx, dir)
		if err != nil {
			return err
		}
		for n := 2; ids[s.ID]; n++ {
			s.ID = fmt.Sprintf("%s-%d", s.Name, n)
		}
		ids[s.ID] = true
		page.Claims += len(s.Claims)
		page.Fails += len(s.Failed())
		page.Sections = append(page.Sections, s)
	}
	slices.SortStableFunc(page.Sections, func(a, b section) int {
		return c.position(a.Name) - c.position(b.Name)
	})
	_, err := w.Write(page.html()) // at once: half a page is no page
	return err
}

// recordedIn returns the experiments' folders: dir itself, or those in it.
func recordedIn(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, recordFile)); err == nil {
		return []string{dir}, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(sub, recordFile)); err == nil {
			out = append(out, sub)
		}
	}
	return out, nil
}

func (c *Catalog) readSection(ctx context.Context, dir string) (section, error) {
	rec, res, err := readRecord(ctx, dir)
	if err != nil {
		return section{}, err
	}
	s := section{Result: res, Record: rec, ID: res.Name}
	for _, t := range res.Tables {
		s.Tables = append(s.Tables, shownTable{t, c})
	}
	for _, f := range res.Figures {
		name := f.Name + ".svg"
		if _, ok := rec.Outputs[name]; !ok {
			return s, fmt.Errorf("%s: the record names no %s", dir, name)
		}
		data, err := readfile.Whole(ctx, filepath.Join(dir, name), maxOutput)
		if err != nil {
			return s, err
		}
		svg, err := inlineSVG(data, res.Title+": "+f.Caption)
		if err != nil {
			return s, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		// rebuilt from an allowed set, see inlineSVG
		s.Pictures = append(s.Pictures, picture{f.Caption, markup.Trusted(svg)})
	}
	var b bytes.Buffer
	if err := json.Indent(&b, rec.Parameters, "", "  "); err != nil {
		return s, err
	}
	s.Params = b.String()
	return s, nil
}
