package system

import (
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query"
	"github.com/bucketsearch/bucketsearch/functions/query/access"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/limit"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/local/memory"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Page returns a handler that serves the search page. At /metrics it serves vital signs in the text
// format of Prometheus, to clients on the same machine or with a key of the scope metrics. The search
// page keeps manifests and settings in memory, and reads them again when they are older than the given
// age. A person who has one of the given judges' keys may grade results. The click key signs results, so
// that clicks on them can be counted. The brand says how the page looks. Of limits, the caller sets how
// often a client may ask and which proxies are trusted; Page sets Now, After and AtOnce.
func (s *System) Page(age time.Duration, brand web.Brand, judges judgment.Keys, clicks judgment.ClickKey, limits limit.Options) (http.Handler, error) {
	const name = "query"
	bucket := s.bucket(name)
	inForce := &settings.Cache{Bucket: bucket, Now: time.Now, Age: age} // the same age as that of manifests: takedowns are not noticed later than commits
	answers, err := engine.New(bucket, engine.Options{
		Settings: inForce, Now: time.Now, Age: age, Memory: memory.Cache(engine.DefaultMemory), Log: s.log(name),
		Crawling: s.Crawling, Patience: patience,
	})
	if err != nil {
		return nil, err
	}
	handler := query.Handler(web.Site{
		Engine: answers, Brand: brand, Judging: web.Judging{Keys: judges, Bucket: bucket}, Clicks: web.Clicks{Key: clicks, Bucket: bucket, Random: rand.IntN},
	})
	limits.Now, limits.After, limits.AtOnce = time.Now, time.After, atOnce*runtime.GOMAXPROCS(0)
	limited := limit.New(s.vitals.WatchHTTP(name, handler), limits)
	mux := http.NewServeMux()
	mux.Handle("/", limited)
	guard := &access.Guard{Settings: inForce, Now: time.Now}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Private(r, control.Metrics); err != nil {
			refused := request.FailureOf(err)
			refused.Describe(w.Header())
			http.Error(w, refused.Sentence, refused.Status)
			return
		}
		quick, costly := limited.Counts()
		s.metrics(w, r, quick, costly)
	})
	return mux, nil
}

const (
	patience = 5 * time.Second // time after which a search ends with what it has found so far
	// atOnce is the maximum number of requests that are worked on at the same time, for each processor.
	// It is more than 1, because a request uses no processor while it waits for the object store.
	atOnce = 2
)

// Listener returns a listener for the search page that counts the bytes received and sent. They are
// added to the traffic of this process in the vital signs.
func (s *System) Listener(l net.Listener) net.Listener { return s.vitals.Traffic().Listener(l) }

// metrics answers a request for /metrics with the vital signs, the lengths of the queues, and the counts of the
// search page's requests. There are two counts (see package limit): quick has all requests, and costly has those
// that have turned out to be costly. The progress of the crawl is added if it can be read.
func (s *System) metrics(w http.ResponseWriter, r *http.Request, quick, costly limit.Counts) {
	one := func(n float64) map[string]float64 { return map[string]float64{"": n} }
	requests := func(name, help string, of func(limit.Counts) float64) vitals.Gauge {
		return vitals.Gauge{
			Name: "bucketsearch_requests_" + name, Help: help, Counter: strings.HasSuffix(name, "_total"),
			Label: "queue", Values: map[string]float64{"quick": of(quick), "costly": of(costly)},
		}
	}
	gauges := []vitals.Gauge{s.queueGauge("visible", func(c queue.Counts) int { return c.Visible + c.Delayed }),
		s.queueGauge("in_flight", func(c queue.Counts) int { return c.InFlight }),
		s.queueGauge("dead", func(c queue.Counts) int { return c.Dead }),
		requests("admitted_total", "Requests to the search page that were worked on, all as quick ones; those that were costly also as such.", func(c limit.Counts) float64 { return float64(c.Admitted) }),
		requests("refused_total", "Requests to the search page that were refused because of too many.", func(c limit.Counts) float64 { return float64(c.Refused) }),
		requests("working", "Requests to the search page that are worked on.", func(c limit.Counts) float64 { return float64(c.Working) }),
		requests("waiting", "Requests to the search page that wait to be worked on.", func(c limit.Counts) float64 { return float64(c.Waiting) }),
		requests("waited_seconds_total", "Time for which requests to the search page have waited to be worked on.", func(c limit.Counts) float64 { return c.Waited.Seconds() }),
	}
	if p, err := s.Progress(r.Context()); err == nil {
		gauges = append(gauges, vitals.Gauge{
			Name: "bucketsearch_urls", Help: "URLs that were admitted, by what became of them.", Label: "state", Values: map[string]float64{
				"stored": float64(p.Stored), "waiting": float64(p.Waiting), "leased": float64(p.Leased),
				"failed": float64(p.Failed), "skipped": float64(p.Skipped),
			},
		},
			vitals.Gauge{Name: "bucketsearch_unpacked_batches", Help: "Batches that wait to be packed.", Values: one(float64(p.Unpacked))},
			vitals.Gauge{Name: "bucketsearch_packages", Help: "Packages that are listed.", Values: one(float64(p.Packages))},
			vitals.Gauge{Name: "bucketsearch_unindexed_packages", Help: "Packages that wait for their index.", Values: one(float64(p.Unindexed))},
			vitals.Gauge{Name: "bucketsearch_documents", Help: "Documents in the index, replaced ones among them.", Values: one(float64(p.Documents))})
	}
	w.Header().Set("Content-Type", vitals.Exposition)
	_ = s.vitals.WritePrometheus(w, gauges...) // fails only when the client has gone
}

// queueGauge returns a metric with one value for each queue: the number of messages in one state,
// such as "visible". The callback selects this number from the counts of a queue.
func (s *System) queueGauge(state string, of func(queue.Counts) int) vitals.Gauge {
	g := vitals.Gauge{
		Name: "bucketsearch_queue_" + state + "_messages", Help: "Messages of each queue.", Label: "queue", Values: make(map[string]float64),
	}
	for name, q := range s.queues {
		g.Values[name] = float64(of(q.Counts()))
	}
	return g
}
