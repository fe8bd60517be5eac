package frontier

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func benchEach(b *testing.B, bench func(b *testing.B, f fixture)) {
	b.Run("embedded", func(b *testing.B) { bench(b, opened(b, redistest.Embedded(b))) })
	b.Run("server", func(b *testing.B) { bench(b, opened(b, redistest.Server(b))) })
}

// benchURL returns an entry whose URL is about as long as those of a documentation site.
func benchURL(i int) Entry {
	return entry("docs.example.org", fmt.Sprintf("reference/current/section-%d/page-%07d.html", i%97, i), uint16(i%12))
}

// BenchmarkAdmit admits the targets of links, 500 in each call. In its first run all targets are new
// URLs. In its second run only one target in 60 is new, as on a site whose pages have 60 links each.
func BenchmarkAdmit(b *testing.B) {
	for _, share := range []int{1, 60} {
		b.Run(fmt.Sprintf("new=1of%d", share), func(b *testing.B) {
			benchEach(b, func(b *testing.B, f fixture) {
				list := make([]Entry, chunk)
				n, unknown := 0, 0
				for b.Loop() {
					for i := range list {
						if n++; n%share == 0 {
							unknown++
							list[i] = benchURL(unknown)
						} else {
							list[i] = benchURL(1 + n%(unknown+1))
						}
					}
					f.admit(noon, list...)
				}
				b.ReportMetric(float64(b.N*chunk)/b.Elapsed().Seconds(), "entries/s")
			})
		})
	}
}

// BenchmarkBatch leases and settles batches of 100 URLs.
func BenchmarkBatch(b *testing.B) {
	benchEach(b, func(b *testing.B, f fixture) {
		n := 0
		for b.Loop() {
			if n%100 == 0 {
				b.StopTimer()
				list := make([]Entry, 100*100)
				for i := range list {
					list[i] = benchURL(n*100 + i)
				}
				f.admit(noon, list...)
				b.StartTimer()
			}
			n++
			lease := f.lease(request(at(float64(n))))
			f.settle(settlement(lease, at(float64(n-1)), book.Stored))
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
	})
}

// BenchmarkReset empties a frontier of 100,000 hosts. It reports the time of the script, during which
// Redis serves nobody else, apart from the time in which the former queues are deleted in small steps.
func BenchmarkReset(b *testing.B) {
	const hosts = 100_000
	benchEach(b, func(b *testing.B, f fixture) {
		var scripts time.Duration
		generation := 0
		for b.Loop() {
			b.StopTimer()
			generation++
			for from := 0; from < hosts; from += chunk {
				list := make([]Entry, chunk)
				for i := range list {
					list[i] = entry(fmt.Sprintf("host%d.example", from+i), "x", 1)
				}
				f.admit(noon, list...)
			}
			b.StartTimer()
			began := time.Now()
			f.must(f.run(b.Context(), resetScript, "bench:0", strconv.Itoa(generation)).Err())
			scripts += time.Since(began)
			f.must(f.clear(b.Context()))
		}
		b.ReportMetric(float64(scripts.Microseconds())/1e3/float64(b.N), "ms/script")
	})
}

// BenchmarkRebuild gives 200,000 URLs a final state (Mark) and puts 100,000 others into queues
// (Admit), as a rebuild does.
func BenchmarkRebuild(b *testing.B) {
	known, pending := make([]Known, 200_000), make([]Entry, 100_000)
	for i := range known {
		known[i] = Known{ID: benchURL(i).ID, Place: placeOf(benchURL(i)), Version: layout.Version{Epoch: 1, Token: uint64(1 + i/100)}, State: book.Stored}
	}
	for i := range pending {
		pending[i] = benchURL(len(known) + i)
		pending[i].Host = fmt.Sprintf("host%d.example.org", i%1000)
	}
	benchEach(b, func(b *testing.B, f fixture) {
		b.ReportAllocs()
		for b.Loop() {
			f.must(f.Reset(b.Context()))
			f.must(f.Mark(b.Context(), known))
			f.admit(noon, pending...)
		}
		b.ReportMetric(float64(b.N*(len(known)+len(pending)))/b.Elapsed().Seconds(), "URLs/s")
	})
}

// BenchmarkSettled reads settled spool objects from an inbox, as pack does whenever a batch is settled. Only
// packing that falls behind lets many wait.
func BenchmarkSettled(b *testing.B) {
	for _, waiting := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			benchEach(b, func(b *testing.B, f fixture) {
				inbox := NewInbox(f.rdb, 3)
				for n := range waiting {
					w := Waiting{Batch: layout.Version{Epoch: 1, Token: uint64(n) + 1}, Bytes: 9, Pages: 1, Since: noon, Settled: true}
					if err := inbox.Add(b.Context(), w); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					if _, err := inbox.Settled(b.Context(), 1024); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
