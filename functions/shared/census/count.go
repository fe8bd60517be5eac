package census

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Counts are numbers of URLs by their states.
type Counts struct {
	Discovered int            `json:"discovered,omitempty"`
	Stored     int            `json:"stored,omitempty"`
	Assets     int            `json:"assets,omitempty"`  // number of the stored URLs that are assets of pages
	Skipped    map[string]int `json:"skipped,omitempty"` // by the reason
	Failed     map[string]int `json:"failed,omitempty"`  // by the reason
	Pending    int            `json:"pending,omitempty"`
	HeldBack   int            `json:"held_back,omitempty"` // number of pending URLs that wait because the crawl is limited to other collections or seeds
	Unplaced   int            `json:"unplaced,omitempty"`  // number of URLs that no rule of a strategy assigns to a partition
	Remarks    map[string]int `json:"remarks,omitempty"`   // number of stored pages that may be incomplete or wrong, by reason (see book.Panicked)
}

// Collection has the numbers of the URLs that belong to a collection (see Belongs).
type Collection struct {
	Counts
	OnTopic int   `json:"on_topic,omitempty"` // number of stored pages that are on the collection's topic, by its threshold
	Due     []Due `json:"due,omitempty"`      // stored and failed URLs that are to be requested again, the earliest first
}

// Due is a number of stored and failed URLs, and the earliest time at which one of them is due to be requested again. Those
// that were due when they were counted are one Due. Of the others, those that become due within the same hour (UTC)
// are one Due. So it is known how many URLs are due, except during an hour in which several become due.
type Due struct {
	At   time.Time `json:"at"`
	URLs int       `json:"urls"`
}

// Silent is a host whose last requests got status 429 or 503, or no answer.
type Silent struct {
	Host     string    `json:"host"`
	Failures int       `json:"failures"`            // consecutive requests without an answer, or with status 429 or 503
	Rest     time.Time `json:"rest_until,omitzero"` // the host gets no request before this time
	Pending  []string  `json:"pending,omitempty"`   // names of the collections that have pending URLs on the host, sorted
}

// Belongs reports whether a URL counts as one of the named collection. It does in two cases:
//
//   - The last final outcome of the URL (u.Final) is that of a request for this collection.
//   - The URL is not stored, and u.Collection names this collection: the URL will be requested for
//     it, or is refused by it.
func Belongs(u account.URL, collection string) bool {
	return slices.Contains(u.Final.Collections, collection) || u.Collection == collection && u.State != account.Stored
}

// IsAsset reports whether a stored URL is an asset of pages, such as an image.
func IsAsset(u account.URL) bool { return u.Page != nil && u.Page.Asset }

// count counts the URLs in some ranges of whole sites, in one pass. Each range must begin where the one before it ends.
func count(ctx context.Context, books *account.Bucket, s *settings.Settings, ranges []layout.Range, now time.Time, each func(account.URL)) ([]Part, error) {
	tallies := make([]tally, len(ranges))
	for i, r := range ranges {
		tallies[i] = tally{settings: s, hosts: make(map[string]*host), part: Part{Range: r, Time: now.UTC()}}
	}
	of := func(at layout.Place) *tally {
		i, begins := slices.BinarySearchFunc(ranges, at, func(r layout.Range, at layout.Place) int { return cmp.Compare(r.From, at) })
		if !begins {
			i--
		}
		return &tallies[max(i, 0)] // below the ranges is only a URL whose site got another hash after it was recorded
	}
	for u, err := range books.All(ctx, layout.Range{From: ranges[0].From, To: ranges[len(ranges)-1].To}) {
		if err != nil {
			return nil, err
		}
		of(u.Address.Place).add(u)
		if each != nil {
			each(u)
		}
	}
	for pace := range books.Paces() {
		of(pace.At.Place).addPace(pace)
	}
	parts := make([]Part, len(tallies))
	for i := range tallies {
		parts[i] = tallies[i].part
		for _, c := range parts[i].Collections {
			slices.SortFunc(c.Due, func(a, b Due) int { return a.At.Compare(b.At) })
		}
		slices.SortFunc(parts[i].Silent, func(a, b Silent) int { return cmp.Compare(a.Host, b.Host) })
	}
	return parts, nil
}

// tally counts the URLs of a part.
type tally struct {
	settings *settings.Settings
	part     Part
	hosts    map[string]*host // by the name of the host
}

// host is what is known of a host.
type host struct {
	answered layout.Version // version of the last answer that decided the state of a URL; zero if there is none
	pending  bool           // the host has pending URLs
	wanting  []string       // names of the collections that have pending URLs on the host
}

