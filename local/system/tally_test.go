package system

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

func TestTallies(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	bucket := memblob.New()
	seed := collection.Seed{URL: "http://a.example/", Scope: collection.Host, Depth: collection.Unlimited}
	daily, sails := file("daily", seed), file("sails", seed)
	daily.Schedule, daily.Agent = "daily at 09:30", "test"
	sails.Topic, sails.Agent = &collection.Topic{Words: []string{"sail"}, Threshold: 0.3}, "test"
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
	for _, c := range []struct {
		name string
		want []CollectionStatus
	}{
		{"", []CollectionStatus{
			{Name: "daily", Stored: 2, Pending: 1, Due: 1, Next: noon.Add(21*time.Hour + 30*time.Minute), Schedule: "daily at 09:30"},
			{Name: "sails", Stored: 4, Due: 1, Next: noon.Add(14 * time.Hour), OnTopic: new(2)},
		}},
		{"sails", []CollectionStatus{{Name: "sails", Stored: 4, Due: 1, Next: noon.Add(14 * time.Hour), OnTopic: new(2)}}},
	} {
		// One page of the collection sails is no longer admitted, and so is never due.
		counted := newTallies(inForce, c.name, noon)
		for _, u := range []account.URL{
			url("daily", account.Stored, 0, 3*time.Hour), url("daily", account.Stored, 0, time.Hour),
			url("daily", account.Pending, 0, time.Hour), url("daily", account.Failed, 0, time.Hour),
			{Collection: "sails", State: account.Stored, Final: book.Outcome{State: book.Stored, Time: noon.Add(-72 * time.Hour), Collections: []string{"sails"}}},
			url("sails", account.Stored, 77, 10*time.Hour), url("sails", account.Stored, 76, 9*time.Hour), url("sails", account.Stored, 255, 25*time.Hour),
		} {
			counted.add(u)
		}
		if diff := cmp.Diff(c.want, counted.all); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.name, diff)
		}
	}
}
