package votes

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/npy"
)

func npyOf(layout Layout) Options { return Options{Format: FormatNPY, Layout: layout} }

// header is a .npy file with the given text as its header.
func header(major byte, text string, elements string) []byte {
	out := []byte(npy.Magic + string([]byte{major, 0, byte(len(text)), byte(len(text) >> 8)}))
	if major > 1 {
		out = append(out, 0, 0)
	}
	return append(append(out, text...), elements...)
}

func TestNPYHeader(t *testing.T) {
	for _, tt := range []struct {
		major byte
		text  string
		shape []int64
		descr string
		rule  string
	}{
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }      \n", []int64{2, 3}, "<i8",
			""},
		{2, "{'descr': '|b1', 'fortran_order': True, 'shape': (2,), }\n", []int64{2}, "|b1", ""},
		{3, "{'descr': '<U1', 'fortran_order': False, 'shape': (), }\n", nil, "<U1", ""},
		// as Python 2 wrote it
		{1, `{"shape": (2L, 3L), "descr": "|u1", "fortran_order": False}`, []int64{2, 3}, "|u1", ""},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 9223372036854775807, 3), }",
			[]int64{0, 9223372036854775807, 3}, "<i8", ""},
		{1, "", nil, "", "no dictionary"},
		{1, "{}", nil, "", "no key descr"},
		{1, "{'descr': '<i8', 'fortran_order': False}", nil, "", "no key shape"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", nil, "",
			"no dictionary"},
		{1, "{'descr': '<i8', 'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			`key "descr" twice`},
		{1, "{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			"records of several fields"},
		{1, "{'descr': '<i8', 'fortran_order': 0, 'shape': (2, 3)}", nil, "", "no dictionary"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (-2, 3)}", nil, "", "no dictionary"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2e9, 3)}", nil, "", "no dictionary"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': [2, 3]}", nil, "", "no dictionary"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999999999, 3)}", nil, "",
			"no dictionary"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3)} + __import__('os')", nil, "",
			"no dictionary"},
		{1, "{'descr': '<i8', 'fortran_order': False, 'shape': (4611686018427387904, 3)}", nil, "",
			"more than any disk"},
		{1, "{'descr': '<i8", nil, "", "no dictionary"},
		{1, "{'descr': '<i3', 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			`"<i3" is not one for votes`},
		{1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			`"<f2" is not one for votes`},
		{1, "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			"is not one for votes"},
		{1, "{'descr': '<M8[25s]', 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			"is not one for votes"},
		{1, "{'descr': '<U0', 'fortran_order': False, 'shape': (2, 3)}", nil, "", "is not one for votes"},
		{1, "{'descr': '<U99999999999999999', 'fortran_order': False, 'shape': (2, 3)}", nil, "",
			"is not one for votes"},
		{1, "{'descr': '', 'fortran_order': False, 'shape': (2, 3)}", nil, "", "unknown"},
		{4, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }", nil, "", "version 4.0"},
	} {
		h, err := readNPYHeader(bytes.NewReader(header(tt.major, tt.text, "rest")))
		if tt.rule != "" {
			if err == nil || !strings.Contains(err.Error(), tt.rule) {
				t.Errorf("%q: %v, want %s", tt.text, err, tt.rule)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(h.Shape, tt.shape) || h.dtype.text != tt.descr {
			t.Errorf("%q: %+v, %v", tt.text, h, err)
		}
		// Cut anywhere it is an error, never a panic.
		data := header(tt.major, tt.text, "")
		for n := range data {
			if _, err := readNPYHeader(bytes.NewReader(data[:n])); err == nil {
				t.Errorf("%q cut to %d bytes: accepted", tt.text, n)
			}
		}
	}
}

// The files that NumPy 1.24 writes, byte by byte.
func TestNPYGolden(t *testing.T) {
	// numpy.save of numpy.array([[0, 1, 1], [1, 0, 1]], dtype="u1"), and of its
	// transpose, which is in Fortran order.
	c := "\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }" +
		strings.Repeat(" ", 58) + "\n\x00\x01\x01\x01\x00\x01"
	f := "\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': True, 'shape': (3, 2), }" +
		strings.Repeat(" ", 59) + "\n\x00\x01\x01\x01\x00\x01"
	want := &all{K: 3, Classes: IntegerClasses(2), Counts: []int{1, 2, 1, 2}, N: 2}
	for in, layout := range map[string]Layout{c: LayoutWide, f: LayoutTeachers} {
		if len(in) != 128+6 {
			t.Fatalf("the golden file has %d bytes", len(in))
		}
		got, err := readAll(strings.NewReader(in), npyOf(layout))
		same(t, in, got, err, want, nil)
	}
}

// An archive that NumPy 1.24 wrote:
//
//	numpy.savez_compressed(f, votes=numpy.array([[0, 1, 1], [1, 0, 1]]).T,
//	    query=numpy.array(["a", "bé"]), label=numpy.array([True, False]))
func TestNPZGolden(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(goldenNPZ, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	want := &all{K: 3, Classes: IntegerClasses(2), Counts: []int{1, 2, 1, 2}, IDs: []string{"a", "bé"},
		Labels: []int{1, 0}, N: 2}
	got, err := readAll(bytes.NewReader(data), Options{Format: FormatNPZ, Layout: LayoutTeachers})
	same(t, "NumPy's archive", got, err, want, nil)
}

const goldenNPZ = `
UEsDBBQAAAAIAAAAIQA8eobNTQAAALAAAAAJABQAdm90ZXMubnB5AQAQALAAAAAAAAAATQAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBuk2mhrqOgnpZf
VFKUmBefX5SSChIPKSpNBQoXZyQWpAK5GsY6CkaaOgq1CuQDLgYoYMRBo8sDAFBLAwQUAAAACAAAACEALxGJFE0AAACQAAAACQAUAHF1ZXJ5Lm5weQEAEACQ
AAAAAAAAAE0AAAAAAAAAm+wX6hsQychQxlCtnpJanFykbqWgbhNqpK6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkaRjqaOgq1ChQArkQGCEgC4pdA
DABQSwMEFAAAAAgAAAAhAO4Zu11GAAAAggAAAAkAFABsYWJlbC5ucHkBABAAggAAAAAAAABGAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loF6TZKiuo6Ce
ll9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6mjoKtQoUAC5GBgBQSwECFAMUAAAACAAAACEAPHqGzU0AAACwAAAACQAAAAAAAAAAAAAAgAEAAAAAdm90
ZXMubnB5UEsBAhQDFAAAAAgAAAAhAC8RiRRNAAAAkAAAAAkAAAAAAAAAAAAAAIABiAAAAHF1ZXJ5Lm5weVBLAQIUAxQAAAAIAAAAIQDuGbtdRgAAAIIAAAAJ
AAAAAAAAAAAAAACAARABAABsYWJlbC5ucHlQSwUGAAAAAAMAAwClAAAAkQEAAAAA`

func TestReadNPYRefuses(t *testing.T) {
	dir := t.TempDir()
	u1 := func(elements string, shape ...int64) []byte {
		return npyFile("|u1", false, []byte(elements), shape...)
	}
	for _, tt := range []struct {
		name string
		data []byte
		opts Options
		row  int64 // -1 if the file is meant
		col  int
		rule string
	}{
		{"no layout", u1("\x00\x01", 1, 2), npyOf(LayoutDefault), -1, 0, "say the layout"},
		{"empty", nil, npyOf(LayoutWide), -1, 0, "does not begin"},
		{"one dimension", u1("\x00\x01", 2), npyOf(LayoutWide), -1, 0, "1 dimensions (2), want 2"},
		{"three dimensions", u1("\x00\x01", 1, 1, 2), npyOf(LayoutWide), -1, 0,
			"3 dimensions (1 × 1 × 2), want 2"},
		{"scalar", u1("\x00"), npyOf(LayoutWide), -1, 0, "0 dimensions"},
		{"no queries", u1("", 0, 2), npyOf(LayoutWide), -1, 0, "no queries"},
		{"no teachers", u1("", 2, 0), npyOf(LayoutWide), -1, 0, "no teachers"},
		{"no queries, teachers first", u1("", 2, 0), npyOf(LayoutTeachers), -1, 0, "no queries"},
		{"too many teachers", u1("", 1, check.MaxTeachers+1), npyOf(LayoutWide), -1, 0,
			"are 2002 teachers, want at most 2001"},
		{"the other layout", u1("\x00\x01\x01\x00\x01\x01", 3, 2),
			Options{Format: FormatNPY, Layout: LayoutWide, K: 3}, -1, 0, "is the layout teachers?"},
		{"the other layout, other way", u1("\x00\x01\x01\x00\x01\x01", 3, 2),
			Options{Format: FormatNPY, Layout: LayoutTeachers, K: 2}, -1, 0, "is the layout wide?"},
		{"other K", u1("\x00\x01\x01\x00\x01\x01", 3, 2),
			Options{Format: FormatNPY, Layout: LayoutWide, K: 4}, -1, 0, "but K = 4 teachers are expected"},
		{"vote 2", u1("\x00\x01\x02\x01", 2, 2), npyOf(LayoutWide), 1, 1, "vote 2 is not 0 or 1"},
		{"vote 2, teachers first", u1("\x00\x01\x02\x01", 2, 2), npyOf(LayoutTeachers), 0, 2,
			"vote 2 is not 0 or 1"},
		{"vote -1", npyFile("<i8", false, npyElements("<i8", []string{"0", "-1"}), 1, 2),
			npyOf(LayoutWide), 0, 2, "the vote is missing"},
		{"vote 2⁶³", npyFile("<u8", false, []byte("\x00\x00\x00\x00\x00\x00\x00\x80"), 1, 1),
			npyOf(LayoutWide), 0, 1, `vote "9223372036854775808" is not 0 or 1`},
		{"boolean 2", npyFile("|b1", false, []byte("\x02"), 1, 1), npyOf(LayoutWide), 0, 1,
			"vote 2 is not 0 or 1"},
		{"vote 0.5", npyFile("<f4", false, []byte("\x00\x00\x00\x3f"), 1, 1), npyOf(LayoutWide), 0, 1,
			"vote 0.5 is not 0 or 1"},
		{"vote Inf", npyFile("<f4", false, []byte("\x00\x00\x80\x7f"), 1, 1), npyOf(LayoutWide), 0, 1,
			"vote +Inf is not 0 or 1"},
		{"vote NaN", npyFile("<f8", false, npyElements("<f8", []string{""}), 1, 1), npyOf(LayoutWide), 0,
			1, `the vote is missing ("NaN")`},
		{"vote yes", npyFile("<U3", false, npyElements("<U3", []string{"yes"}), 1, 1), npyOf(LayoutWide),
			0, 1, `vote "yes" is not 0 or 1`},
		{"vote empty", npyFile("|S1", false, []byte{0}, 1, 1), npyOf(LayoutWide), 0, 1,
			"the vote is missing"},
		{"surrogate", npyFile("<U1", false, []byte("\x00\xd8\x00\x00"), 1, 1), npyOf(LayoutWide), 0, 1,
			"(invalid text)"},
		{"beyond Unicode", npyFile("<U1", false, []byte("\xff\xff\xff\xff"), 1, 1), npyOf(LayoutWide), 0,
			1, "(invalid text)"},
		{"invalid bytes", npyFile("|S1", false, []byte{0xff}, 1, 1), npyOf(LayoutWide), 0, 1,
			"(invalid text)"},
		{"counts, other classes", u1("\x01\x01\x01", 1, 3), npyOf(LayoutCounts), -1, 0,
			"the number of classes, 2"},
		{"counts as text", npyFile("|S1", false, []byte("11"), 1, 2), npyOf(LayoutCounts), -1, 0,
			"want counts"},
		{"counts differ", u1("\x01\x01\x01\x02", 2, 2), npyOf(LayoutCounts), 1, 0,
			"sum to K = 3, but to K = 2 in row 0"},
		{"counts 0", u1("\x01\x01\x00\x00", 2, 2), npyOf(LayoutCounts), 1, 0, "no votes"},
		{"counts 0 at once", u1("\x00\x00", 1, 2), npyOf(LayoutCounts), 0, 0, "no votes"},
		{"count -1", npyFile("|i1", false, []byte{2, 0xff}, 1, 2), npyOf(LayoutCounts), 0, 2,
			"count -1 is not"},
		{"count 0.5", npyFile("<f4", false, []byte("\x00\x00\x80\x3f\x00\x00\x00\x3f"), 1, 2),
			npyOf(LayoutCounts), 0, 2, "count 0.5 is not"},
		{"count huge", npyFile("<i4", false, npyElements("<i4", []string{"1", "2002"}), 1, 2),
			npyOf(LayoutCounts), 0, 2, "want at most 2001"},
		{"counts of other K", u1("\x01\x01", 1, 2),
			Options{Format: FormatNPY, Layout: LayoutCounts, K: 3}, 0, 0, "sum to 2, but K = 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(what, name string, err error) {
				t.Helper()
				var p *ParseError
				if !errors.As(err, &p) || p.File != name || p.HasRow != (tt.row >= 0) || p.HasRow &&
					p.Row != tt.row || p.Column != tt.col || !strings.Contains(p.Rule, tt.rule) {
					t.Errorf("%s: got %v, want row %d, column %d: %s", what, err, tt.row, tt.col, tt.rule)
				}
			}
			_, err := readAll(bytes.NewReader(tt.data), tt.opts)
			check("stream", "votes", err)
			path := filepath.Join(dir, "v.npy")
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(context.Background(), tt.opts, path)
			if err == nil {
				_, err = collect(r)
			}
			check("file", path, err)
		})
	}
	// Files whose size is wrong, and streams.
	for _, tt := range []struct {
		data         []byte
		file, stream string
	}{
		{u1("\x00\x01\x01", 2, 2), "4 bytes", "4 in all, but there are 3"},
		{u1("\x00\x01\x01\x01\x00", 2, 2), "but the file has", "more bytes follow"},
	} {
		path := filepath.Join(dir, "v.npy")
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(context.Background(), npyOf(LayoutWide), path); err == nil ||
			!strings.Contains(err.Error(), "claims 2 × 2 elements") {
			t.Errorf("file: %v", err)
		}
		if _, err := readAll(bytes.NewReader(tt.data), npyOf(LayoutWide)); err == nil ||
			!strings.Contains(err.Error(), tt.stream) {
			t.Errorf("stream: %v, want %s", err, tt.stream)
		}
		if _, err := readAll(bytes.NewReader(tt.data), npyOf(LayoutTeachers)); err == nil ||
			!strings.Contains(err.Error(), "claims 2 × 2 elements") {
			t.Errorf("spooled: %v", err)
		}
	}
}

func TestNPYReaderFailure(t *testing.T) {
	boom := errors.New("boom")
	data := npyFile("|u1", false, []byte{0, 1, 1, 1}, 2, 2)
	for _, layout := range []Layout{LayoutWide, LayoutTeachers, LayoutCounts} {
		for n := range data {
			opts := npyOf(layout)
			opts.chunkBytes = 1
			if _, err := readAll(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(boom)),
				opts); !errors.Is(err, boom) {
				t.Errorf("%s, failure after %d bytes: %v", layout, n, err)
			} else if err == nil {
				t.Errorf("%s, failure after %d bytes: accepted", layout, n)
			}
		}
	}
}

func TestReadNPZRefuses(t *testing.T) {
	votes := npyFile("|u1", false, []byte{0, 1, 1, 1}, 2, 2)
	text := func(cells ...string) []byte {
		return npyFile("<U3", false, npyElements("<U3", cells), int64(len(cells)))
	}
	good := archiveOf(t, "votes.npy", votes, "query.npy", text("a", "b"))
	for _, tt := range []struct {
		name string
		data []byte
		opts Options
		rule string
	}{
		{"no layout", good, Options{}, "say the layout"},
		{"no member", archiveOf(t), Options{Layout: LayoutWide}, `there is no array "votes"`},
		{"which", archiveOf(t, "a.npy", votes, "b.npy", votes), Options{Layout: LayoutWide},
			`2 others (a, b); say which`},
		{"left over", archiveOf(t, "votes.npy", votes, "b.npy", votes), Options{Layout: LayoutWide},
			`array "b" is neither votes, ids nor labels`},
		{"no array", archiveOf(t, "votes.npy", votes, "readme.txt", []byte("x")),
			Options{Layout: LayoutWide}, `member "readme.txt" of the archive is no array`},
		{"not there", good, Options{Layout: LayoutWide, VotesColumn: "x"}, `no array "x" for the votes`},
		{"twice used", good, Options{Layout: LayoutWide, VotesColumn: "query"},
			`"query" cannot be ids and votes at once`},
		{"two ids", archiveOf(t, "votes.npy", votes, "query.npy", text("a", "b"), "id.npy",
			text("a", "b")), Options{Layout: LayoutWide}, "could both be the ids"},
		{"few ids", archiveOf(t, "votes.npy", votes, "query.npy", text("a")), Options{Layout: LayoutWide},
			"want one for each of the 2 queries"},
		{"ids as matrix", archiveOf(t, "votes.npy", votes, "query.npy",
			npyFile("|u1", false, []byte{0, 1}, 2, 1)), Options{Layout: LayoutWide},
			"2 × 1 elements, want one for each"},
		{"float ids", archiveOf(t, "votes.npy", votes, "query.npy",
			npyFile("<f4", false, make([]byte, 8), 2)), Options{Layout: LayoutWide}, "query ids are <f4"},
		{"id twice", archiveOf(t, "votes.npy", votes, "query.npy", text("a", "a")),
			Options{Layout: LayoutWide}, `row 1: query id "a" is already in row 0`},
		{"id empty", archiveOf(t, "votes.npy", votes, "query.npy", text("a", "")),
			Options{Layout: LayoutWide}, "row 1: the query id is empty"},
		{"label 2", archiveOf(t, "votes.npy", votes, "label.npy", npyFile("|u1", false, []byte{0, 2}, 2)),
			Options{Layout: LayoutWide}, "row 1: label 2 is not 0 or 1"},
		{"vote before label", archiveOf(t, "votes.npy", npyFile("|u1", false, []byte{0, 1, 3, 1}, 2, 2),
			"label.npy", npyFile("|u1", false, []byte{0, 2}, 2)), Options{Layout: LayoutWide},
			"row 1: column 1: vote 3"},
		{"label before vote", archiveOf(t, "votes.npy", npyFile("|u1", false, []byte{0, 1, 3, 1}, 2, 2),
			"label.npy", npyFile("|u1", false, []byte{2, 2}, 2)), Options{Layout: LayoutWide},
			"row 0: label 2"},
		{"cut off", good[:len(good)-30], Options{Layout: LayoutWide}, "not an archive of arrays"},
		{"size", archiveOf(t, "votes.npy", append(votes, 0)), Options{Layout: LayoutWide},
			"but the archive has"},
		{"checksum", flip(archiveOf(t, "votes.npy", votes), "\x00\x01\x01\x01", "\x00\x00\x01\x01"),
			Options{Layout: LayoutWide}, "the archive is damaged or cut off: zip: checksum error"},
		{"checksum, teachers first", flip(archiveOf(t, "votes.npy", votes), "\x00\x01\x01\x01",
			"\x00\x00\x01\x01"), Options{Layout: LayoutTeachers},
			"the archive is damaged or cut off: zip: checksum error"},
		{"checksum, packed, teachers first", packedWrong(t, votes), Options{Layout: LayoutTeachers},
			"the archive is damaged or cut off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "v.npz")
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(context.Background(), tt.opts, path)
			if err == nil {
				_, err = collect(r)
			}
			var p *ParseError
			if !errors.As(err, &p) || p.File != path || !strings.Contains(err.Error(), tt.rule) {
				t.Errorf("got %v, want %s", err, tt.rule)
			}
		})
	}
}