// add counts a URL: among all, and for each collection to which it belongs.
func (t *tally) add(u account.URL) {
	h := t.hosts[u.Address.Host]
	if h == nil {
		h = new(host)
		t.hosts[u.Address.Host] = h
	}
	if u.Final.Status != 0 && u.Final.Version.Compare(h.answered) > 0 {
		h.answered = u.Final.Version
	}
	h.pending = h.pending || u.State == account.Pending
	if u.Final.Time.After(t.part.Last) {
		t.part.Last = u.Final.Time.UTC()
	}
	t.part.All.add(u)
	for i := range t.settings.Collections {
		of := &t.settings.Collections[i]
		if !Belongs(u, of.Name) {
			continue
		}
		if t.part.Collections == nil {
			t.part.Collections = make(map[string]Collection)
		}
		c := t.part.Collections[of.Name]
		c.add(u, of)
		if due := t.settings.Due(u.Final); (u.State == account.Stored || u.State == account.Failed) && u.Admitted && !due.IsZero() {
			c.addDue(due.UTC(), t.part.Time)
		}
		t.part.Collections[of.Name] = c
		if u.State == account.Pending && !slices.Contains(h.wanting, of.Name) {
			h.wanting = append(h.wanting, of.Name)
		}
	}
}

// addPace adds a host to those that do not answer, if its last requests have failed and URLs are pending there.
func (t *tally) addPace(pace account.Pace) {
	h := t.hosts[pace.At.Host]
	if h == nil || !h.pending || pace.Failures == 0 || pace.Version.Compare(h.answered) < 0 {
		return
	}
	slices.Sort(h.wanting)
	t.part.Silent = append(t.part.Silent, Silent{pace.At.Host, int(pace.Failures), pace.Rest, h.wanting})
}

// add counts a URL of the collection, except in Due.
func (c *Collection) add(u account.URL, of *collection.Collection) {
	c.Counts.add(u)
	if of.Topic != nil && u.State == account.Stored && float64(u.Final.Weight) >= math.Ceil(float64(of.Topic.Threshold)*math.MaxUint8) {
		c.OnTopic++
	}
}

// addDue counts a URL that is due at a time, among those that are due now or among those of the same hour.
func (c *Collection) addDue(at, now time.Time) {
	for i := range c.Due {
		d := &c.Due[i]
		if isDue := !at.After(now); isDue != !d.At.After(now) || !isDue && !hourOf(d.At).Equal(hourOf(at)) {
			continue
		}
		d.URLs++
		if at.Before(d.At) {
			d.At = at
		}
		return
	}
	c.Due = append(c.Due, Due{at, 1})
}

// DueAt returns the number of stored and failed URLs that are due at the time of Census.Update, and when the next becomes
// due; the zero time if none does.
func (c *Collection) DueAt(now time.Time) (due int, next time.Time) {
	for _, d := range c.Due {
		switch {
		case !d.At.After(now):
			due += d.URLs
		case next.IsZero() || d.At.Before(next):
			next = d.At
		}
	}
	return due, next
}

// holdsAt reports whether DueAt gives the right numbers at a time after the given one at which the pages were counted.
func (c *Collection) holdsAt(now, counted time.Time) bool {
	return !now.Before(counted) && !slices.ContainsFunc(c.Due, func(d Due) bool {
		return d.URLs > 1 && d.At.After(counted) && !d.At.After(now) && now.Before(hourOf(d.At).Add(time.Hour))
	})
}

func hourOf(t time.Time) time.Time { return t.Truncate(time.Hour) }

// add counts a URL by its state, and by the reason if it was skipped or has failed.
func (c *Counts) add(u account.URL) {
	c.Discovered++
	if u.Apart == membership.NoPartition {
		c.Unplaced++
	}
	switch u.State {
	case account.Stored:
		c.Stored++
		if IsAsset(u) {
			c.Assets++
		}
		if u.Page != nil && u.Page.Reason != "" {
			increase(&c.Remarks, u.Page.Reason, 1)
		}
	case account.Skipped:
		increase(&c.Skipped, u.Reason, 1)
	case account.Failed:
		increase(&c.Failed, u.Reason, 1)
	case account.Pending:
		c.Pending++
		if u.Apart == membership.HeldBack {
			c.HeldBack++
		}
	}
}

// join adds the numbers of other URLs.
func (c *Counts) join(other Counts) {
	c.Discovered += other.Discovered
	c.Stored += other.Stored
	c.Assets += other.Assets
	c.Pending += other.Pending
	c.HeldBack += other.HeldBack
	c.Unplaced += other.Unplaced
	for _, of := range []struct {
		sum  *map[string]int
		more map[string]int
	}{{&c.Skipped, other.Skipped}, {&c.Failed, other.Failed}, {&c.Remarks, other.Remarks}} {
		for reason, n := range of.more {
			increase(of.sum, reason, n)
		}
	}
}

func increase(numbers *map[string]int, reason string, by int) {
	if *numbers == nil {
		*numbers = make(map[string]int)
	}
	(*numbers)[reason] += by
}
