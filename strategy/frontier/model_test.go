package frontier

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// model is the frontier as plain maps.
type model struct {
	urls     map[string]*modelURL
	next     map[string]time.Time
	failures map[string]uint16
	leases   map[layout.Version]Lease
}

type modelURL struct {
	Entry
	state   book.State // 'w', 'l' or a final one
	version layout.Version
	expired uint8 // leases, up to Alone
}

func (m *model) counts() Counts {
	c := Counts{Batches: int64(len(m.leases))}
	for _, u := range m.urls {
		switch u.state {
		case 'w':
			c.Waiting++
		case 'l':
			c.Leased++
		case book.Stored:
			c.Stored++
		case book.Skipped:
			c.Skipped++
		case book.Failed:
			c.Failed++
		}
	}
	return c
}

func (m *model) active(host string) (n int) {
	for _, l := range m.leases {
		if l.Host == host {
			n++
		}
	}
	return n
}

func (m *model) waiting(host string) (list []*modelURL) {
	for _, u := range m.urls {
		if u.Host == host && u.state == 'w' {
			list = append(list, u)
		}
	}
	return list
}

func (m *model) admit(e Entry) {
	u := m.urls[e.URL]
	if u == nil {
		m.urls[e.URL] = &modelURL{Entry: e, state: 'w'}
	} else if u.state == 'w' && e.Depth < u.Depth {
		e.Attempts = u.Attempts
		u.Entry = e
	}
}

func (m *model) decide(url string, s book.State, v layout.Version, depth uint16) {
	u := m.urls[url]
	if u == nil {
		u = &modelURL{state: 'w'}
		m.urls[url] = u
	}
	if u.state == 'w' || u.state == 'l' || v.Compare(u.version) > 0 {
		if s == book.Unchanged {
			s = book.Stored
		}
		u.state, u.version, u.Depth = s, v, depth
	}
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
	var band, bytes int
	for i, e := range l.Entries {
		u := m.urls[e.URL]
		if u == nil || u.state != 'w' {
			return fmt.Errorf("%s did not wait", e.URL)
		}
		if diff := cmp.Diff(u.Entry, e); diff != "" {
			return fmt.Errorf("%s is not as admitted: %s", e.URL, diff)
		}
		if bytes += len(e.URL); bytes > r.MaxBytes && i > 0 {
			return fmt.Errorf("%d bytes of URLs", bytes)
		}
		if band16(e) < band {
			return fmt.Errorf("%s comes after a deeper one", e.URL)
		}
		band = band16(e)
		u.state, u.version = 'l', l.Version
	}
	left := m.waiting(l.Host)
	for _, u := range left {
		if int(u.Depth) < band {
			return fmt.Errorf("%s was left out for deeper ones", u.URL)
		}
	}
	most := r.Max
	for _, e := range l.Entries {
		most = together(most, m.urls[e.URL])
	}
	if len(l.Entries) > most {
		return fmt.Errorf("%d leased, at most %d may be", len(l.Entries), most)
	}
	for _, u := range left { // the next is one of the shallowest band
		if !slices.ContainsFunc(left, func(other *modelURL) bool { return band16(other.Entry) < band16(u.Entry) }) {
			most = together(most, u)
		}
	}
	full := len(l.Entries) >= most || bytes+len("http://h3:8080/299") > r.MaxBytes // the next may not have fit
	if len(left) > 0 && !full || len(l.Entries) == 0 || len(l.Entries) > r.Max {
		return fmt.Errorf("%d leased, %d left", len(l.Entries), len(left))
	}
	m.leases[l.Version] = l
	return nil
}

func band16(e Entry) int { return min(int(e.Depth), 15) }

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
		if len(m.waiting(h)) > 0 && m.active(h) < r.Connections && !m.next[h].After(r.Now.Add(r.Horizon)) {
			return fmt.Errorf("host %s could have been asked", h)
		}
	}
	return nil
}

func (m *model) settle(s Settlement) {
	for _, r := range s.Outcomes {
		switch u := m.urls[r.URL]; r.State {
		case book.Retry:
			if u == nil || u.state != 'w' && u.state != 'l' {
				break
			}
			if _, out := m.leases[s.Version]; out && u.state == 'l' && u.version == s.Version {
				u.state, u.Entry, u.expired = 'w', r.entry(), 0
				u.Host = s.Host
			} else {
				u.Attempts = max(u.Attempts, r.Attempts)
			}
		case book.NotAsked:
		default:
			m.decide(r.URL, r.State, s.Version, r.Depth)
		}
	}
	if _, out := m.leases[s.Version]; out {
		m.end(s.Version, false)
		m.next[s.Host] = latest(m.next[s.Host], s.Ended.Add(s.Delay), s.Rest)
		m.failures[s.Host] = s.Failures
	}
}

