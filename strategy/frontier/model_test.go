package frontier

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// model is the frontier as plain maps.
type model struct {
	urls     map[layout.Identity]*modelURL
	next     map[string]time.Time
	failures map[string]uint16
	leases   map[layout.Version]Lease
}

func newModel() model {
	return model{
		urls: map[layout.Identity]*modelURL{}, next: map[string]time.Time{},
		failures: map[string]uint16{}, leases: map[layout.Version]Lease{},
	}
}

type modelURL struct {
	Entry                  // as it waits or is leased
	state   byte           // 'w', 'l' or, when it is not asked for, 0
	lease   layout.Version // that has it
	expired uint8          // leases, up to Alone
	decided *Known         // nil: nothing yet
}

func (u *modelURL) leasedBy(v layout.Version) bool { return u != nil && u.state == 'l' && u.lease == v }

// stored reports whether it is a page that is stored, asked again or not.
func (u *modelURL) stored() bool {
	return u.decided != nil && (u.decided.State == book.Stored || u.decided.State == book.Unchanged)
}

// queue is the place of the queue in which it waits, among those of its host.
func (u *modelURL) queue() int {
	if u.stored() {
		return 16
	}
	return bandOf(u.Entry)
}

// undecided reports whether an outcome of the version is news.
func (u *modelURL) undecided(v layout.Version) bool {
	return u.decided == nil || v.Compare(u.decided.Version) > 0
}

func (m *model) counts() Counts {
	c := Counts{Batches: int64(len(m.leases))}
	for _, u := range m.urls {
		switch u.state {
		case 'w':
			c.Waiting++
		case 'l':
			c.Leased++
		}
		if u.decided == nil {
			continue
		}
		if u.stored() && u.state != 0 {
			c.Again++
		}
		if u.stored() && u.state == 'l' {
			c.LeasedAgain++
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

func (m *model) active(host string) (n int) {
	for _, l := range m.leases {
		if l.Host == host {
			n++
		}
	}
	return n
}

// waiting are the URLs of a host that wait, or only the pages asked again.
func (m *model) waiting(host string, again bool) (list []*modelURL) {
	for _, u := range m.urls {
		if u.Host == host && u.state == 'w' && (!again || u.stored()) {
			list = append(list, u)
		}
	}
	return list
}

func (m *model) admit(e Entry) {
	u := m.urls[e.ID]
	if u == nil {
		m.urls[e.ID] = &modelURL{Entry: e, state: 'w'}
	} else if u.state == 'w' && u.decided == nil && (e.Depth < u.Depth || bandOf(e) < bandOf(u.Entry)) {
		if bandOf(e) >= bandOf(u.Entry) {
			e.Weight = u.Weight
		}
		e.Depth, e.Attempts = min(e.Depth, u.Depth), u.Attempts
		u.Entry = e
	}
}

func (m *model) decide(k Known) {
	u := m.urls[k.ID]
	if u == nil {
		u = &modelURL{}
		m.urls[k.ID] = u
	}
	if u.undecided(k.Version) {
		u.state, u.decided = 0, &k
	}
}

func (m *model) renew(d Due) int {
	u := m.urls[d.ID]
	if u == nil || u.state != 0 || d.Version.Compare(u.decided.Version) < 0 {
		return 0
	}
	u.Entry, u.state, u.expired = d.Entry, 'w', 0
	return 1
}

// leased says what must hold of a lease that was given, and takes it.
func (m *model) leased(r Request, l Lease) error {
	if m.active(l.Host) >= r.Connections {
		return fmt.Errorf("%d leases were out on %s", m.active(l.Host), l.Host)
	}
	if want := latest(r.Now, m.next[l.Host]); !l.NotBefore.Equal(want) || want.After(r.Now.Add(r.Horizon)) {
		return fmt.Errorf("not before %v, want %v", l.NotBefore, want)
	}
	if want := m.failures[l.Host]; l.Failures != want {
		return fmt.Errorf("%d failures of %s, want %d", l.Failures, l.Host, want)
	}
	var place, bytes int
	most := r.Max
	for i, e := range l.Entries {
		u := m.urls[e.ID]
		if u == nil || u.state != 'w' {
			return fmt.Errorf("%s did not wait", e.URL)
		}
		if r.Again && !u.stored() {
			return fmt.Errorf("%s is not stored", e.URL)
		}
		if diff := cmp.Diff(u.Entry, e); diff != "" {
			return fmt.Errorf("%s is not as it was to wait: %s", e.URL, diff)
		}
		if bytes += u.size(); bytes > r.MaxBytes && i > 0 {
			return fmt.Errorf("%d bytes of URLs", bytes)
		}
		if u.queue() < place {
			return fmt.Errorf("%s comes after one of a later queue", e.URL)
		}
		place, most = u.queue(), together(most, u)
		u.state, u.lease = 'l', l.Version
	}
	if len(l.Entries) > most {
		return fmt.Errorf("%d leased, at most %d may be", len(l.Entries), most)
	}
	left := m.waiting(l.Host, r.Again)
	first := place
	if len(left) > 0 {
		first = slices.MinFunc(left, func(a, b *modelURL) int { return a.queue() - b.queue() }).queue()
	}
	if first < place {
		return fmt.Errorf("one of queue %d was left out for those of queue %d", first, place)
	}
	size := 0
	for _, u := range left { // the next is one of these
		if u.queue() == first {
			most, size = together(most, u), max(size, u.size())
		}
	}
	full := len(l.Entries) >= most || bytes+size > r.MaxBytes // the next may not have fit
	if len(left) > 0 && !full || len(l.Entries) == 0 || len(l.Entries) > r.Max {
		return fmt.Errorf("%d leased, %d left", len(l.Entries), len(left))
	}
	m.leases[l.Version] = l
	return nil
}

func bandOf(e Entry) int {
	if e.Weight > 0 {
		return 15 - int(e.Weight)/16
	}
	return min(int(e.Depth), 15)
}

// size is how much of a lease's bytes the URL takes.
func (u *modelURL) size() int {
	var version string
	if u.decided != nil {
		version = u.decided.Version.String()
	}
	element, err := u.element(version)
	if err != nil {
		panic(err)
	}
	return len(element) - headerBytes
}

// together is how many URLs may be leased with one, of so many.
func together(most int, u *modelURL) int {
	switch max(u.Attempts, u.expired) {
	case 0:
		return most
	case 1:
		return min(most, 12)
	}
	return 1
}

// refused says what must hold when there was no lease.
func (m *model) refused(r Request, hosts []string) error {
	for _, h := range hosts {
		if len(m.waiting(h, r.Again)) > 0 && m.active(h) < r.Connections && !m.next[h].After(r.Now.Add(r.Horizon)) {
			return fmt.Errorf("host %s could have been asked", h)
		}
	}
	return nil
}

func (m *model) settle(s Settlement) {
	for _, r := range s.Outcomes {
		switch u := m.urls[r.ID]; {
		case r.State == book.NotAsked:
		case r.State != book.Retry:
			m.decide(Known{ID: r.ID, Version: s.Version, State: r.State, Depth: r.Depth, Tallies: r.Tallies})
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
