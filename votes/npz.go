package votes

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"
)

// maxZipDirectory bounds what is read to find the members of an archive. An
// archive of NumPy's has a few arrays; a hostile one could claim millions.
const maxZipDirectory = 1 << 20

// openNPZ opens an archive of arrays: the votes (or counts) and, if there are any,
// the queries' ids and true labels.
func openNPZ(ctx context.Context, info *fileInfo, s *source, pool *batchPool) (decoder, error) {
	info.rows = true
	if err := info.arrayLayout(); err != nil {
		return nil, err
	}
	at, size, err := s.seekable(ctx, info)
	if err != nil {
		return nil, err
	}
	budget := &budgetReaderAt{at, 2 * maxZipDirectory} // entry by entry, and the search for it
	z, err := zip.NewReader(budget, size)
	budget.left = -1
	if errors.Is(err, errBudget) {
		return nil, info.errorf("the archive's directory takes more than %d bytes", maxZipDirectory)
	}
	if err != nil {
		return nil, &ParseError{File: info.name, Rule: fmt.Sprintf("not an archive of arrays as numpy.savez writes it: %v", err), Err: err}
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader) // three times as fast as the standard library's
	members := make(map[string]*zip.File)
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, info.errorf("member %s of the archive is no array (.npy)", quote(f.Name))
		}
		if members[name] != nil {
			return nil, info.errorf("the archive has the array %s twice", quote(name))
		}
		members[name] = f
	}
	a := &archive{fileInfo: info, ctx: ctx, at: at, members: members, used: make(map[string]string)}
	d := &npyDecoder{fileInfo: info, src: s, byRows: s.size >= 0}
	err = a.open(d)
	d.closers = append(d.closers, a.closers...)
	if err == nil {
		for name := range members {
			if a.used[name] == "" {
				err = info.errorf("the array %s is neither votes, ids nor labels; name those", quote(name))
				break
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d.ready()
}

// archive opens the members.
type archive struct {
	*fileInfo
	ctx     context.Context
	at      io.ReaderAt
	members map[string]*zip.File
	used    map[string]string // member → what for
	closers []io.Closer
}

func (a *archive) open(d *npyDecoder) error {
	ids, err := a.find("ids", a.opts.IDColumn, "query", "id")
	if err != nil {
		return err
	}
	labels, err := a.find("labels", a.opts.LabelColumn, "label", "truth")
	if err != nil {
		return err
	}
	usual := "votes"
	if a.layout == LayoutCounts {
		usual = "counts"
	}
	votes, err := a.find(usual, a.opts.VotesColumn, usual)
	if err != nil {
		return err
	}
	if votes == "" {
		var left []string
		for name := range a.members {
			if a.used[name] == "" {
				left = append(left, name)
			}
		}
		if len(left) != 1 {
			slices.Sort(left)
			return a.errorf("there is no array %s, but %d others (%s); say which it is", quote(usual), len(left), quote(strings.Join(left, ", ")))
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
	if d.columns {
		if err := a.random(d.votes, votes); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		name string
		to   **npyArray
	}{{ids, &d.ids}, {labels, &d.labels}} {
		if x.name == "" {
			continue
		}
		arr, err := a.array(x.name)
		if err != nil {
			return err
		}
		if len(arr.shape) != 1 || arr.shape[0] != d.n {
			return a.errorf("array %s: %s elements, want one for each of the %d queries", quote(x.name), arr.dims(), d.n)
		}
		if x.to == &d.ids && (arr.dtype.kind == 'f' || arr.dtype.kind == 'b') {
			return a.errorf("array %s: query ids are %s, want integers or text", quote(x.name), arr.dtype.text)
		}
		*x.to = arr
	}
	return nil
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
			return "", a.errorf("the arrays %s and %s could both be the %s; say which it is", quote(found), quote(name), role)
		}
		found = name
	}
	if spec != "" && found == "" {
		return "", a.errorf("there is no array %s for the %s", quote(spec), role)
	}
	if found != "" {
		if other := a.used[found]; other != "" {
			return "", a.errorf("the array %s cannot be %s and %s at once", quote(found), other, role)
		}
		a.used[found] = role
	}
	return found, nil
}

// array opens a member for reading in order. The zip package checks its length
// and checksum at the end.
func (a *archive) array(name string) (*npyArray, error) {
	f := a.members[name]
	r, h, err := a.member(f)
	if err != nil {
		return nil, a.arrayError(err, name)
	}
	if got := f.UncompressedSize64; got != uint64(h.size+h.data) {
		return nil, errors.Join(a.arrayError(rulef("the header claims %s elements of %d bytes, %d with the header, but the archive has %d", h.dims(), h.dtype.size, h.size+h.data, got), name), r.Close())
	}
	a.closers = append(a.closers, r)
	return &npyArray{npyHeader: h, member: name, r: r}, nil
}

// member opens a member and reads its header.
func (a *archive) member(f *zip.File) (io.ReadCloser, *npyHeader, error) {
	if f.Method != zip.Store && f.Method != zip.Deflate || f.Flags&1 != 0 {
		return nil, nil, rulef("the member is encrypted or compressed in an unknown way")
	}
	limit := int64(a.opts.MaxExpansion)
	if limit == 0 {
		limit = DefaultMaxExpansion
	}
	if got := f.UncompressedSize64; got > freeExpansion && (got-freeExpansion)/uint64(limit) > f.CompressedSize64 {
		return nil, nil, rulef("%d bytes expand to %d, more than the %d-fold and %d MiB: a decompression bomb? If not, allow for a larger expansion", f.CompressedSize64, got, limit, freeExpansion>>20)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, nil, rulef("%v", err)
	}
	r := &memberReader{rc}
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, h, nil
}

// memberReader turns the zip and flate packages' errors into rules: the archive
// is damaged. Errors of the file itself look the same; either way nothing is
// read.
type memberReader struct{ io.ReadCloser }

func (m *memberReader) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = rulef("the archive is damaged or cut off: %v", err)
	}
	return n, err
}

