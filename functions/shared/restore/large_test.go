package restore

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// largeURL returns the URL with a number among n URLs.
func largeURL(n, i int) string {
	host := fmt.Sprint("site", i%max(1, n/100))
	if i%10 == 0 {
		host = "large"
	}
	return fmt.Sprintf("http://%s.example/directory/%d/page-%d.html", host, i%97, i)
}

// learnLarge commits books with n discovered URLs on n/100 sites of unequal sizes: the first site has
// a tenth of all URLs. Of ten URLs, two are stored, one failed, one is a redirect, and six are
// pending. The books have 50,000 URLs each, as if they came from different times.
func learnLarge(b testing.TB, w *world, n int) {
	const inBook = 50_000
	for from := 0; from < n; from += inBook {
		var learnt book.Book
		for i := from; i < min(n, from+inBook); i++ {
			url := largeURL(n, i)
			learnt.Links = append(learnt.Links, functionstest.Link(b, fmt.Sprint(one, i/100), url, 1))
			switch i % 100 / 10 {
			case 0, 1:
				learnt.Outcomes = append(learnt.Outcomes, functionstest.Outcome(b, version(50), url, book.Stored))
			case 2:
				learnt.Outcomes = append(learnt.Outcomes, functionstest.Outcome(b, version(50), url, book.Failed))
			case 3:
				o := functionstest.Outcome(b, version(50), url, book.Skipped)
				o.Reason, o.Detail = "redirect", "to "+largeURL(n, i+7)
				learnt.Outcomes = append(learnt.Outcomes, o)
			}
		}
		functionstest.Learn(b, w.bucket, 0, learnt)
	}
}

// largeWorld returns a world with n URLs in its books, whose collection admits all of them, and with
// frontiers in a redis-server.
func largeWorld(b testing.TB, n int) *world {
	w := newWorld(b, redistest.Server(b))
	w.inForce = functionstest.Republish(b, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
		c.Seeds[0].Scope = collection.Any
	})
	learnLarge(b, w, n)
	return w
}

// heap returns the bytes of the heap that are in use or not yet collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// peak calls a function, and returns by how many bytes at most the heap grew during the call.
func peak(do func()) uint64 {
	runtime.GC()
	debug.FreeOSMemory()
	before := heap()
	most, stop, stopped := before, make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-stop:
				return
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return most - before
}

// measure runs a benchmark, and reports two metrics of this process: the time for which processors work for it,
// without that of Redis; and how much memory it needs besides the books, which it also holds.
func measure(b *testing.B, do func() error) {
	var most uint64
	before := seconds(b)
	for b.Loop() {
		most = peak(func() {
			if err := do(); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric((seconds(b)-before)/float64(b.N), "CPU-s")
	b.ReportMetric(float64(most)/1e6, "MB")
}

// seconds returns how long the processors have worked for this process so far, in seconds.
func seconds(t testing.TB) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// BenchmarkLarge measures a rebuild of 10⁵ and of 10⁶ URLs.
func BenchmarkLarge(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := largeWorld(b, n)
			counted := countblob.New(w.bucket)
			w.Bucket = counted
			measure(b, func() error { _, err := w.Rebuild(b.Context()); return err })
			b.ReportMetric(float64(counted.Counts().Requests())/float64(b.N), "requests")
		})
	}
}

// BenchmarkFollow measures what a sweep does with the frontiers of 10⁵ and of 10⁶ URLs after a change of
// the settings.
func BenchmarkFollow(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		w := largeWorld(b, n)
		w.run()
		taken := 0
		for name, change := range map[string]func() error{
			"delay": func() error {
				functionstest.Republish(b, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) { c.Delay++ })
				return nil
			},
			"forget": func() error { // alternately a stored URL and one that waits
				taken++
				at, err := address.Parse(largeURL(n, 1000*taken+taken%2*50))
				if err == nil {
					_, err = takedown.Forget(b.Context(), w.bucket, takedown.URL(at, w.clock.Now()))
				}
				return err
			},
			"seed": func() error {
				functionstest.Republish(b, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
					*c = c.With([]collection.Seed{{URL: fmt.Sprintf("http://site%d.example/", c.Version), Scope: collection.Site, Depth: 2}})
				})
				return nil
			},
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				epoch := w.frontier(0).Epoch
				measure(b, func() error {
					if err := change(); err != nil {
						return err
					}
					w.read()
					return w.Refresh(b.Context(), w.inForce)
				})
				if now := w.frontier(0).Epoch; now != epoch {
					b.Errorf("epoch %d after %d: the frontiers were rebuilt", now, epoch)
				}
			})
		}
	}
}
