//go:build !js

package votes

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/darrm/darrm/votes/format"
)

// archive is a .npz file, a zip archive of arrays.
type archive struct {
	*fileInfo
	ctx     context.Context
	src     *source
	at      io.ReaderAt
	members map[string]*zip.File
	used    map[string]string // member → what for
	twice   []string          // names that two members have
	truth   string            // the array of true labels, "" for none
}

// openNPZ opens an archive of arrays: the votes (or counts) and, if there are any,
// the queries' ids and true labels.
func openNPZ(ctx context.Context, info *fileInfo, s *source) (decoder, error) {
	if err := info.arrayLayout(); err != nil {
		return nil, err
	}
	at, size, err := s.seekable(ctx, info)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, &ParseError{File: info.name,
			Rule: fmt.Sprintf("not an archive of arrays as numpy.savez writes it: %v", err), Err: err}
	}
	if fast := format.FindCompression("deflate"); fast != nil {
		z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser {
			inflated, _ := fast.NewReader(r) // reads nothing yet
			return io.NopCloser(inflated)
		})
	}
	a := &archive{fileInfo: info, ctx: ctx, src: s, at: at, members: make(map[string]*zip.File),
		used: make(map[string]string)}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		name = strings.TrimSpace(name)
		if !ok && info.opts.VotesColumn == "" {
			return nil, info.errorf("member %s of the archive is no array (.npy)", quote(f.Name))
		}
		if !ok {
			continue
		}
		if a.members[name] != nil {
			a.twice = append(a.twice, name)
		}
		a.members[name] = f
	}
	d := &npyDecoder{fileInfo: info, src: s}
	if err := a.open(d); err != nil {
		return nil, err
	}
	for _, name := range a.twice {
		if a.used[name] != "" || info.opts.VotesColumn == "" {
			return nil, info.errorf("the archive has the array %s twice", quote(name))
		}
	}
	left := a.unused()
	if len(left) > 0 && info.opts.VotesColumn == "" {
		return nil, info.errorf("the array %s is neither votes, ids nor labels; name those, or the votes "+
			"(%s) and no other array is read", quote(left[0]), pVotesColumn)
	}
	d.complete()
	if d.roles.Unused = left; a.truth != "" && info.opts.NoTruth {
		d.roles.Unused = append(d.roles.Unused, a.truth)
		slices.Sort(d.roles.Unused)
	}
	return d, nil
}

// open opens the arrays.
func (a *archive) open(d *npyDecoder) error {
	ids, err := a.find("ids", a.opts.IDColumn, idNames...)
	if err != nil {
		return err
	}
	if !a.opts.NoTruth || a.opts.LabelColumn != "" || a.opts.VotesColumn == "" {
		if a.truth, err = a.find("labels", a.opts.LabelColumn, truthNames...); err != nil {
			return err
		}
	}
	usual := "votes"
	if a.layout == LayoutCounts {
		usual = "counts"
	}
	votes, err := a.find(usual, a.opts.VotesColumn, usual)
	if err != nil {
		return err
	}
	if left := a.unused(); a.opts.found != nil && a.opts.VotesColumn == "" && votes != "" && len(left) > 0 {
		a.opts.VotesColumn = votes // no other array is read, then
	}
	if votes == "" { // an archive of one more array needs no name
		left := a.unused()
		if len(left) > 1 && a.opts.found != nil { // one that alone can be votes is proposed
			if likely := slices.DeleteFunc(slices.Clone(left), a.noVotes); len(likely) == 1 {
				left, a.opts.VotesColumn = likely, likely[0]
			}
		}
		if len(left) != 1 {
			return a.errorf("there is no array %s, but %d others (%s); say which it is (%s)", quote(usual),
				len(left), strings.Join(left, ", "), pVotesColumn)
		}
		votes = left[0]
		a.used[votes] = usual
	}
	if d.votes, err = a.array(votes); err != nil {
		return err
	}
	if err := d.shapeVotes(); err != nil {
		return err
	}
	if d.idArray, err = a.column(ids, d.n); err != nil {
		return err
	}
	if d.idArray != nil && (d.idArray.dtype.Kind == 'f' || d.idArray.dtype.Kind == 'b') {
		return a.errorf("array %s: query ids are %s, want integers or text", quote(ids),
			d.idArray.dtype.text)
	}
	if a.opts.NoTruth || !a.vectors || a.truth == "" {
		if !a.opts.NoTruth {
			d.labels, err = a.column(a.truth, d.n)
		}
		return err
	}
	if d.labels, err = a.array(a.truth); err == nil &&
		(!slices.Equal(d.labels.Shape, []int64{d.n, int64(d.width)}) || d.labels.Fortran) {
		err = a.errorf("array %s: %s elements, want a 0 or 1 for each of %d labels of each of the %d queries, in "+
			"the order of C", quote(a.truth), d.labels.Dims(), d.width, d.n)
	}
	return err
}

