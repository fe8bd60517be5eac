package system

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// fetches holds the last state of each batch that this process is fetching, or has fetched lately.
// It is safe for concurrent use.
type fetches struct {
	mu      sync.Mutex // protects batches
	batches map[layout.Version]heard
}

// heard is the state of a batch, and the time at which fetch told it.
type heard struct {
	fetch.Moment
	at time.Time
}

// hear stores the state of a batch; it is the function that fetch.Function.Watch is set to. When it hears
// of a new batch, it deletes the states of batches of which it has heard nothing for longer than the
// function fetch may run.
func (f *fetches) hear(m fetch.Moment) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.batches == nil {
		f.batches = make(map[layout.Version]heard)
	}
	if _, known := f.batches[m.Batch]; !known {
		maps.DeleteFunc(f.batches, func(_ layout.Version, h heard) bool { return now.Sub(h.at) > task.Timeout(task.Fetch) })
	}
	f.batches[m.Batch] = heard{m, now}
}

// of returns the last states of those of the given batches that are known.
func (f *fetches) of(batches []layout.Version) []fetch.Moment {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []fetch.Moment
	for _, batch := range batches {
		if h, known := f.batches[batch]; known {
			all = append(all, h.Moment)
		}
	}
	return all
}

// Turn says which host the crawl sends its next request to, and when, or which hosts it is sending
// requests to now.
type Turn struct {
	frontier.Next     // the host, "" if it is not known, and the time of the next request to it; zero: a request is under way
	More          int // number of further hosts to which requests are under way
}

// turnOf returns the turn of the batches that are being fetched: hosts to which requests are under
// way, or else the host of the next request.
func turnOf(batches []fetch.Moment) (t Turn) {
	busy := make(map[string]bool)
	for _, b := range batches {
		if b.Next.IsZero() {
			busy[b.Host] = true
		} else if t.Host == "" || b.Next.Before(t.At) {
			t.Host, t.At = b.Host, b.Next
		}
	}
	if hosts := slices.Sorted(maps.Keys(busy)); len(hosts) > 0 {
		return Turn{Next: frontier.Next{Host: hosts[0]}, More: len(hosts) - 1}
	}
	return t
}

// soonest returns the earliest next request in all the frontiers. It does not consider batches that are
// being fetched. The result has the host "" if no URL waits.
func soonest(ctx context.Context, fronts []*frontier.Frontier) (first frontier.Next, err error) {
	for _, front := range fronts {
		next, found, err := front.Soonest(ctx)
		if err != nil {
			return first, err
		}
		if found && (first.Host == "" || next.At.Before(first.At)) {
			first = next
		}
	}
	return first, nil
}

// frontiersOf returns the frontiers of all crawl partitions.
func frontiersOf(rdb goredis.UniversalClient, inForce *settings.Settings) (all []*frontier.Frontier) {
	for _, crawl := range inForce.Crawl.Partitions() {
		all = append(all, frontier.New(rdb, crawl))
	}
	return all
}

// Text returns a clause such as "next request to example.org in 1 s". The parameter now is the present
// time. The clause is "" if the host is not known.
func (t Turn) Text(now time.Time) string {
	switch wait := t.At.Sub(now); {
	case t.Host == "":
		return ""
	case t.At.IsZero() && t.More > 0:
		return fmt.Sprintf("asking %s and %d more", t.Host, t.More)
	case t.At.IsZero():
		return "asking " + t.Host
	case wait > 2*time.Minute:
		return fmt.Sprintf("next request to %s at %s UTC", t.Host, t.At.UTC().Format(time.TimeOnly))
	default:
		return fmt.Sprintf("next request to %s in %d s", t.Host, max(1, int((wait+time.Second-1)/time.Second)))
	}
}
