package frontier

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// noon is the time at which tests begin.
var noon = time.UnixMilli(1_800_000_000_000)

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// entry returns an entry for the URL of a path on a host, at a depth.
func entry(host, path string, depth uint16) Entry {
	url := "http://" + host + "/" + path
	return Entry{URL: url, ID: layout.IdentityOf(url), Host: host, Depth: depth, Collection: "docs"}
}

// entries returns n entries of a host at depth 1.
func entries(host string, n int) []Entry {
	list := make([]Entry, n)
	for i := range list {
		list[i] = entry(host, fmt.Sprint(i), 1)
	}
	return list
}

// addressOf returns the address of an entry's URL.
func addressOf(e Entry) address.Address {
	parsed, err := address.Parse(e.URL)
	if err != nil {
		panic(err) // the URLs of tests are valid
	}
	return parsed
}

func placeOf(e Entry) layout.Place { return layout.PlaceOf(addressOf(e).Site, e.ID) }

// inRuns returns the name in runs of an entry's URL.
func inRuns(e Entry) run.URL { return run.URL{Site: placeOf(e).Site(), ID: e.ID} }

func paths(list []Entry) []string {
	var urls []string
	for _, e := range list {
		urls = append(urls, e.URL[len("http://")+len(e.Host)+1:])
	}
	return urls
}

// result returns a Result for the URL of an entry.
func result(e Entry, s book.State) Result {
	return Result{ID: e.ID, Place: placeOf(e), State: s, Attempts: e.Attempts + 1}
}

// settlement returns a Settlement that gives all URLs of a lease the state s.
func settlement(l Lease, ended time.Time, s book.State) Settlement {
	t := Settlement{Version: l.Version, Host: l.Host, Ended: ended, Delay: time.Second}
	for _, e := range l.Entries {
		t.Outcomes = append(t.Outcomes, result(e, s))
	}
	return t
}

// fixture is a frontier in one Redis. Its methods fail the test if a call fails.
type fixture struct {
	*Frontier
	t testing.TB
}

// opened returns a frontier that is open in epoch 1.
func opened(t testing.TB, rdb redis.UniversalClient) fixture {
	t.Helper()
	f := fixture{New(rdb, 3).WithRuns(memblob.New()), t}
	f.must(f.Open(t.Context(), 1, "", nil))
	return f
}

func (f fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f fixture) admit(now time.Time, list ...Entry) int {
	f.t.Helper()
	admitted, err := f.Admit(f.t.Context(), now, list)
	f.must(err)
	return admitted.Added
}

func request(now time.Time) Request {
	return Request{Now: now, Deadline: now.Add(time.Minute), Max: 100, MaxBytes: 1 << 16, Connections: 1}
}

func (f fixture) lease(r Request) Lease {
	f.t.Helper()
	lease, ok, err := f.Lease(f.t.Context(), r)
	f.must(err)
	if !ok {
		f.t.Fatal("no host can be asked")
	}
	return lease
}

func (f fixture) noLease(r Request) {
	f.t.Helper()
	lease, ok, err := f.Lease(f.t.Context(), r)
	f.must(err)
	if ok {
		f.t.Fatalf("leased %+v, want nothing", lease)
	}
}

func (f fixture) settle(s Settlement) Settled {
	f.t.Helper()
	settled, err := f.Settle(f.t.Context(), s)
	f.must(err)
	return settled
}

func (f fixture) counts() Counts {
	f.t.Helper()
	counts, err := f.Counts(f.t.Context())
	f.must(err)
	return counts
}

// known returns the states of the known URLs, in Redis and in runs, by the bytes of their identities.
func (f fixture) known() map[string]string {
	f.t.Helper()
	known := f.retired()
	for id, state := range redistest.Known(f.t, f.rdb, f.partition) {
		if known[id] = state; state == "x" { // removed
			delete(known, id)
		}
	}
	return known
}

// retired returns the states in runs, by the bytes of the identities of their URLs.
func (f fixture) retired() map[string]string {
	f.t.Helper()
	text, err := New(f.rdb, f.partition).readList(f.t.Context())
	f.must(err)
	list, err := parseList(text)
	f.must(err)
	states := make(map[string]string)
	for one, err := range f.all(f.t.Context(), slices.Concat(list.Groups...)) {
		f.must(err)
		states[string(one.ID[:])] = one.State
	}
	return states
}

func (f fixture) pending() map[layout.Identity]bool {
	f.t.Helper()
	ids := map[layout.Identity]bool{}
	for id, err := range f.Pending(f.t.Context()) {
		f.must(err)
		ids[id] = true
	}
	return ids
}

// queueKey returns the key of one of a host's queues. The parameter band is the number of a band, "again", or "*"
// for a pattern that matches the keys of all of them.
func queueKey(t testing.TB, f *Frontier, band, host string) string {
	t.Helper()
	return f.key("q" + f.rdb.Get(t.Context(), f.key("generation")).Val() + ":" + band + ":" + host)
}

// memory returns a field of Redis' information about its memory.
func memory(t *testing.T, rdb redis.UniversalClient, field string) int {
	t.Helper()
	info := rdb.Info(t.Context(), "memory").Val()
	_, rest, _ := strings.Cut(info, field+":")
	used, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(used)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