// unused returns the names of the arrays that are nothing yet.
func (a *archive) unused() []string {
	var left []string
	for name := range a.members {
		if a.used[name] == "" {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left
}

// noVotes reports whether an array has not two dimensions, or numbers that are not whole.
func (a *archive) noVotes(name string) bool {
	arr, err := a.array(name)
	return err != nil || len(arr.Shape) != 2 || arr.dtype.Kind == 'f'
}

// find returns the member that spec or one of the usual names gives, or "".
func (a *archive) find(role, spec string, usual ...string) (string, error) {
	if spec == NoColumn {
		return "", nil
	}
	if spec != "" {
		usual = []string{spec}
	}
	found := ""
	for _, name := range usual {
		if a.members[name] == nil {
			continue
		}
		if found != "" {
			return "", a.errorf("the arrays %s and %s could both be the %s; say which it is", quote(found),
				quote(name), role)
		}
		found = name
	}
	if found == "" {
		if spec != "" {
			return "", a.errorf("there is no array %s for the %s", quote(spec), role)
		}
		return "", nil
	}
	if other := a.used[found]; other != "" {
		return "", a.errorf("the array %s cannot be %s and %s at once", quote(found), other, role)
	}
	a.used[found] = role
	return found, nil
}

// column opens an array of one element for each of n queries; nil without a name.
func (a *archive) column(name string, n int64) (*npyArray, error) {
	if name == "" {
		return nil, nil
	}
	arr, err := a.array(name)
	if err != nil {
		return nil, err
	}
	if len(arr.Shape) != 1 || arr.Shape[0] != n {
		return nil, a.errorf("array %s: %s elements, want one for each of the %d queries", quote(name),
			arr.Dims(), n)
	}
	return arr, nil
}

// array opens a member. One that is stored as it is can be read in the archive,
// after its checksum has been looked at; others are copied to a temporary file.
func (a *archive) array(name string) (*npyArray, error) {
	f := a.members[name]
	r, err := f.Open()
	if err != nil {
		return nil, a.arrayError(format.Errorf("%v", err), name)
	}
	defer r.Close()
	in := memberReader{contextReader{a.ctx, r}}
	h, err := readNPYHeader(in)
	if err != nil {
		return nil, a.arrayError(err, name)
	}
	if got := f.UncompressedSize64; got != uint64(h.Size+h.data) {
		return nil, a.arrayError(
			format.Errorf("the header claims %s elements of %d bytes, %d with the header, but the archive has %d",
				h.Dims(), h.dtype.Size, h.Size+h.data, got), name)
	}
	arr := &npyArray{npyHeader: h, member: name}
	if f.Method != zip.Store {
		// To the end, where the zip package looks at the length and the checksum.
		if arr.at, _, err = a.src.spool(a.ctx, a.fileInfo, in); err != nil {
			return nil, a.arrayError(err, name)
		}
		return arr, nil
	}
	if _, err = io.Copy(io.Discard, in); err != nil {
		return nil, a.arrayError(err, name)
	}
	off, err := f.DataOffset()
	if err != nil {
		return nil, a.arrayError(format.Errorf("%v", err), name)
	}
	arr.at = io.NewSectionReader(a.at, off+h.Size, h.data)
	return arr, nil
}

// memberReader turns the zip and flate packages' errors into rules: the archive
// is damaged. Errors of the file itself look the same; either way nothing is
// read.
type memberReader struct{ contextReader }

func (m memberReader) Read(p []byte) (int, error) {
	n, err := m.contextReader.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, m.ctx.Err()) {
		err = format.Errorf("the archive is damaged or cut off: %v", err)
	}
	return n, err
}
