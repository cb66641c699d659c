package serve

import (
	"context"
	"net/http"
	"runtime"
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
	clients  *prometheus.CounterVec
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
		clients: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "darrm_client_requests_total",
			Help: "The same by client; of a server without clients, and of strangers, none.",
		}, []string{"client", "outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "darrm_ledger_seconds",
			Help:    "Time that one answer took in the ledger, without draws.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
	}
	for _, outcome := range append([]string{outcomeAnswered, outcomeReplayed}, kinds...) {
		m.requests.WithLabelValues(outcome) // shown from the start
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "darrm_build_info",
		Help:        "1, of the version of darrm and of Go that it was built with.",
		ConstLabels: prometheus.Labels{"version": s.Version, "goversion": runtime.Version()}})
	build.Set(1)
	registry.MustRegister(m.requests, m.clients, m.seconds, build, collectors.NewGoCollector(),
		&spending{server: s},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "darrm_requests_in_progress",
			Help: "Requests that are worked on."},
			func() float64 { return float64(len(s.room)) }))
	return m
}

// count counts an outcome of a client, or of a stranger. Clients are few: those of the configuration.
func (m *metrics) count(client *member, outcome string) {
	m.requests.WithLabelValues(outcome).Inc()
	if client != nil && client.Name != "" {
		m.clients.WithLabelValues(client.Name, outcome).Inc()
	}
}

func (m *metrics) answered(client *member, a *release.Answered) {
	outcome := outcomeAnswered
	if a.Replayed {
		outcome = outcomeReplayed
	}
	m.count(client, outcome)
	m.seconds.Observe(a.InLedger.Seconds())
}

// spending collects the ledger's sums, all of one moment.
type spending struct{ server *Server }

var (
	epsilonGauge = prometheus.NewDesc("darrm_budget_epsilon",
		"ε of the budget: granted, spent (rounded up), remaining and of that usable (rounded down): this "+
			"server charges no more, as a total above it would protect nobody.", []string{"part"}, nil)
	deltaGauge = prometheus.NewDesc("darrm_budget_delta",
		"δ of the budget, as of ε.", []string{"part"}, nil)
	clientEpsilonGauge = prometheus.NewDesc("darrm_client_epsilon",
		"ε of a client's share: granted, spent (rounded up).", []string{"client", "part"}, nil)
	clientDeltaGauge = prometheus.NewDesc("darrm_client_delta",
		"δ of a client's share: granted, spent (rounded up).", []string{"client", "part"}, nil)
	clientAnswersGauge = prometheus.NewDesc("darrm_client_answers",
		"Answers of a client's share of a table for many answers: granted, taken.",
		[]string{"client", "part"}, nil)
	expiryGauge = prometheus.NewDesc("darrm_tls_certificate_expiry_seconds",
		"Unix time at which the first certificate of the server's chain expires.", nil, nil)
	entriesGauge = prometheus.NewDesc("darrm_ledger_entries", "Entries of the ledger.", nil, nil)
	upGauge      = prometheus.NewDesc("darrm_ledger_up", "1 while the ledger can be used.", nil, nil)
)

func (*spending) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{epsilonGauge, deltaGauge, clientEpsilonGauge, clientDeltaGauge,
		clientAnswersGauge, expiryGauge, entriesGauge, upGauge} {
		out <- d
	}
}

func (c *spending) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, part ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, part...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	policy := c.server.policy.Load()
	if policy.tls != nil {
		gauge(expiryGauge, float64(expiry(policy.tls).Unix()))
	}
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
	usableE, usableD := c.server.Online.Usable(now).Floor()
	for i, part := range []string{"granted", "spent", "remaining", "usable"} {
		gauge(epsilonGauge, [...]float64{grantedE, spentE, leftE, usableE}[i], part)
		gauge(deltaGauge, [...]float64{grantedD, spentD, leftD, usableD}[i], part)
	}
	for _, m := range policy.clients {
		c.share(ctx, gauge, m)
	}
}

// share collects what a client may spend and has spent, where it has a share.
func (c *spending) share(ctx context.Context, gauge func(*prometheus.Desc, float64, ...string),
	m *member) {
	if m.share != nil {
		if spent, err := c.server.Online.SpentBy(ctx, m.Name); err == nil {
			grantedE, grantedD := m.share.Cost().Floor()
			spentE, spentD := spent.Ceil()
			gauge(clientEpsilonGauge, grantedE, m.Name, "granted")
			gauge(clientEpsilonGauge, spentE, m.Name, "spent")
			gauge(clientDeltaGauge, grantedD, m.Name, "granted")
			gauge(clientDeltaGauge, spentD, m.Name, "spent")
		}
	}
	if m.Answers != nil {
		if _, _, taken, err := c.server.Online.Taken(ctx, m.Name); err == nil {
			gauge(clientAnswersGauge, float64(*m.Answers), m.Name, "granted")
			gauge(clientAnswersGauge, float64(taken), m.Name, "taken")
		}
	}
}
