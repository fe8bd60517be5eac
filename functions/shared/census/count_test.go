package census

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestCollection counts URLs of two collections, and checks how many are due and on the topic.
func TestCollection(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	bucket := memblob.New()
	seed := collection.Seed{URL: "http://a.example/", Scope: collection.Host, Depth: collection.Unlimited}
	daily := collection.Collection{Name: "daily", Seeds: []collection.Seed{seed}, HostConnections: 1, Agent: "test", Schedule: "daily at 09:30"}
	sails := collection.Collection{Name: "sails", Seeds: []collection.Seed{seed}, HostConnections: 1, Agent: "test"}
	sails.Topic = &collection.Topic{Words: []string{"sail"}, Threshold: 0.3}
	for _, c := range []collection.Collection{daily, sails} {
		if _, err := collection.Publish(t.Context(), bucket, c); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(t.Context(), bucket, rules.Even(kind, 1, noon)); err != nil {
			t.Fatal(err)
		}
	}
	inForce, err := settings.Read(t.Context(), bucket, noon)
	if err != nil {
		t.Fatal(err)
	}
	url := func(name string, state account.State, weight uint8, ago time.Duration) account.URL {
		return account.URL{Collection: name, State: state, Admitted: true, Final: book.Outcome{
			State: book.Stored, URL: seed.URL, Weight: weight, Time: noon.Add(-ago), Collections: []string{name},
		}}
	}
	// One page of the collection sails is no longer admitted, and so is never due.
	counted := tally{settings: inForce, hosts: make(map[string]*host), part: Part{Time: noon}}
	for _, u := range []account.URL{
		url("daily", account.Stored, 0, 3*time.Hour), url("daily", account.Stored, 0, time.Hour),
		url("daily", account.Pending, 0, time.Hour), url("daily", account.Failed, 0, time.Hour),
		{Collection: "sails", State: account.Stored, Final: book.Outcome{State: book.Stored, Time: noon.Add(-72 * time.Hour), Collections: []string{"sails"}}},
		url("sails", account.Stored, 77, 10*time.Hour), url("sails", account.Stored, 76, 9*time.Hour), url("sails", account.Stored, 255, 25*time.Hour),
	} {
		counted.add(u)
	}
	c := &Census{Parts: []Part{counted.part}}
	for name, want := range map[string]struct {
		stored, pending, onTopic, due int
		next                          time.Time
	}{
		"daily": {2, 1, 0, 1, noon.Add(21*time.Hour + 30*time.Minute)},
		"sails": {4, 0, 2, 1, noon.Add(14 * time.Hour)},
	} {
		got := c.Collection(name)
		due, next := got.DueAt(noon)
		if got.Stored != want.stored || got.Pending != want.pending || got.OnTopic != want.onTopic || due != want.due || !next.Equal(want.next) {
			t.Errorf("%s: %+v, %d due, the next at %v; want %+v", name, got, due, next, want)
		}
	}
}

// TestDue counts pages that become due at certain times. The numbers of each later time must be right, or known to be
// out of date.
func TestDue(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var due []time.Time
	for _, minutes := range []int{-90, -1, 0, 5, 59, 60, 61, 130, 150, 300} {
		due = append(due, noon.Add(time.Duration(minutes)*time.Minute))
	}
	var c Collection
	for _, at := range due {
		c.addDue(at, noon)
	}
	held := 0
	for minutes := -100; minutes < 400; minutes += 5 {
		now := noon.Add(time.Duration(minutes) * time.Minute)
		if !c.holdsAt(now, noon) {
			continue
		}
		held++
		want, wantNext := 0, time.Time{}
		for _, at := range due {
			if !at.After(now) {
				want++
			} else if wantNext.IsZero() {
				wantNext = at
			}
		}
		if got, next := c.DueAt(now); got != want || !next.Equal(wantNext) {
			t.Errorf("%d minutes later %d are due, the next at %v; want %d, %v", minutes, got, next, want, wantNext)
		}
	}
	if held < 40 || len(c.Due) != 5 {
		t.Errorf("the numbers hold at %d of 80 times, in %d groups", held, len(c.Due))
	}
}
