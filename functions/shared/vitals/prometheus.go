package vitals

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// bounds are the upper bounds of the buckets of the histogram of durations, in seconds.
var bounds = [...]float64{0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300}

// bucketOf returns the index of the first bound that a duration does not exceed;
// len(bounds) if it exceeds all.
func bucketOf(d time.Duration) int {
	i, _ := slices.BinarySearch(bounds[:], d.Seconds())
	return i
}

// Exposition is the media type of Prometheus's text form.
const Exposition = "text/plain; version=0.0.4; charset=utf-8"

// Gauge is a Prometheus metric whose present values the caller of WritePrometheus has measured.
type Gauge struct {
	Name, Help string
	Counter    bool   // whether values only grow while the process runs: then it is a counter, not a gauge
	Label      string // name of the label; "" for a single value without a label
	// value of the metric for each value of the label; without a label, the only value is under ""
	Values map[string]float64
}

// WritePrometheus writes all metrics of the recorder, and the given gauges, in Prometheus's text
// form, version 0.0.4.
func (r *Recorder) WritePrometheus(w io.Writer, gauges ...Gauge) error {
	now := r.read()
	e := exposition{bufio.NewWriter(w)}
	names := slices.Sorted(maps.Keys(now.functions))
	each := func(name, kind, help string, value func(Activity) float64) {
		e.family(name, kind, help)
		for _, function := range names {
			e.sample(name, value(now.functions[function]), "function", function)
		}
	}
	each("bucketsearch_invocations_total", "counter", "Invocations that have ended.", func(a Activity) float64 { return float64(a.Invocations) })
	each("bucketsearch_failures_total", "counter", "Invocations that failed.", func(a Activity) float64 { return float64(a.Failures) })
	each("bucketsearch_postponed_total", "counter", "Invocations in which nothing failed, and a message came too early.", func(a Activity) float64 { return float64(a.Postponed) })
	each("bucketsearch_in_flight", "gauge", "Messages that are being worked on.", func(a Activity) float64 { return float64(a.InFlight) })
	e.family("bucketsearch_notes_total", "counter", "What went wrong without failing a message.")
	for _, function := range names {
		for _, what := range slices.Sorted(maps.Keys(now.functions[function].Notes)) {
			e.sample("bucketsearch_notes_total", float64(now.functions[function].Notes[what]), "function", function, "what", what)
		}
	}
	r.writeDurations(e, names)
	writeStore(e, names, now)
	writeProcess(e, now.process, r.born)
	for _, g := range gauges {
		kind := "gauge"
		if g.Counter {
			kind = "counter"
		}
		e.family(g.Name, kind, g.Help)
		for _, of := range slices.Sorted(maps.Keys(g.Values)) {
			if g.Label == "" {
				e.sample(g.Name, g.Values[of])
			} else {
				e.sample(g.Name, g.Values[of], g.Label, of)
			}
		}
	}
	return e.w.Flush()
}

func (r *Recorder) writeDurations(e exposition, names []string) {
	const name = "bucketsearch_invocation_seconds"
	e.family(name, "histogram", "How long invocations took.")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, function := range names {
		f, sum := r.functions[function], int64(0)
		for i, bound := range bounds {
			sum += f.durations[i]
			e.sample(name+"_bucket", float64(sum), "function", function, "le", decimal(bound))
		}
		sum += f.durations[len(bounds)]
		e.sample(name+"_bucket", float64(sum), "function", function, "le", "+Inf")
		e.sample(name+"_sum", f.busy.Seconds(), "function", function)
		e.sample(name+"_count", float64(sum), "function", function)
	}
}

func writeStore(e exposition, names []string, now reading) {
	const requests, transferred = "bucketsearch_store_requests_total", "bucketsearch_store_bytes_total"
	e.family(requests, "counter", "Requests to the object store, each attempt counted.")
	for _, function := range names {
		n := now.functions[function].Requests
		for _, kind := range []struct {
			name  string
			count int64
		}{{"put", n.Put}, {"get", n.Get}, {"list", n.List}, {"delete", n.Delete}, {"head", n.Head}} {
			e.sample(requests, float64(kind.count), "function", function, "kind", kind.name)
		}
	}
	e.family(transferred, "counter", "Bytes of content got from and sent to the object store.")
	for _, function := range names {
		e.sample(transferred, float64(now.functions[function].Requests.Read), "function", function, "direction", "read")
		e.sample(transferred, float64(now.functions[function].Requests.Written), "function", function, "direction", "written")
	}
}

