package rounds

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// The magics have one length.
const (
	reportsMagic  = "darrm federated reports 1 \n"
	shuffledMagic = "darrm federated shuffled 2\n"
)

const headSize = len(reportsMagic) + 32 + 32

// head returns the bytes that both files begin with.
func (p *Run) head(magic string, r *Round) []byte {
	question := p.question(r)
	b := append([]byte(magic), p.digest[:]...)
	return append(b, question[:]...)
}

// size returns the bytes of a report, 0 where the plan has none.
func (p *Run) size() int {
	if r := p.priced.Randomizer(); r != nil {
		return r.Size()
	}
	return 0
}

// body appends the counts and the reports.
func (p *Run) body(b []byte, reports federated.Reports) []byte {
	b = p.counts(b, [2]int{len(reports[0]) / p.size(), len(reports[1]) / p.size()})
	return append(append(b, reports[0]...), reports[1]...)
}

// counts appends how many reports there are, and of which size.
func (p *Run) counts(b []byte, count [2]int) []byte {
	for _, n := range append(count[:], p.size()) {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

// reportsFile is the file of a silo's reports.
func (p *Run) reportsFile(r *Round, silo int, reports federated.Reports) []byte {
	return p.body(binary.LittleEndian.AppendUint64(p.head(reportsMagic, r), uint64(silo)), reports)
}

// readHead checks the head of a message and returns the bytes after it.
func (p *Run) readHead(magic string, r *Round, b []byte) ([]byte, error) {
	if len(b) < headSize || !bytes.HasPrefix(b, []byte(magic)) {
		return nil, formatf("it does not begin with %q", magic[:len(magic)-1])
	}
	want := p.head(magic, r)
	switch {
	case !bytes.Equal(b[len(magic):len(magic)+32], want[len(magic):len(magic)+32]):
		return nil, formatf("it is of another plan than %s", p.Digest())
	case !bytes.HasPrefix(b, want):
		return nil, formatf(
			"it answers another question than round %d asks: another round, or another model", r.Round)
	}
	return b[headSize:], nil
}

// readBody returns the reports. Their number is known from the length before any is looked at.
func (p *Run) readBody(b []byte) (out federated.Reports, err error) {
	if len(b) < 24 {
		return out, formatf("it is cut short")
	}
	size := uint64(p.size())
	counts := [2]uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
	if got := binary.LittleEndian.Uint64(b[16:]); got != size {
		return out, formatf("its reports have %d bytes, but the plan's have %d", got, size)
	}
	b = b[24:]
	have := uint64(len(b)) / size
	if counts[0] > have || counts[1] > have || uint64(len(b)) != (counts[0]+counts[1])*size {
		return out, formatf(
			"it has %d bytes of reports, which is not what %d and %d reports of %d bytes take", len(b),
			counts[0], counts[1], size)
	}
	cut := counts[0] * size
	return federated.Reports{b[:cut:cut], b[cut:]}, nil
}

// readReports reads a silo's file.
func (p *Run) readReports(r *Round, b []byte) (silo int, reports federated.Reports, err error) {
	rest, err := p.readHead(reportsMagic, r, b)
	if err != nil {
		return 0, reports, err
	}
	if len(rest) < 8 {
		return 0, reports, formatf("it is cut short")
	}
	number := binary.LittleEndian.Uint64(rest)
	if number >= uint64(len(p.doc.Silos)) {
		return 0, reports, formatf("it is of silo %d, and the plan has %d", number+1, len(p.doc.Silos))
	}
	silo = int(number)
	if reports, err = p.readBody(rest[8:]); err != nil {
		return silo, reports, err
	}
	for k, want := range p.ReportCounts(r, silo) {
		if n := len(reports[k]) / p.size(); n != want {
			return silo, reports, formatf("silo %d sends %d reports of a stream, but the plan says %d",
				silo+1, n, want)
		}
	}
	return silo, reports, nil
}

// ReadReports reads a silo's file to a round: its number, from 0, and its reports. It refuses
// another number of reports than the plan's, and what is no report, which would make the whole
// round fail when nobody knows whose it was. Cost: that of adding the reports up.
func (p *Run) ReadReports(ctx context.Context, r *Round,
	file []byte) (silo int, reports federated.Reports, err error) {
	silo, reports, err = p.readReports(r, file)
	if err != nil {
		return silo, reports, err
	}
	scratch, checked := make([]float64, p.priced.Dim()), 0
	for _, messages := range reports {
		for m := range slices.Chunk(messages, p.size()) {
			if checked++; checked%64 == 0 && ctx.Err() != nil {
				return silo, reports, ctx.Err()
			}
			if err := p.priced.Randomizer().Add(scratch, m, 1); err != nil {
				return silo, reports, formatf("silo %d: %w", silo+1, err)
			}
		}
	}
	return silo, reports, nil
}

// readShuffled refuses reports in any order but that of their bytes: of a set of reports there is
// one next round.
func (p *Run) readShuffled(r *Round, b []byte) (federated.Reports, error) {
	rest, err := p.readHead(shuffledMagic, r, b)
	if err != nil {
		return federated.Reports{}, err
	}
	reports, err := p.readBody(rest)
	if err != nil {
		return federated.Reports{}, err
	}
	for k, messages := range reports {
		var before []byte
		for m := range slices.Chunk(messages, p.size()) {
			if bytes.Compare(before, m) > 0 {
				return federated.Reports{}, formatf("its reports of %v are not in the order of their bytes",
					randomiser.Stream(k))
			}
			before = m
		}
	}
	return reports, nil
}

// MaxReports returns the most bytes that a silo's file has, and MaxShuffled those of shuffled
// reports.
func (p *Run) MaxReports() int64 { return handle.Made(p).MaxShuffled() }

// MaxShuffled returns the most bytes that a file of shuffled reports has.
func (p *Run) MaxShuffled() int64 {
	p = handle.Made(p)
	most := 0
	for _, round := range []int{0, 1} {
		n, _ := p.priced.Expected(round)
		most = max(most, n)
	}
	return int64(headSize) + 32 + 2*int64(most)*int64(p.size())
}

// ReportCounts returns the numbers of reports of gradients and of differences that a silo, numbered
// from 0, sends in a round.
func (p *Run) ReportCounts(r *Round, silo int) [2]int {
	p = handle.Made(p)
	return p.priced.SiloReports(r.broadcast(), silo)
}