func (m *model) end(v layout.Version, expired bool) {
	for _, e := range m.leases[v].Entries {
		if u := m.urls[e.URL]; u.state == 'l' && u.version == v {
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

// TestModel does thousands of random things, among them settlements that come
// twice, late and out of order, to the frontier and to the model.
func TestModel(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for seed := range uint64(2) {
			if err := rdb.FlushDB(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			run := modelRun{
				fixture:     opened(t, rdb),
				rand:        rand.New(rand.NewPCG(seed, 1)),
				now:         noon,
				connections: 1 + int(seed%2),
				model: model{
					urls: map[string]*modelURL{}, next: map[string]time.Time{}, failures: map[string]uint16{}, leases: map[layout.Version]Lease{},
				},
			}
			for step := range 1200 {
				err := run.step()
				if err == nil && step%25 == 24 {
					err = run.compareKnown()
				}
				if err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
			}
		}
	})
}

var modelHosts = []string{"h0", "h1", "h2", "h3:8080"}

type modelRun struct {
	fixture
	model   model
	rand    *rand.Rand
	now     time.Time
	settled []Settlement // of all batches so far

	connections int
}

func (m *modelRun) step() error {
	m.now = m.now.Add(time.Duration(m.rand.IntN(400)) * time.Millisecond)
	switch n := m.rand.IntN(20); {
	case n < 5:
		m.admitSome()
	case n < 12:
		if err := m.leaseOne(); err != nil {
			return err
		}
	case n < 18 && len(m.settled) > 0:
		s := m.settled[len(m.settled)-1-m.rand.IntN(min(6, len(m.settled)))]
		if m.rand.IntN(5) == 0 {
			s = m.settled[m.rand.IntN(len(m.settled))]
		}
		m.fixture.settle(s)
		m.model.settle(s)
	case n == 18:
		if _, err := m.Expire(m.t.Context(), m.now); err != nil {
			return err
		}
		for v, l := range m.model.leases {
			if l.Deadline.Before(m.now) {
				m.model.end(v, true)
			}
		}
	case n == 19:
		u := m.randomEntry()
		k := Known{ID: u.ID, Version: layout.Version{Epoch: 1, Token: m.rand.Uint64N(100)}, State: m.anyState(), Depth: u.Depth}
		if k.State == book.Retry || k.State == book.NotAsked {
			return nil
		}
		m.must(m.Mark(m.t.Context(), []Known{k}))
		m.model.decide(u.URL, k.State, k.Version, k.Depth)
	}
	return m.compareCounts()
}

func (m *modelRun) randomEntry() Entry {
	host := modelHosts[m.rand.IntN(len(modelHosts))]
	e := entry(host, strconv.Itoa(m.rand.IntN(300)), uint16(m.rand.IntN(18)))
	e.Hops, e.Exponent = uint8(m.rand.IntN(5)), int16(m.rand.IntN(9)-4)
	return e
}

func (m *modelRun) admitSome() {
	list := make([]Entry, m.rand.IntN(12))
	for i := range list {
		list[i] = m.randomEntry()
	}
	m.admit(m.now, list...)
	for _, e := range list {
		m.model.admit(e)
	}
}

func (m *modelRun) anyState() book.State {
	states := []book.State{book.Stored, book.Unchanged, book.Skipped, book.Failed, book.Retry, book.NotAsked}
	return states[m.rand.IntN(len(states))]
}

func (m *modelRun) leaseOne() error {
	r := Request{
		Now: m.now, Horizon: time.Duration(m.rand.IntN(500)) * time.Millisecond,
		Deadline: m.now.Add(4 * time.Second),
		Max:      1 + m.rand.IntN(15), MaxBytes: 1 + m.rand.IntN(200), Connections: m.connections,
	}
	lease, ok, err := m.Lease(m.t.Context(), r)
	if err != nil {
		return err
	}
	if !ok {
		return m.model.refused(r, modelHosts)
	}
	s := Settlement{
		Version: lease.Version, Host: lease.Host,
		Ended: m.now.Add(time.Duration(m.rand.IntN(1000)) * time.Millisecond),
		Delay: time.Duration(m.rand.IntN(1000)) * time.Millisecond,
	}
	if m.rand.IntN(10) == 0 {
		s.Rest = m.now.Add(2 * time.Second)
	}
	if m.rand.IntN(2) == 0 {
		s.Failures = lease.Failures + 1
	}
	for _, e := range lease.Entries {
		if m.rand.IntN(10) > 0 { // some are missing
			s.Outcomes = append(s.Outcomes, result(e, m.anyState()))
		}
	}
	if m.rand.IntN(4) == 0 { // a redirect target, perhaps of another host
		s.Outcomes = append(s.Outcomes, result(m.randomEntry(), m.anyState()))
	}
	m.settled = append(m.settled, s)
	return m.model.leased(r, lease)
}

// compareCounts finds the counters as what they count in the model.
func (m *modelRun) compareCounts() error {
	if diff := cmp.Diff(m.model.counts(), m.counts()); diff != "" {
		return fmt.Errorf("counts differ: %s", diff)
	}
	return nil
}

// compareKnown finds the known URLs and the pending ones as in the model.
func (m *modelRun) compareKnown() error {
	raw, err := m.rdb.HGetAll(m.t.Context(), m.key("known")).Result()
	if err != nil {
		return err
	}
	want, pending := map[string]string{}, map[layout.Identity]bool{}
	for url, u := range m.model.urls {
		id := layout.IdentityOf(url)
		state := string([]byte{byte(u.state), byte(u.Depth >> 8), byte(u.Depth)})
		if u.state == 'w' || u.state == 'l' {
			state += string([]byte{u.Attempts, u.expired})
		}
		if u.state != 'w' {
			state += u.version.String()
		}
		want[string(id[:])] = state
		if u.state == 'w' || u.state == 'l' {
			pending[id] = true
		}
	}
	if !maps.Equal(want, raw) {
		return fmt.Errorf("known URLs differ: %s", cmp.Diff(want, raw))
	}
	if got := m.pending(); !maps.Equal(pending, got) {
		return fmt.Errorf("%d URLs are pending, want %d", len(got), len(pending))
	}
	return nil
}