func writeProcess(e exposition, p Process, born time.Time) {
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"process_cpu_seconds_total", "counter", "Processor time used, by the user and the system.", p.CPUSeconds},
		{"process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.", float64(born.UnixMilli()) / 1000},
		{"process_resident_memory_bytes", "gauge", "Memory in use.", float64(p.Resident)},
		{"process_open_fds", "gauge", "Open file descriptors.", float64(p.Descriptors)},
		{"process_network_receive_bytes_total", "counter", "Bytes received by connections of the process.", float64(p.Received)},
		{"process_network_transmit_bytes_total", "counter", "Bytes sent by connections of the process.", float64(p.Sent)},
		{"process_io_storage_read_bytes_total", "counter", "Bytes read from disks.", float64(p.DiskRead)},
		{"process_io_storage_written_bytes_total", "counter", "Bytes written to disks.", float64(p.DiskWritten)},
		{"go_goroutines", "gauge", "Goroutines.", float64(p.Goroutines)},
		{"go_memory_classes_heap_objects_bytes", "gauge", "Memory of Go's objects.", float64(p.Heap)},
	} {
		e.family(m.name, m.kind, m.help)
		e.sample(m.name, m.value)
	}
}

// exposition writes metrics to w in Prometheus's text form. Errors of writing are returned by
// w.Flush.
type exposition struct{ w *bufio.Writer }

func (e exposition) family(name, kind, help string) {
	e.write("# HELP ", name, " ", help, "\n# TYPE ", name, " ", kind, "\n")
}

// sample writes one value of a metric. The parameter labels has the name of each label, followed by
// its value.
func (e exposition) sample(name string, value float64, labels ...string) {
	e.write(name)
	before := "{"
	for i := 0; i < len(labels); i += 2 {
		e.write(before, labels[i], `="`, escape.Replace(labels[i+1]), `"`)
		before = ","
	}
	if len(labels) > 0 {
		e.write("}")
	}
	e.write(" ", decimal(value), "\n")
}

func (e exposition) write(texts ...string) {
	for _, text := range texts {
		_, _ = e.w.WriteString(text)
	}
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func decimal(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// Incomplete is an HTTP header of an answer. It names the objects that the answer lacks because they
// could not be read.
const Incomplete = "X-Incomplete"

// WatchHTTP returns the handler of a function that answers HTTP, with each request recorded
// as an invocation of the function with the given name (see Watch), with what message.Note notes. A
// request has failed if its answer has a status of 500 or above or the header Incomplete, or if the
// handler panics.
func (r *Recorder) WatchHTTP(name string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		end := r.begin(name, 1)
		failure := errPanic // unless the handler returns
		defer func() { end(failure) }()
		noted := &statusWriter{ResponseWriter: w}
		listening := message.Listen(request.Context(), message.Listener{Noted: func(what string) { r.note(name, what) }})
		handler.ServeHTTP(noted, request.WithContext(listening))
		if failure = nil; noted.status >= http.StatusInternalServerError {
			failure = fmt.Errorf("%s %s was answered by %d %s", request.Method, request.URL.Path, noted.status, http.StatusText(noted.status))
		} else if lacking := w.Header().Get(Incomplete); lacking != "" {
			failure = fmt.Errorf("%s %s was answered from a damaged bucket: %s", request.Method, request.URL.Path, lacking)
		}
	})
}

// statusWriter is a ResponseWriter that records the status of the answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (n *statusWriter) WriteHeader(status int) {
	n.status = max(n.status, status)
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, with which http.ResponseController flushes answers.
func (n *statusWriter) Unwrap() http.ResponseWriter { return n.ResponseWriter }
