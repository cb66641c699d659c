package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// metrics count requests. None is computed from votes or labels, and so none is private: a
// counter of each label would publish the answers, and a histogram of how long answers take
// would depend on the votes through the samplers.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec
	seconds  prometheus.Histogram
}

// Outcomes of a query, beside the kinds of failure.
const (
	outcomeAnswered = "answered"
	outcomeReplayed = "replayed"
)

func newMetrics(s *Server) *metrics {
	registry := prometheus.NewRegistry()
	m := &metrics{
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "darrm_requests_total",
			Help: "Queries by outcome, and refused requests by the kind of refusal.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "darrm_ledger_seconds",
			Help:    "Time that one answer took in the ledger, without draws.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
	}
	for _, outcome := range append([]string{outcomeAnswered, outcomeReplayed}, kinds...) {
		m.requests.WithLabelValues(outcome) // shown from the start
	}
	registry.MustRegister(m.requests, m.seconds, collectors.NewGoCollector(), &spending{server: s},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "darrm_requests_in_progress",
			Help: "Requests that are worked on."},
			func() float64 { return float64(len(s.room)) }))
	return m
}

func (m *metrics) count(outcome string) { m.requests.WithLabelValues(outcome).Inc() }

func (m *metrics) answered(a *release.Answered) {
	outcome := outcomeAnswered
	if a.Replayed {
		outcome = outcomeReplayed
	}
	m.count(outcome)
	m.seconds.Observe(a.InLedger.Seconds())
}

// spending collects the ledger's sums, all of one moment.
type spending struct{ server *Server }

var (
	epsilonGauge = prometheus.NewDesc("darrm_budget_epsilon",
		"ε of the budget: granted, spent (rounded up), remaining (rounded down).", []string{"part"}, nil)
	deltaGauge = prometheus.NewDesc("darrm_budget_delta",
		"δ of the budget: granted, spent (rounded up), remaining (rounded down).", []string{"part"}, nil)
	entriesGauge = prometheus.NewDesc("darrm_ledger_entries", "Entries of the ledger.", nil, nil)
	upGauge      = prometheus.NewDesc("darrm_ledger_up", "1 while the ledger can be used.", nil, nil)
)

func (*spending) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{epsilonGauge, deltaGauge, entriesGauge, upGauge} {
		out <- d
	}
}

func (c *spending) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, part ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, part...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var now ledger.State
	book, err := c.server.Online.Ledger(ctx)
	if err == nil {
		now, err = c.server.Online.State(ctx)
	}
	if err != nil {
		gauge(upGauge, 0)
		return
	}
	gauge(upGauge, 1)
	gauge(entriesGauge, float64(now.Head.Seq))
	grantedE, grantedD := book.Budget().Cost().Floor()
	spentE, spentD := now.Spent.Ceil()
	leftE, leftD := now.Remaining.Floor()
	for i, part := range []string{"granted", "spent", "remaining"} {
		gauge(epsilonGauge, [...]float64{grantedE, spentE, leftE}[i], part)
		gauge(deltaGauge, [...]float64{grantedD, spentD, leftD}[i], part)
	}
}
