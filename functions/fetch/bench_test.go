package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// BenchmarkBatch fetches 100 pages of 26 KB from a server in the same process, and reports the CPU
// time of server and fetch together for each page. There are three cases: a collection without a
// topic (c), one with a topic, and pages that have not changed since their last fetch (again).
func BenchmarkBatch(b *testing.B) {
	var pages [10]string
	for i := range pages {
		var s strings.Builder
		fmt.Fprintf(&s, "<!doctype html><html lang=en><title>Page %d</title><nav>", i)
		for j := range 20 {
			fmt.Fprintf(&s, `<a class="reference internal" href="chapter-%d.html">Chapter %d</a>`, j, j)
		}
		s.WriteString("</nav>")
		for j := 0; s.Len() < 26<<10; j++ {
			fmt.Fprintf(&s, `<p class="para">The <code>function_%d</code> reads %d pages, see <a class="xref" href="page-%d.html#section">section %d</a>,
and gives what it read to whoever asked for it; nothing is kept, and nothing is lost on the way there.</p>`, i*j, j, (i*j)%97, j)
		}
		pages[i] = s.String()
	}
	w := newWorld(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(pages[len(r.URL.Path)%len(pages)]))
	}))
	w.Now = time.Now
	w.publish(b, collection.Collection{Name: "topic", Topic: &collection.Topic{Words: []string{"function", "full text search"}}})
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprintf("/%s%d", strings.Repeat("x", i%10), i))
	}
	next := func() batch.Batch {
		all := w.batch(paths...)
		all.Version.Token, all.Deadline = uint64(time.Now().UnixNano()), time.Now().Add(time.Minute)
		return all
	}
	outcomes := w.run(b, next()).Ledger.Outcomes
	for name, change := range map[string]func(i int, t *batch.Target){
		"c":     func(int, *batch.Target) {},
		"topic": func(_ int, t *batch.Target) { t.Collections[0] = "topic" },
		"again": func(i int, t *batch.Target) { t.Last = batch.LookOf(outcomes[i]) },
	} {
		b.Run(name, func(b *testing.B) {
			began := cpu(b)
			for b.Loop() {
				batch := next()
				for i := range batch.Targets {
					change(i, &batch.Targets[i])
				}
				if err := w.Run(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-began)/float64(b.N*len(paths))/1e6, "cpu-ms/page")
			b.ReportMetric(float64(b.N*len(paths))/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWaiting invokes fetch with batches of several hosts, 40 pages of each, which are requested
// with a delay of one second. It reports what the invocation costs for each page in GB-seconds, if the
// function has the memory of the template.
func BenchmarkWaiting(b *testing.B) {
	const memory, pages = 0.5, 40 // GB
	for _, hosts := range []int{1, 16, task.BatchSize(task.Fetch)} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			w := newWorld(b, respond(http.StatusOK, "text/html", "<p>"+strings.Repeat("word ", 5000)))
			w.Now, w.Sleep = time.Now, blob.Sleep
			token := uint64(time.Now().UnixNano())
			began := cpu(b)
			for b.Loop() {
				var event events.SQSEvent
				for host := range hosts {
					var paths []string
					for i := range pages {
						paths = append(paths, fmt.Sprintf("/%d/%d", token, i))
					}
					all := w.batch(paths...)
					all.Version.Token, all.Host, all.Deadline, all.DelayMillis = token, fmt.Sprint(host), time.Now().Add(batch.MaxTime), 1000
					event.Records = append(event.Records, record(b, fmt.Sprint(token), all))
					token++
				}
				if response, err := w.Handle(b.Context(), event); err != nil || len(response.BatchItemFailures) > 0 {
					b.Fatal(response, err)
				}
			}
			all := float64(b.N * hosts * pages)
			b.ReportMetric(memory*b.Elapsed().Seconds()/all, "GB-s/page")
			b.ReportMetric(float64(cpu(b)-began)/all/1e6, "cpu-ms/page")
		})
	}
}