// random makes the elements of an array readable at any place. A member that is
// stored as it is can be read in the archive, after its checksum has been looked
// at; others are copied to a temporary file.
func (a *archive) random(arr *npyArray, name string) error {
	f := a.members[name]
	if f.Method == zip.Store {
		if _, err := io.Copy(io.Discard, contextReader{a.ctx, arr.r}); err != nil {
			return a.arrayError(err, name)
		}
		off, err := f.DataOffset()
		if err != nil {
			return a.arrayError(rulef("%v", err), name)
		}
		arr.at = io.NewSectionReader(a.at, off+arr.size, arr.data)
		return nil
	}
	tmp, got, err := spool(a.ctx, io.LimitReader(arr.r, arr.data), a.opts)
	if err != nil {
		return a.arrayError(err, name)
	}
	a.closers = append(a.closers, tmp)
	if got != arr.data {
		return a.arrayError(rulef("the data end after %d of %d bytes", got, arr.data), name)
	}
	if n, err := readFull(arr.r, make([]byte, 1)); n > 0 || err != io.EOF { // looks at the checksum
		if n > 0 {
			err = rulef("there are bytes behind the %s elements", arr.dims())
		}
		return a.arrayError(err, name)
	}
	arr.at = tmp
	return nil
}

// budgetReaderAt fails once more than left bytes have been read while it counts.
// The zip package reads the directory entry by entry, however many there are.
type budgetReaderAt struct {
	r    io.ReaderAt
	left int
}

var errBudget = errors.New("read budget used up")

func (b *budgetReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if b.left < 0 {
		return b.r.ReadAt(p, off)
	}
	if len(p) > b.left {
		return 0, errBudget
	}
	b.left -= len(p)
	return b.r.ReadAt(p, off)
}