// flip changes stored bytes behind the archive's back.
func flip(archive []byte, from, to string) []byte {
	// archive/zip's Create deflates; these few bytes are stored as they are or not
	// at all, so store them.
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			panic(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			panic(err)
		}
		out, _ := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		out.Write(content)
	}
	w.Close()
	if !bytes.Contains(b.Bytes(), []byte(from)) {
		panic("not there")
	}
	return bytes.Replace(b.Bytes(), []byte(from), []byte(to), 1)
}

// packedWrong is a deflated member with the checksum of another.
func packedWrong(t *testing.T, content []byte) []byte {
	data := archiveOf(t, "votes.npy", content)
	// The descriptor behind the data holds the checksum, and so does the directory.
	at := bytes.Index(data, []byte("PK\x07\x08"))
	dir := bytes.Index(data, []byte("PK\x01\x02"))
	data[at+4] ^= 1
	data[dir+16] ^= 1
	return data
}

// One element that is no vote is found, wherever it is and whatever the type.
func TestNPYFindsTheBadVote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 20).Draw(t, "N"), rapid.IntRange(1, 20).Draw(t, "K")
		descr := rapid.SampledFrom([]string{"|u1", "|i1", "|b1", "<i2", ">i2", "<u4", "<i8", ">i8", "<f4",
			"<f8", ">f8", "|S2", "<U2"}).Draw(t, "type")
		d := &data{classes: []string{"0", "1", "2"}}
		for range n {
			d.votes = append(d.votes, rapid.SliceOfN(rapid.IntRange(0, 1), k, k).Draw(t, "votes"))
		}
		row, col := rapid.IntRange(0, n-1).Draw(t, "row"), rapid.IntRange(0, k-1).Draw(t, "column")
		d.votes[row][col] = 2
		teachers, fortran := rapid.Bool().Draw(t, "teachers"), rapid.Bool().Draw(t, "fortran")
		opts := npyOf(LayoutWide)
		if teachers {
			opts = npyOf(LayoutTeachers)
		}
		opts.chunkBytes = rapid.SampledFrom([]int{0, 1, 50}).Draw(t, "chunk")
		_, err := readAll(bytes.NewReader(d.npy(descr, teachers, fortran)), opts)
		var p *ParseError
		if !errors.As(err, &p) || p.Row != int64(row) || p.Column != col+1 ||
			!strings.Contains(p.Rule, "is not 0 or 1") {
			t.Fatalf("vote 2 at row %d, column %d: %v", row, col+1, err)
		}
	})
}

