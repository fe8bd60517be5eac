package frontier

import (
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// model is a simple implementation of the frontier with maps. TestModel compares the frontier in
// Redis with it.
type model struct {
	urls     map[layout.Identity]*modelURL
	next     map[string]time.Time
	failures map[string]uint16
	leases   map[layout.Version]modelLease
	missed   bool
	// putOff holds a time for each host that had no URL to lease because of Request.Rooms. A request
	// r may pass over the host if r.Now + r.Horizon is before this time.
	putOff map[string]time.Time
}

type modelLease struct {
	Lease
	first  map[string]int64 // number of URLs on lease for the first time, by collection
	closed bool             // the lease is older than the last rebuild
}

// mostLeft is how many outdated elements (records in queues) a URL may have and still get another
// element.
const mostLeft = 16

func newModel() model {
	return model{
		urls: map[layout.Identity]*modelURL{}, next: map[string]time.Time{},
		failures: map[string]uint16{}, leases: map[layout.Version]modelLease{}, putOff: map[string]time.Time{},
	}
}

type modelURL struct {
	Entry                  // entry with which the URL waits or is leased
	state   byte           // 'w' waiting, 'p' parked, 'l' leased, 0 none of these
	lease   layout.Version // version of the lease that has the URL
	expired uint8          // number of the URL's leases that have expired, counted up to the constant Alone
	left    int            // number of outdated records of the URL in queues
	decided *Known         // final state; nil: none yet
}

func (u *modelURL) leasedBy(v layout.Version) bool { return u != nil && u.state == 'l' && u.lease == v }

// stored reports whether the page of the URL is stored. It remains stored while the URL waits for
// the next request.
func (u *modelURL) stored() bool {
	return u.decided != nil && (u.decided.State == book.Stored || u.decided.State == book.Unchanged)
}

// queue returns the number of the queue in which the URL waits. A host has 17 queues, and empties the
// lowest number first: 0 to 15 are the bands (levels of priority), and 16 holds stored pages that wait
// for a further request.
func (u *modelURL) queue() int {
	if u.stored() {
		return 16
	}
	return bandOf(u.Entry)
}

// undecided reports whether the URL has no final state, or only one of a lower version than v.
func (u *modelURL) undecided(v layout.Version) bool {
	return u.decided == nil || v.Compare(u.decided.Version) > 0
}

func (m *model) counts() Counts {
	c := Counts{Batches: int64(len(m.leases)), Missed: m.missed}
	for _, u := range m.urls {
		switch u.state {
		case 'w':
			c.Waiting++
		case 'l':
			c.Leased++
		case 'p':
			c.Parked++
		}
		if u.decided == nil {
			continue
		}
		if u.state == 'w' {
			c.Again++
		}
		switch u.decided.State {
		case book.Stored, book.Unchanged:
			c.Stored++
		case book.Skipped:
			c.Skipped++
		case book.Failed:
			c.Failed++
		}
	}
	return c
}

func (m *model) tallies() map[string]int64 {
	tallies := map[string]int64{}
	for _, u := range m.urls {
		if u.stored() {
			for _, name := range u.decided.Tallies {
				tallies[name]++
			}
		}
	}
	return tallies
}

func (m *model) out() map[string]int64 {
	out := map[string]int64{}
	for _, l := range m.leases {
		for collection, n := range l.first {
			out[collection] += n
		}
	}
	return out
}

func (m *model) active(host string) (n int) {
	for _, l := range m.leases {
		if l.Host == host {
			n++
		}
	}
	return n
}

// closed reports whether the host has a lease that is older than the last rebuild and has not
// ended.
func (m *model) closed(host string) bool {
	for _, l := range m.leases {
		if l.closed && l.Host == host {
			return true
		}
	}
	return false
}

func (m *model) admit(e Entry) (admitted Admitted) {
	u := m.urls[e.ID]
	tally, claimed := e.Tally, e.Claimed
	e.Tally, e.Claimed = "", false
	if u != nil && tally != "" {
		m.missed = m.missed || u.state != 0 && !claimed || u.state == 0 && u.decided.State == book.Skipped
	}
	switch {
	case u == nil:
		m.urls[e.ID] = &modelURL{Entry: e, state: 'w'}
		admitted.Added = 1
	case u.state == 'p' || u.state == 'w' && u.decided == nil && (e.Depth < u.Depth || bandOf(e) < bandOf(u.Entry)):
		m.missed = m.missed || tally != ""
		if u.state == 'w' {
			if tally != "" && bandOf(e) > bandOf(u.Entry) {
				break // a smaller depth, but a later band
			}
			if u.left >= mostLeft {
				m.missed = true
				break
			}
			u.left++
		}
		if tally == "" {
			if bandOf(e) >= bandOf(u.Entry) {
				e.Weight = u.Weight
			}
			e.Depth = min(e.Depth, u.Depth)
		}
		e.Attempts = u.Attempts
		u.Entry, u.state = e, 'w'
	case u.state == 0 && u.stored() && tally != "" && !slices.Contains(u.decided.Tallies, tally):
		admitted.Lacking = []layout.Identity{e.ID}
	}
	return admitted
}

func (m *model) decide(k Known) {
	u := m.urls[k.ID]
	if u == nil {
		u = &modelURL{}
		m.urls[k.ID] = u
	}
	if u.undecided(k.Version) {
		if u.state == 'w' {
			u.left++
		}
		u.state, u.decided = 0, &k
	}
}

func (m *model) renew(d Due) int {
	u := m.urls[d.ID]
	if u == nil || u.state != 0 || d.Version.Compare(u.decided.Version) < 0 {
		return 0
	}
	if u.left > mostLeft {
		m.missed = true
		return 0
	}
	u.Entry, u.state, u.expired = d.Entry, 'w', 0
	u.Tally, u.Claimed = "", false
	return 1
}

func bandOf(e Entry) int {
	if e.Weight > 0 {
		return 15 - int(e.Weight)/16
	}
	return min(int(e.Depth), 15)
}

func (m *model) settle(s Settlement) {
	for _, r := range s.Outcomes {
		if r.State != book.NotAsked && r.State != book.Retry {
			m.decide(Known{ID: r.ID, Place: r.Place, Version: s.Version, State: r.State, Tallies: r.Tallies})
		}
	}
	if l, out := m.leases[s.Version]; out && !s.Ended.Before(l.Deadline) {
		m.end(s.Version, true)
	}
	for _, r := range s.Outcomes {
		switch u := m.urls[r.ID]; {
		case r.State != book.Retry:
		case u.leasedBy(s.Version):
			u.state, u.Attempts, u.expired = 'w', r.Attempts, 0
		case u != nil && u.state != 0 && u.undecided(s.Version):
			u.Attempts = max(u.Attempts, r.Attempts)
		}
	}
	earliest := latest(s.Ended.Add(s.Delay), s.Rest)
	sooner := m.next[s.Host].Before(earliest)
	if sooner {
		m.next[s.Host] = earliest
	}
	if _, out := m.leases[s.Version]; out {
		m.end(s.Version, false)
		m.failures[s.Host] = s.Failures
	} else if sooner {
		m.failures[s.Host] = max(m.failures[s.Host], s.Failures)
	}
}

func (m *model) end(v layout.Version, expired bool) {
	for _, e := range m.leases[v].Entries {
		if u := m.urls[e.ID]; u.leasedBy(v) {
			u.state = 'w'
			if expired && u.expired < Alone {
				u.expired++
			}
		}
	}
	delete(m.leases, v)
}

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}
