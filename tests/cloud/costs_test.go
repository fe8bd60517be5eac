package cloud

import (
	"flag"
	"testing"
	"time"
)

var pages = flag.Int("pages", 0, "number of pages that TestCosts crawls; 0: it is not run")

// The crawl of TestCosts.
const (
	hosts      = 40
	politeness = time.Second // between two requests to a host
	paragraphs = 80          // of a page, which has 26 KB then, like the pages of documentation
)

// TestCosts crawls many pages as politely as on the web, and prints what they cost, with the time of functions.
func TestCosts(t *testing.T) {
	if *pages == 0 {
		t.Skip("give -pages 4000, for instance")
	}
	c, said := start(t, false)
	var seeds []string
	number, size := 0, 0
	for range hosts {
		s := serveSite(t, max(1, *pages/hosts/articles), paragraphs)
		seeds = append(seeds, s.origin+"/")
		for _, text := range s.pages {
			number, size = number+1, size+len(text)
		}
	}
	c.publish(t, politeness, seeds...)
	b := budget{measured: make(map[string]float64)}
	if err := c.Tick("SweepClock"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.await(t, said, func() (bool, error) { return c.indexed(t.Context(), number) })
	t.Logf("crawled and indexed %d pages of %d bytes in %v", number, size/number, time.Since(began).Round(time.Second))
	used := c.meter.bill().total()
	b.record(t, "page", c.meter, number)
	c.tickAll(t, said)
	b.record(t, "page, ranked", c.meter, number)
	clocks := b.month(t, c, said)
	c.mustBeSound(t, said)

	p := mustReadPrices(t)
	page := (p.requests(used) + p.time(used)) / float64(number)
	stored, err := c.stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fixed := clocks + p.pollers(len(c.queues.set)-1) + p.RedisHour*month.Hours()
	t.Logf("an idle month: $%.2f; a million pages: $%.2f, and $%.2f a month to store %.1f GB", fixed, page*1e6, p.StorageMonth*stored*1e6/float64(number), stored*1e6/float64(number))
	for _, n := range []float64{1e4, 1e6, 1e8} {
		t.Logf("%.0f pages: $%.2f once, $%.2f a month", n, page*n, fixed+p.StorageMonth*stored*n/float64(number))
	}
}

// pollers returns the price of a month in which nothing is in a number of queues: five requests at a time wait at each
// of them, 20 seconds each.
func (p prices) pollers(number int) float64 {
	return float64(number) * 5 * (month.Seconds() / 20) * p.SQS / 1e6
}