// Elements decode as NumPy means them: every type against an encoder of its own.
func TestDtypeValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		descr := rapid.SampledFrom([]string{"|i1", "|u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">i8", "<f4",
			">f8"}).Draw(t, "type")
		d, err := parseDtype(descr)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := -100, 100
		if d.Kind == 'u' {
			lo = 0
		}
		v := rapid.IntRange(lo, hi).Draw(t, "value")
		e := npyElements(descr, []string{fmt.Sprint(v)})
		var c cell
		d.read(e, &c)
		if c.kind == floatCell && c.x != float64(v) || c.kind == intCell && c.n != int64(v) ||
			c.kind != floatCell && c.kind != intCell || c.plain() != fmt.Sprint(v) {
			t.Fatalf("%s: %v is %+v", descr, v, c)
		}
	})
}

func FuzzNPY(f *testing.F) {
	d := &data{classes: IntegerClasses(2), votes: [][]int{{0, 1, 1}, {1, 1, 0}}}
	for _, descr := range append(d.dtypes(), "|u1", "<i8") {
		f.Add(d.npy(descr, false, false), uint8(0))
		f.Add(d.npy(descr, true, true), uint8(4))
	}
	f.Add(npyFile("|u1", false, []byte{1, 2, 3, 0}, 2, 2), uint8(2))
	f.Add(header(2, "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "\x80\x04"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, mode uint8) {
		opts := Options{Format: FormatNPY, Layout: []Layout{LayoutDefault, LayoutWide, LayoutCounts,
			LayoutTeachers}[mode%4], chunkBytes: 16}
		if opts.Layout != LayoutCounts {
			opts.Missing, opts.KeepVotes = MissingPolicy(mode>>2&1), mode>>3&1 == 1
		}
		if mode>>4&1 == 1 {
			opts.Classes = []string{"1", "b", "300"}
		}
		stream, streamErr := readAll(iotest.OneByteReader(bytes.NewReader(data)), opts)
		path := filepath.Join(t.TempDir(), "v")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(context.Background(), opts, path)
		var file *all
		if err == nil {
			file, err = collect(r)
		}
		// A file's length is known before its elements are looked at, so faults may
		// differ; what is accepted may not.
		if (err == nil) != (streamErr == nil) || err == nil && !reflect.DeepEqual(file, stream) {
			t.Fatalf("file %+v, %v; stream %+v, %v", file, err, stream, streamErr)
		}
	})
}

func FuzzNPZ(f *testing.F) {
	d := &data{classes: IntegerClasses(2), votes: [][]int{{0, 1, 1}, {1, 1, 0}},
		ids: []string{"a", "b"}, labels: []int{0, 1}}
	f.Add(d.writeNPZ("|u1", false, false, zip.Store), uint8(1))
	f.Add(d.writeNPZ("<i8", true, false, zip.Deflate), uint8(3))
	f.Add(d.writeNPZ("<U1", true, true, zip.Store), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, mode uint8) {
		opts := Options{Format: FormatNPZ, Layout: []Layout{LayoutDefault, LayoutWide, LayoutCounts,
			LayoutTeachers}[mode%4], TempDir: t.TempDir()}
		got, err := readAll(bytes.NewReader(data), opts)
		if err == nil && (got.K < 1 || got.N < 1) {
			t.Fatalf("accepted %+v", got)
		}
	})
}
