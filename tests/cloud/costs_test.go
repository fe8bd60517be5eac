package cloud

import (
	"testing"
	"time"
)

// The crawl of BenchmarkCosts, of some 4,000 pages.
const (
	hosts      = 40
	sections   = 3           // of a host's site
	politeness = time.Second // between two requests to a host
	paragraphs = 80          // of a page, which has 28 KB then, like the pages of documentation
)

// BenchmarkCosts crawls many pages as politely as on the web, and measures what a million pages, a million queries to new
// processes and an idle month cost, with the time of functions. It logs what each part of the stack has used.
func BenchmarkCosts(b *testing.B) {
	for b.Loop() {
		measureCosts(b)
	}
}

func measureCosts(b *testing.B) {
	c, said := start(b, false)
	var sites []*site
	var seeds []string
	number, size := 0, 0
	for range hosts {
		s := serveSite(b, sections, paragraphs)
		sites, seeds = append(sites, s), append(seeds, s.origin+"/")
		for _, text := range s.pages {
			number, size = number+1, size+len(text)
		}
	}
	c.publish(b, politeness, seeds...)
	costs := budget{measured: make(map[string]float64)}
	if err := c.Tick("SweepClock"); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	c.await(b, said, func() (bool, error) { return c.indexed(b.Context(), number) })
	b.Logf("crawled and indexed %d pages of %d bytes in %v", number, size/number, time.Since(began).Round(time.Second))
	c.settle(b, said)
	page := costs.record(b, "page", c.meter, number)
	c.tickAll(b, said)
	page += costs.record(b, "page's rank", c.meter, number)
	p := mustReadPrices(b)
	copies := p.copies(c.puts.Load(), c.putBytes.Load())
	query := costs.cold(b, c, sites[0].words["/"])
	idle := costs.month(b, c, said) + p.pollers(len(c.queues.set)-1) + p.RedisHour*month.Hours()
	c.mustBeSound(b, said)

	stored, err := c.stored(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(page, "$/Mpages")
	b.ReportMetric(stored*1e6/float64(number), "GB/Mpages")
	b.ReportMetric(copies*1e6/float64(number), "$/Mpages-copied")
	b.ReportMetric(query, "$/Mcold-queries")
	b.ReportMetric(idle, "$/idle-month")
}

// pollers returns the price of a month in which nothing is in a number of queues: five requests at a time wait at each
// of them, 20 seconds each.
func (p prices) pollers(number int) float64 {
	return float64(number) * 5 * (month.Seconds() / 20) * p.SQS / 1e6
}
