package rounds

import (
	"context"
	"encoding/hex"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
)

// Answer returns the answer of a silo, numbered from 0, to a round: the file of its reports or,
// where the round asks for a local phase, that of its reply. It charges nothing. An answer that
// leaves the silo must come from package release/silo, which charges for it. The coins must be
// secret and for this answer alone (stream.Secret). With the same coins the answer is the same.
//
// Cost: two gradients and two reports for each record that takes part.
func (p *Run) Answer(ctx context.Context, r *Round, silo int, records *data.Records,
	coins stream.Coins) ([]byte, error) {
	p = handle.Made(p)
	if err := p.Asks(r, silo); err != nil {
		return nil, err
	}
	s, err := p.priced.NewSilo(silo, records, coins)
	if err != nil {
		return nil, err
	}
	if r.Local != nil {
		reply, err := s.Local(ctx, r.request())
		if err != nil {
			return nil, err
		}
		question := p.question(r)
		return encode(replyFile{replyFormat, p.Digest(), hex.EncodeToString(question[:]), reply})
	}
	reports, err := s.Report(ctx, r.broadcast())
	if err != nil {
		return nil, err
	}
	return p.reportsFile(r, silo, reports), nil
}

// Fits refuses records that are not those of the plan's silo: another number, or what the loss
// cannot use.
func (p *Run) Fits(silo int, records *data.Records) error {
	p = handle.Made(p)
	_, err := p.priced.NewSilo(silo, records, stream.Coins{})
	return err
}

// Asks refuses a silo that the round does not ask.
func (p *Run) Asks(r *Round, silo int) error {
	p, r = handle.Made(p), handle.Made(r)
	if silo < 0 || silo >= len(p.doc.Silos) {
		return check.Wantf("silo", silo+1, "between 1 and %d", len(p.doc.Silos))
	}
	switch {
	case p.Finished(r):
		return check.Wantf("round", r.Round, "below %d: all rounds are done", p.Rounds())
	case r.Local != nil && r.Local.Silo != silo:
		return check.Wantf("silo", silo+1, "%d, which the round asks for its local phase", r.Local.Silo+1)
	}
	return nil
}

const replyFormat = "darrm federated reply 1"

// replyFile is a silo's answer to a local phase.
type replyFile struct {
	Format   string          `json:"format"`
	Plan     string          `json:"plan"`
	Question string          `json:"question"`
	Reply    federated.Reply `json:"reply"`
}

// Accept ends a round by the reply of the silo that was asked for its local phase.
func (p *Run) Accept(r *Round, reply []byte) (*Round, error) {
	p, r = handle.Made(p), handle.Made(r)
	if r.Local == nil {
		return nil, formatf("round %d waits for reports, not for a reply", r.Round)
	}
	var f replyFile
	if err := strictjson.DecodeKnown(reply, int(p.MaxRound()), &f); err != nil {
		return nil, formatf("not a reply: %w", err)
	}
	question := p.question(r)
	if f.Format != replyFormat || f.Plan != p.Digest() ||
		f.Question != hex.EncodeToString(question[:]) {
		return nil, formatf("the reply is to another question than round %d of plan %s asks", r.Round,
			p.Digest())
	}
	s := p.server(r)
	if err := s.Accept(r.request(), f.Reply); err != nil {
		return nil, formatf("%w", err)
	}
	return p.round(s), nil
}

// Aggregate takes the shuffled reports of a round. The result is the next round or, with local
// steps, the same one asking a silo for them, which Accept ends.
func (p *Run) Aggregate(ctx context.Context, r *Round, shuffled []byte) (*Round, error) {
	p = handle.Made(p)
	if err := p.wantsReports(r); err != nil {
		return nil, err
	}
	reports, err := p.readShuffled(r, shuffled)
	if err != nil {
		return nil, err
	}
	return p.next(ctx, r, func(s *federated.Server) (federated.Request, error) {
		return s.Receive(ctx, reports)
	})
}

// wantsReports refuses a round that waits for something else.
func (p *Run) wantsReports(r *Round) error {
	r = handle.Made(r)
	switch {
	case p.Finished(r):
		return formatf("all %d rounds are done", p.Rounds())
	case r.Local != nil:
		return formatf("round %d waits for a reply of silo %d, not for reports", r.Round, r.Local.Silo+1)
	}
	return nil
}

// next does what follows when a server has the reports of a round.
func (p *Run) next(ctx context.Context, r *Round,
	receive func(*federated.Server) (federated.Request, error)) (*Round, error) {
	p, r = handle.Made(p), handle.Made(r)
	s := p.server(r)
	q, err := receive(s)
	if err != nil {
		return nil, err
	}
	if p.LocalSteps() > 1 {
		next := *r
		next.Local = &LocalRequest{q.Silo, q.Direction, q.Keep}
		return &next, nil
	}
	reply, err := s.Step(ctx, q)
	if err == nil {
		err = s.Accept(q, reply)
	}
	if err != nil {
		return nil, err
	}
	return p.round(s), nil
}
