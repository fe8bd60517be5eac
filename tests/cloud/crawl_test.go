package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// lines collects the output of functions.
type lines struct {
	mu   sync.Mutex // protects the field text
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// start starts the stack of the repository's template, which runs until the test ends.
func start(t testing.TB, alone bool) (*Cloud, *lines) {
	t.Helper()
	return startWith(t, Options{Dir: t.TempDir(), Alone: alone})
}

// startWith does the same as start. The options say what differs between tests; the others are added.
func startWith(t testing.TB, o Options) (*Cloud, *lines) {
	t.Helper()
	said := new(lines)
	o.Template, o.Functions, o.Log, o.Store = "../../infra/template.yaml", binaries, said, storeCommand(t)
	if o.Redis == "" {
		o.Redis = redistest.Cluster(t, 1).Options().Addrs[0]
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, said
}

// storeCommand returns the command line of an object store.
func storeCommand(t testing.TB) s3.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return s3.Command{Path: self, Env: append(os.Environ(), role+"=store")}
}

// most is the longest time for which await waits. It is enough for the crawl of BenchmarkCosts.
const most = 10 * time.Minute

// await waits until the queues are idle and done returns true.
func (c *Cloud) await(t testing.TB, said *lines, done func() (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	if err := c.Await(ctx, done); err != nil {
		t.Fatalf("%v\n%s", err, said.take())
	}
}

func always() (bool, error) { return true, nil }

// tickAll makes each clock tick once, one after another, and waits until their functions have ended. It returns what each
// clock has used.
func (c *Cloud) tickAll(t testing.TB, said *lines) map[string]usage {
	t.Helper()
	used := make(map[string]usage)
	for _, name := range slices.Sorted(maps.Keys(c.clocks)) {
		before := c.meter.bill()
		if err := c.Tick(name); err != nil {
			t.Fatal(err)
		}
		c.await(t, said, always)
		used[name] = c.meter.bill().since(before).total()
	}
	return used
}

// settle lets the clock of sweep tick twice after the end of a crawl: the first tick has small packages indexed together,
// and the second has segments merged.
func (c *Cloud) settle(t testing.TB, said *lines) {
	t.Helper()
	for range 2 {
		if err := c.Tick("SweepClock"); err != nil {
			t.Fatal(err)
		}
		c.await(t, said, always)
	}
}

// publish publishes strategies and a collection with seeds, and with a delay between the requests to a host.
func (c *Cloud) publish(t testing.TB, delay time.Duration, seeds ...string) {
	t.Helper()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(t.Context(), c.Bucket, rules.Even(kind, 1, time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	docs := collection.Collection{Name: "docs", Agent: "testbot/1.0 (+https://example.org/bot)", HostConnections: 1, Delay: collection.Duration(delay)}
	for _, seed := range seeds {
		docs.Seeds = append(docs.Seeds, collection.Seed{URL: seed, Scope: collection.Host, Depth: collection.Unlimited})
	}
	if _, err := collection.Publish(t.Context(), c.Bucket, docs); err != nil {
		t.Fatal(err)
	}
}

// A site is crawled, indexed and searched by the functions of the template, which have no other rights than those in
// the template.
func TestCrawl(t *testing.T) {
	t.Parallel()
	c, said := start(t, false)
	s := c.crawl(t, said)
	for path, word := range s.words {
		if found := c.search(t, word); !slices.Equal(found, []string{s.origin + path}) {
			t.Errorf("%s: found %q, want %s", word, found, path)
		}
	}
	c.tickAll(t, said)
	c.mustBeSound(t, said)
}

// While nothing is published, clocks tick without failures, and each function that they call says in one line that it
// has nothing to do. The API answers that nothing is found.
func TestNothingIsPublished(t *testing.T) {
	t.Parallel()
	c, said := start(t, false)
	c.tickAll(t, said)
	logged := said.take()
	for _, name := range []string{"schedule", "sweep", "rank", "watch"} {
		line := regexp.MustCompile(`(?m)^.*"level":"INFO","msg":"nothing to do","function":"` + name + `".*$`)
		if n := len(line.FindAllString(logged, -1)); n != 1 {
			t.Errorf("%s: %d lines\n%s", name, n, logged)
		}
	}
	if found := c.search(t, "anything"); len(found) != 0 {
		t.Errorf("found %q", found)
	}
	c.mustBeSound(t, said)
}

// What a crawl, queries and idle clocks cost must not be far above testdata/budget.json (see slackOf).
func TestBudget(t *testing.T) {
	t.Parallel()
	c, said := start(t, true)
	b := budget{measured: make(map[string]float64)}
	s := c.crawl(t, said)
	b.record(t, "page", c.meter, len(s.pages))
	c.settle(t, said)
	c.tickAll(t, said)
	b.record(t, "page's rank", c.meter, len(s.pages))
	b.cold(t, c, s.words["/"])
	for _, word := range s.words {
		c.search(t, word)
	}
	b.record(t, "query", c.meter, len(s.pages))
	b.month(t, c, said)
	c.mustBeSound(t, said)
	b.check(t)
}

// crawl crawls a site, and waits until its pages are indexed.
func (c *Cloud) crawl(t testing.TB, said *lines) *site {
	t.Helper()
	s := serveSite(t, 12, 8)
	c.publish(t, 0, s.origin+"/")
	if err := c.Tick("SweepClock"); err != nil {
		t.Fatal(err)
	}
	c.await(t, said, func() (bool, error) { return c.indexed(t.Context(), len(s.pages)) })
	return s
}

// mustBeSound checks that no invocation has failed, no request was refused, and no function has logged a fault.
func (c *Cloud) mustBeSound(t testing.TB, said *lines) {
	t.Helper()
	logged := said.take()
	if failed := c.Failed(); len(failed) > 0 {
		t.Errorf("failures: %q\n%s", failed, logged)
	}
	if faults := faultLine.FindAllString(logged, -1); len(faults) > 0 {
		t.Errorf("faults in logs: %s", faults)
	}
}

// faultLine matches a line of a log that reports a fault.
var faultLine = regexp.MustCompile(`(?m)^.*"level":"(WARN|ERROR)".*$`)

// indexed reports whether the bucket has this number of pages, and all of them are indexed.
func (c *Cloud) indexed(ctx context.Context, pages int) (bool, error) {
	m, err := partition.Read(ctx, c.Bucket, layout.Partition(0))
	if err != nil {
		return false, err
	}
	for _, listed := range m.Packages {
		if pages -= listed.Pages; !listed.Indexed {
			return false, nil
		}
	}
	return pages <= 0, nil
}

// stored returns how many GB are in the bucket.
func (c *Cloud) stored(ctx context.Context) (gigabytes float64, err error) {
	for object, err := range c.Bucket.List(ctx, "", "") {
		if err != nil {
			return 0, err
		}
		gigabytes += float64(object.Size) / 1e9
	}
	return gigabytes, nil
}

// search returns the URLs of the results of a query to the function URL.
func (c *Cloud) search(t testing.TB, query string) (found []string) {
	t.Helper()
	answer, err := http.Get(c.URL + "/v1/search?q=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var results struct {
		Results []struct{ URL string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&results); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", query, answer.StatusCode, err)
	}
	for _, r := range results.Results {
		found = append(found, r.URL)
	}
	return found
}
