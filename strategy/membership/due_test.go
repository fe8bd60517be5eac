package membership_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

func TestDue(t *testing.T) {
	const day = 24 * time.Hour
	never, renew := time.Time{}, noon.Add(time.Hour)
	stored, unchanged := book.Outcome{State: book.Stored}, book.Outcome{State: book.Unchanged, Exponent: 3}
	missing := book.Outcome{State: book.Unchanged, Reason: "http 404", Status: 404, Exponent: -2}
	skipped := func(reason string) book.Outcome { return book.Outcome{State: book.Skipped, Reason: reason} }
	failed := book.Outcome{State: book.Failed, Reason: "timeout"}
	for _, test := range []struct {
		name     string
		schedule collection.Schedule
		renew    time.Time
		last     book.Outcome
		want     time.Time
	}{
		{"stored", "", never, stored, noon.Add(day)},
		{"unchanged", "", never, unchanged, noon.Add(8 * day)},
		{"missing", "", never, missing, noon.Add(day / 4)},
		{"sitemap", "", never, skipped(membership.Sitemap), noon.Add(day)},
		{"stored, daily", "daily at 09:30", never, unchanged, noon.Add(21*time.Hour + 30*time.Minute)},
		{"stored, once", "once", never, stored, never},
		{"stored, renewed", "", renew, stored, renew},
		{"stored, once, renewed", "once", renew, stored, renew},
		{"due before it is renewed", "every 30m", renew, stored, noon.Add(30 * time.Minute)},
		{"stored since it was renewed", "", noon, stored, noon.Add(day)},
		{"robots", "", never, skipped(membership.Robots), never},
		{"robots, daily", "every 1d", never, skipped(membership.Robots), noon.Add(day / 2)},
		{"robots, renewed", "", renew, skipped(membership.Robots), renew},
		{"pages of the host, renewed", "", renew, skipped(membership.HostFull), renew},
		{"pages alike, renewed", "", renew, skipped(membership.AlikeFull), renew},
		{"alias", "", never, skipped(membership.Canonical), noon.Add(8 * day)},
		{"old alias", "", never, book.Outcome{State: book.Skipped, Reason: membership.Canonical, Exponent: 5}, noon.Add(32 * day)},
		{"alias, daily", "every 1d", never, skipped(membership.Canonical), noon.Add(8*day + day/2)},
		{"alias, once", "once", never, skipped(membership.Canonical), never},
		{"alias, renewed", "once", renew, skipped(membership.Canonical), never},
		{"redirect, daily", "every 1d", renew, skipped("redirect"), never},
		{"failed", "", renew, failed, never},
		{"failed, daily", "every 1d", never, failed, noon.Add(day / 2)},
		{"failed, once", "once", renew, failed, never},
		{"retry", "every 1d", renew, book.Outcome{State: book.Retry}, never},
		{"lost", "every 1d", renew, book.Outcome{State: book.Lost}, never},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := docs()
			c.Schedule, c.Renew = test.schedule, test.renew
			s := members(t, anywhere, c)
			test.last.Time = noon
			test.last.Collections = []string{"shop", "docs"}
			if got := s.Due(test.last); !got.Equal(test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
			test.last.Collections = []string{"shop"}
			if got := s.Due(test.last); !got.IsZero() {
				t.Errorf("of a collection that is none: %v", got)
			}
		})
	}
}

// TestDueOfSeveral: a page belongs to several collections. The method Due returns the earliest time at
// which the page is due for any of them, even for one that no longer admits the page. The method Still
// leaves out such a collection.
func TestDueOfSeveral(t *testing.T) {
	daily, hourly, once := docs(), docs(), docs()
	daily.Name, daily.Schedule = "daily", "every 1d"
	hourly.Name, hourly.Schedule, hourly.Exclude = "hourly", "every 1h", []string{"*/old"}
	once.Name, once.Schedule = "once", "once"
	s := members(t, anywhere, daily, hourly, once)
	for _, test := range []struct {
		page        string
		collections []string
		want        time.Time
		still       []string
	}{
		{"a", []string{"daily", "hourly", "once"}, noon.Add(time.Hour), []string{"daily", "hourly", "once"}},
		{"old", []string{"hourly", "daily"}, noon.Add(time.Hour), []string{"daily"}},
		{"a", []string{"once", "daily"}, noon.Add(12 * time.Hour), []string{"once", "daily"}},
		{"a", []string{"once", "none"}, time.Time{}, []string{"once"}},
		{"a", nil, time.Time{}, nil},
	} {
		last := book.Outcome{State: book.Stored, Time: noon, Depth: 1, Collections: test.collections}
		if got := s.Due(last); !got.Equal(test.want) {
			t.Errorf("%q: due at %v, want %v", test.collections, got, test.want)
		}
		if diff := cmp.Diff(test.still, s.Still(last, parse(t, "http://docs.example/"+test.page))); diff != "" {
			t.Errorf("%s of %q (-want still +got):\n%s", test.page, test.collections, diff)
		}
	}
}
