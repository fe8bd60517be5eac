package cloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// usage is what a part of the stack has used of the services that bill by use.
type usage struct {
	Put, Get, List, Delete int     // requests to S3; HEAD requests are counted in Get, since they have the same price
	Messages               int     // requests to SQS; each 64 KiB of a message count as one
	Ticks                  int     // invocations by EventBridge Scheduler
	Events                 int     // events that a bucket sends to EventBridge
	Invocations            int     // invocations of functions
	GBSeconds              float64 // time of these invocations in seconds, multiplied by the memory of the function in GB
}

func (u usage) plus(o usage, sign int) usage {
	return usage{
		u.Put + sign*o.Put, u.Get + sign*o.Get, u.List + sign*o.List, u.Delete + sign*o.Delete, u.Messages + sign*o.Messages,
		u.Ticks + sign*o.Ticks, u.Events + sign*o.Events, u.Invocations + sign*o.Invocations, u.GBSeconds + float64(sign)*o.GBSeconds,
	}
}

// bill is the usage of all parts of the stack. A part is a function, a service that sends messages for the stack, such
// as s3.amazonaws.com, or a role of one.
type bill map[string]usage

// since returns the usage since an earlier state of the same bill.
func (b bill) since(earlier bill) bill {
	difference := make(bill)
	for part, used := range b {
		if u := used.plus(earlier[part], -1); u != (usage{}) {
			difference[part] = u
		}
	}
	return difference
}

func (b bill) total() (sum usage) {
	for _, u := range b {
		sum = sum.plus(u, 1)
	}
	return sum
}

// table returns a bill for people: a line for each part, and the sum. Prices are divided by the given number of pages
// or queries, and are for a million of them.
func (b bill) table(p prices, number int) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "part\tPUT\tGET\tLIST\tDELETE\tSQS\tticks\tevents\tinvocations\tGB-s\t$ requests\t$ GB-s\t")
	line := func(part string, u usage) {
		million := 1e6 / float64(number)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.3f\t%.3f\t\n", part, u.Put, u.Get, u.List, u.Delete, u.Messages, u.Ticks,
			u.Events, u.Invocations, u.GBSeconds, p.requests(u)*million, p.time(u)*million)
	}
	for _, part := range slices.Sorted(maps.Keys(b)) {
		line(part, b[part])
	}
	line("sum", b.total())
	_ = w.Flush() // cannot fail for a strings.Builder
	return text.String()
}

// meter adds up the usage of the stack's parts. It is safe for concurrent use.
type meter struct {
	mu   sync.Mutex // protects the field used
	used bill
}

func (m *meter) add(part string, u usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[part] = m.used[part].plus(u, 1)
}

// bill returns the usage so far.
func (m *meter) bill() bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.used)
}

// prices are those of AWS, in US dollars: the table testdata/prices.json.
type prices struct {
	Date   string // date at which the table was made
	Region string

	// a million requests, events or invocations
	S3Put, S3Get, S3List, S3Delete, SQS, Tick, Event, Invocation float64

	GBSecond     float64 // memory of functions (arm64)
	StorageMonth float64 // a GB in S3 for a month
	Transfer     float64 // a GB that is sent to another region
	RedisHour    float64 // the least that ElastiCache Serverless for Valkey bills: 100 MB
}

func readPrices() (prices, error) {
	var p prices
	content, err := os.ReadFile("testdata/prices.json")
	if err == nil {
		err = json.Unmarshal(content, &p)
	}
	return p, err
}

// requests returns the price of everything that is billed by the number of requests.
func (p prices) requests(u usage) float64 {
	return (float64(u.Put)*p.S3Put + float64(u.Get)*p.S3Get + float64(u.List)*p.S3List + float64(u.Delete)*p.S3Delete +
		float64(u.Messages)*p.SQS + float64(u.Ticks)*p.Tick + float64(u.Events)*p.Event + float64(u.Invocations)*p.Invocation) / 1e6
}

// copies returns the price of copying objects, of so many bytes together, to a bucket in another region.
func (p prices) copies(objects, bytes int64) float64 {
	return float64(objects)*p.S3Put/1e6 + float64(bytes)/1e9*p.Transfer
}

// time returns the price of the functions' memory and time.
func (p prices) time(u usage) float64 { return u.GBSeconds * p.GBSecond }
