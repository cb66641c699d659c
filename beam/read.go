package darrmbeam

import (
	"context"
	"encoding"
	"errors"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
	_ "github.com/darrm/darrm/votes/compress"
	_ "github.com/darrm/darrm/votes/parquet"
)

// ReadOptions holds the options for reading the votes. The fields are those of votes.Options, in
// the text form that these take. An empty one is the default there. On local disks
// the names of the files determine the formats; elsewhere state them. The table determines the
// number of teachers. Beside as many columns of votes, another column is refused unless these
// options give its kind.
type ReadOptions struct {
	Format, Compression   string
	Header, Layout        string
	IDColumn, LabelColumn string
	// Classes are the names of the classes, in order. Defaults to "0" and "1"; there must be as many
	// as the table has.
	Classes []string
	// Same are further spellings of votes, as votes.ParseSpelling takes them.
	Same []string
	// Missing is "abstain" for a table of votes that may be missing, or "error", the default. Coins in
	// the place of votes are not drawn here.
	Missing string
	// VoteColumns lists the columns of votes, as votes.ParseColumns takes them.
	VoteColumns string
}

// resolve returns the options of package votes for K teachers.
func (o ReadOptions) resolve(k int) (out votes.Options, err error) {
	out = votes.Options{
		K: k, IDColumn: o.IDColumn, LabelColumn: o.LabelColumn,
		// All ids of all files are compared by the first pipeline.
		TrustIDs: true,
		NoTruth:  true,
	}
	out.VoteColumns, err = votes.ParseColumns(o.VoteColumns)
	if out.Classes = o.Classes; len(out.Classes) == 0 {
		out.Classes = votes.IntegerClasses(2)
	}
	for _, text := range o.Same {
		var s votes.Spelling
		if err == nil {
			s, err = votes.ParseSpelling(text)
		}
		out.Same = append(out.Same, s)
	}
	if err == nil {
		err = votes.CheckClasses(out.Classes, out.Same)
	}
	for _, e := range []struct {
		name string
		to   encoding.TextUnmarshaler
	}{{o.Format, &out.Format}, {o.Compression, &out.Compression}, {o.Header, &out.Header}, {o.Layout, &out.Layout},
		{o.Missing, &out.Missing}} {
		if err == nil && e.name != "" {
			err = e.to.UnmarshalText([]byte(e.name))
		}
	}
	if err == nil && out.Layout == votes.LayoutLong {
		err = &check.Error{Name: "layout", Value: o.Layout, // rows of a query may stand in several files
			Rule: "of a row per query; darrm aggregate reads rows of single votes"}
	}
	if err == nil && out.Missing == votes.MissingCoin {
		err = check.Want("missing", o.Missing, "error or abstain")
	}
	return out, err
}

// fileInfo describes the columns of a file.
type fileInfo struct {
	k       int
	ids     bool
	columns votes.Roles
}

// readFile passes a file's batches to each. Faults of the file are *votes.ParseErrors.
func readFile(ctx context.Context, path string, opts votes.Options,
	each func(fileInfo, *votes.Batch) error) (info fileInfo, err error) {
	var r *votes.Reader
	if isLocal(path) {
		r, err = votes.Open(ctx, opts, path)
	} else {
		f, oerr := open(ctx, path)
		if oerr != nil {
			return info, oerr
		}
		defer f.Close()
		opts.Name = path
		r, err = votes.NewReader(ctx, f, opts)
	}
	if err != nil {
		return info, err
	}
	info = fileInfo{k: r.K(), ids: r.HasIDs(), columns: r.Columns()}
	for b, berr := range r.Batches() {
		if err = berr; err == nil {
			err = each(info, b)
			b.Release()
		}
		if err != nil {
			break
		}
	}
	return info, errors.Join(err, r.Close())
}
