package cloud

import (
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write testdata/budget.json anew")

const budgetFile = "testdata/budget.json"

// budget holds what was measured, and compares it with the budget: the greatest prices, in dollars, that the repository
// allows. Only what is billed by the number of requests and invocations is compared, because the time of functions
// depends on the machine.
type budget struct {
	measured map[string]float64 // dollars of a million pages or queries, and of an idle month, by the name of the thing
	before   bill               // bill at the last call of record
}

// record records what a number of things, such as pages, have cost since the last call of record.
//
// It returns the price of a million, with that of the functions' time.
func (b *budget) record(t testing.TB, name string, m *meter, number int) (price float64) {
	t.Helper()
	now, p := m.bill(), mustReadPrices(t)
	used := now.since(b.before)
	million, total := 1e6/float64(number), used.total()
	b.measured[name], b.before = mills(p.requests(total)*million), now
	t.Logf("%s (%d measured; dollars are those of a million)\n%s", name, number, used.table(p, number))
	return (p.requests(total) + p.time(total)) * million
}

// coldQueries is the number of queries that the function cold measures.
const coldQueries = 5

// cold records what queries cost that meet a new process each, and returns the price of a million (see record).
func (b *budget) cold(t testing.TB, c *Cloud, word string) (price float64) {
	t.Helper()
	for range coldQueries {
		if err := c.functions["Query"].cool(); err != nil {
			t.Fatal(err)
		}
		c.search(t, word)
	}
	return b.record(t, "cold query", c.meter, coldQueries)
}

const month = 30 * 24 * time.Hour

// month records what requests cost in a month in which nothing happens but ticks of clocks. It returns the price of the
// month in dollars, with that of the functions' time. It lets each clock tick once, for new
// processes, because those of an idle function must read the settings again at each tick.
func (b *budget) month(t testing.TB, c *Cloud, said *lines) (price float64) {
	t.Helper()
	for _, f := range c.functions {
		if err := f.cool(); err != nil {
			t.Fatal(err)
		}
	}
	ticks, p := c.tickAll(t, said), mustReadPrices(t)
	var requests, seconds float64
	for _, name := range slices.Sorted(maps.Keys(ticks)) {
		used := ticks[name]
		times := float64(month / rate(t, c.clocks[name].ScheduleExpression))
		requests += times * p.requests(used)
		seconds += times * p.time(used)
		t.Logf("idle month: %s ticks %.0f times: $%.2f for requests %+v, $%.2f for time", name, times, times*p.requests(used), used, times*p.time(used))
	}
	b.measured["idle month"] = mills(requests)
	t.Logf("idle month: clocks $%.2f, and $%.2f for time", requests, seconds)
	return requests + seconds
}

// rate returns the time between two ticks of a clock with a schedule such as "rate(5 minutes)".
func rate(t testing.TB, schedule string) time.Duration {
	t.Helper()
	found := regexp.MustCompile(`^rate\((\d+) (minute|hour)s?\)$`).FindStringSubmatch(schedule)
	if found == nil {
		t.Fatalf("schedule %q is no rate", schedule)
	}
	number, _ := strconv.Atoi(found[1])
	return time.Duration(number) * map[string]time.Duration{"minute": time.Minute, "hour": time.Hour}[found[2]]
}

// slackOf returns how many times its budget a price may be. A slow machine divides the same crawl into more batches and
// packages, by up to a fifth of the price; the other prices are always nearly the same.
func slackOf(name string) float64 {
	if name == "page" || name == "page's rank" {
		return 1.5
	}
	return 1.1
}

// check compares what was measured with the budget. With the flag -update it becomes the budget.
func (b *budget) check(t *testing.T) {
	t.Helper()
	if *update {
		content, err := json.MarshalIndent(b.measured, "", "  ")
		if err == nil {
			err = os.WriteFile(budgetFile, append(content, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var allowed map[string]float64
	content, err := os.ReadFile(budgetFile)
	if err == nil {
		err = json.Unmarshal(content, &allowed)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, price := range b.measured {
		switch {
		case price > slackOf(name)*allowed[name]:
			t.Errorf("%s: $%.3f, and the budget is $%.3f; if this is meant, run the test with -update", name, price, allowed[name])
		case price < 0.9*allowed[name]:
			t.Logf("%s: $%.3f, less than the budget of $%.3f; keep it by running the test with -update", name, price, allowed[name])
		}
	}
}

// mills rounds a price to whole tenths of a cent.
func mills(dollars float64) float64 { return math.Round(dollars*1000) / 1000 }

func mustReadPrices(t testing.TB) prices {
	t.Helper()
	p, err := readPrices()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
