package system

import (
	"context"
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
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/memory"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// PageOptions say how a search page answers, and how it looks.
type PageOptions struct {
	Age    time.Duration     // greatest age of the manifests and settings by which the page answers
	Brand  web.Brand         // how the page looks
	Judges judgment.Keys     // keys of the persons who may grade results
	Clicks judgment.ClickKey // signs results, so that clicks on them can be counted
	Leaves leaf.Leaves       // search parts of the index, or ask this page to do so
	Limits limit.Options     // Rate, and the trusted Proxies; the other fields are set for the caller
	Dir    string            // directory of a cache on the local disk; "" for none
	Disk   int64             // greatest size of the cache in Dir, in bytes
}

// Names under which the requests of persons and programs to search pages are counted, and the questions of roots.
const (
	queryName = "query"
	leafName  = "leaf"
)

// Page returns a handler that serves the search page. At /metrics it serves vital signs in the text
// format of Prometheus, to clients on the same machine or with a key of the scope metrics.
func (s *System) Page(o PageOptions) (http.Handler, error) {
	return o.handler(s.bucket(queryName), s.vitals, engine.Options{Log: s.log(queryName), Crawling: s.Crawling}, s.gauges)
}

// handler returns the handler of a search page for the bucket. The recorder counts the requests to the
// page, and /metrics serves its counts and what the function gauges returns; gauges may be nil. The
// options with which the page searches are those given, completed by o.
func (o PageOptions) handler(bucket blob.Bucket, recorder *vitals.Recorder, searching engine.Options, gauges func(context.Context) []vitals.Gauge) (http.Handler, error) {
	// the same age as that of manifests: takedowns are not noticed later than commits
	inForce := &settings.Cache{Bucket: bucket, Now: time.Now, Age: o.Age, Empty: true}
	searching.Settings, searching.Now, searching.Age, searching.Patience = inForce, time.Now, o.Age, patience
	searching.Memory, searching.Dir, searching.Disk = memory.Cache(engine.DefaultMemory), o.Dir, o.Disk
	searching.Leaves = o.Leaves.All
	answers, err := engine.New(bucket, searching)
	if err != nil {
		return nil, err
	}
	page := query.Handler(web.Site{
		Engine: answers, Brand: o.Brand, Judging: web.Judging{Keys: o.Judges, Bucket: bucket}, Clicks: web.Clicks{Key: o.Clicks, Bucket: bucket, Random: rand.IntN},
	})
	o.Limits.Now, o.Limits.After, o.Limits.AtOnce = time.Now, time.After, atOnce*runtime.GOMAXPROCS(0)
	limited := limit.New(recorder.WatchHTTP(queryName, page), o.Limits)
	mux := http.NewServeMux()
	mux.Handle("/", limited)
	mux.Handle(leaf.Path, recorder.WatchHTTP(leafName, o.Leaves.Handler(answers)))
	guard := &access.Guard{Settings: inForce, Now: time.Now}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Private(r, control.Metrics); err != nil {
			refused := request.FailureOf(err)
			refused.Describe(w.Header())
			http.Error(w, refused.Sentence, refused.Status)
			return
		}
		all := append(requestGauges(limited), leafGauges(answers)...)
		if gauges != nil {
			all = append(all, gauges(r.Context())...)
		}
		w.Header().Set("Content-Type", vitals.Exposition)
		_ = recorder.WritePrometheus(w, all...) // fails only when the client has gone
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

// requestGauges returns metrics of the search page's requests. They have the label queue (see package
// limit): quick has all requests, and costly has those that have turned out to be costly.
func requestGauges(limited *limit.Handler) []vitals.Gauge {
	quick, costly := limited.Counts()
	requests := func(name, help string, of func(limit.Counts) float64) vitals.Gauge {
		return vitals.Gauge{
			Name: "bucketsearch_requests_" + name, Help: help, Counter: strings.HasSuffix(name, "_total"),
			Label: "queue", Values: map[string]float64{"quick": of(quick), "costly": of(costly)},
		}
	}
	return []vitals.Gauge{
		requests("admitted_total", "Requests to the search page that were worked on, all as quick ones; those that were costly also as such.", func(c limit.Counts) float64 { return float64(c.Admitted) }),
		requests("refused_total", "Requests to the search page that were refused because of too many.", func(c limit.Counts) float64 { return float64(c.Refused) }),
		requests("working", "Requests to the search page that are worked on.", func(c limit.Counts) float64 { return float64(c.Working) }),
		requests("waiting", "Requests to the search page that wait to be worked on.", func(c limit.Counts) float64 { return float64(c.Waiting) }),
		requests("waited_seconds_total", "Time for which requests to the search page have waited to be worked on.", func(c limit.Counts) float64 { return c.Waited.Seconds() }),
	}
}

// leafGauges returns a metric with a value for each leaf of a search page; none if the page has no leaves.
func leafGauges(e *engine.Engine) []vitals.Gauge {
	g := vitals.Gauge{
		Name: "bucketsearch_leaf_resting", Help: "Servers that search parts of the index: 1 while one is not asked, because it did not answer.",
		Label: "leaf", Values: make(map[string]float64),
	}
	for _, leaf := range e.Leaves {
		g.Values[leaf.Name()] = 0
	}
	for _, name := range e.Resting() {
		g.Values[name] = 1
	}
	if len(g.Values) == 0 {
		return nil
	}
	return []vitals.Gauge{g}
}

// gauges returns metrics of the lengths of the queues and, if it can be read, of the progress of the
// crawl.
func (s *System) gauges(ctx context.Context) []vitals.Gauge {
	one := func(n float64) map[string]float64 { return map[string]float64{"": n} }
	gauges := []vitals.Gauge{
		s.queueGauge("visible", func(c queue.Counts) int { return c.Visible + c.Delayed }),
		s.queueGauge("in_flight", func(c queue.Counts) int { return c.InFlight }),
		s.queueGauge("dead", func(c queue.Counts) int { return c.Dead }),
	}
	if p, err := s.Progress(ctx); err == nil {
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
	return gauges
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
