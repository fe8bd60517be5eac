package restore

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// BenchmarkRebuild measures how fast a rebuild writes 50,000 URLs, half of them pending, from one
// book in the bucket into Redis.
func BenchmarkRebuild(b *testing.B) {
	const half = 25_000
	for name, opens := range map[string]func(testing.TB) *redis.Client{"embedded": redistest.Embedded, "server": redistest.Server} {
		b.Run(name, func(b *testing.B) { benchmarkRebuild(b, opens(b), half) })
	}
}

func benchmarkRebuild(b *testing.B, rdb *redis.Client, half int) {
	w := newWorld(b, rdb)
	var learnt book.Book
	for i := range half {
		done := fmt.Sprint(one, "page/", i)
		learnt.Outcomes = append(learnt.Outcomes, functionstest.Outcome(b, version(50), done, book.Failed))
		learnt.Links = append(learnt.Links, functionstest.Link(b, one, done, 1), functionstest.Link(b, one, fmt.Sprint(two, "page/", i), 1))
	}
	functionstest.Learn(b, w.bucket, 0, learnt)
	for b.Loop() {
		if _, err := w.Rebuild(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(2*half*b.N)/b.Elapsed().Seconds(), "URLs/s")
}

// BenchmarkRenew measures a search of all books for URLs that are due again: it reads the outcomes of
// 50,000 pages, of which one in a hundred is due.
func BenchmarkRenew(b *testing.B) {
	const pages = 50_000
	w := newWorld(b, redistest.Server(b))
	var learnt book.Book
	for i := range pages {
		o := functionstest.Outcome(b, version(50), fmt.Sprint(one, "page/", i), book.Stored)
		if o.Exponent = 3; i%100 == 0 {
			o.Exponent = 0
		}
		learnt.Outcomes = append(learnt.Outcomes, o)
	}
	functionstest.Learn(b, w.bucket, 0, learnt)
	w.run()
	w.clock.Advance(24 * time.Hour)
	m := functionstest.Manifest(b, w.bucket, 0)
	for b.Loop() {
		if err := w.Redis.Del(b.Context(), agendaKey(0)).Err(); err != nil {
			b.Fatal(err)
		}
		if err := w.Renew(b.Context(), w.inForce, &m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pages*b.N)/b.Elapsed().Seconds(), "URLs/s")
}

// BenchmarkMinute measures what one sweep a minute costs a partition of which some pages become due in
// every minute: each page stays valid for eight days, and they were fetched in the course of the last eight
// days. It reports requests to the bucket and bytes read from it for each sweep, besides pages that are due.
func BenchmarkMinute(b *testing.B) {
	for _, pages := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(pages), func(b *testing.B) { benchmarkMinute(b, pages) })
	}
}

func benchmarkMinute(b *testing.B, pages int) {
	w := largeWorld(b, 0)
	const life, inBook = 8 * 24 * time.Hour, 50_000
	for from := 0; from < pages; from += inBook {
		var learnt book.Book
		for i := from; i < min(pages, from+inBook); i++ {
			o := functionstest.Outcome(b, version(50), largeURL(pages, i), book.Stored)
			o.Exponent, o.Time = 3, o.Time.Add(-life/time.Duration(pages)*time.Duration(i))
			learnt.Outcomes = append(learnt.Outcomes, o)
			learnt.Links = append(learnt.Links, functionstest.Link(b, one, o.URL, 1))
		}
		functionstest.Learn(b, w.bucket, 0, learnt)
	}
	w.run()
	counted := countblob.New(w.bucket)
	w.Bucket = counted
	m := functionstest.Manifest(b, w.bucket, 0)
	renewed := func() (n int64) {
		for crawl := range 2 {
			n += functionstest.Counts(b, w.Redis, crawl).Again
		}
		return n
	}
	before, waited, used := counted.Counts(), renewed(), seconds(b)
	for b.Loop() {
		w.clock.Advance(time.Minute)
		if err := w.Renew(b.Context(), w.inForce, &m); err != nil {
			b.Fatal(err)
		}
	}
	n, spent := float64(b.N), counted.Counts().Minus(before)
	b.ReportMetric(float64(renewed()-waited)/n, "due/op")
	b.ReportMetric(float64(spent.Requests())/n, "requests/op")
	b.ReportMetric(float64(spent.Read)/n, "bytes-read/op")
	b.ReportMetric((seconds(b)-used)/n*1000, "CPU-ms/op")
}
