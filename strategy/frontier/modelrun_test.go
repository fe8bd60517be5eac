package frontier

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestModel makes thousands of random calls to the frontier and to the model, and compares
// them. Some settlements come twice, late, out of order or after a rebuild.
func TestModel(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		seeds := uint64(2)
		if redistest.IsEmbedded(t) {
			seeds = 1
		}
		for seed := range seeds {
			if err := rdb.FlushDB(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			random := newModelRun(t, rdb, seed)
			random.steps(racetest.Rounds(1500, 150))
			if done := random.done; racetest.Rounds(true, false) && (done.renewed < 100 || done.again < 100 || done.lacking < 30 || done.parked < 50 || done.held < 10 || done.cleared < 20 || done.late < 50 || done.rebuilds < 2 || done.closed < 2 || done.retired < 100 || done.forgotten < 5) {
				t.Errorf("seed %d met too little: %+v", seed, done)
			}
		}
	})
}

var modelHosts = []string{"h0", "h1", "h2", "h3:8080"}

type modelRun struct {
	fixture
	model   model
	seed    uint64
	rand    *rand.Rand
	now     time.Time
	epoch   uint64
	met     []Entry      // URLs used so far, some of them repeated
	settled []Settlement // settlements of all batches so far

	connections int

	// done counts how often each situation has occurred in a run:
	//
	//	renewed     URLs were renewed
	//	again       URLs were settled in a second lease, which came after a renewal
	//	lacking     Admit returned stored pages in Admitted.Lacking
	//	parked      URLs were parked
	//	held        limits of collections left a host no URL to lease (see putOffHeld)
	//	cleared     the frontier dropped outdated elements (records in queues)
	//	late        a batch was settled after its lease had ended
	//	rebuilds    the frontier was rebuilt
	//	closed      a lease had not ended when a rebuild began
	//	retired     states were moved to a run
	//	forgotten   final states were removed
	done struct{ renewed, again, lacking, parked, held, cleared, late, rebuilds, closed, retired, forgotten int }
}

func newModelRun(t *testing.T, rdb redis.UniversalClient, seed uint64) *modelRun {
	return &modelRun{
		fixture:     opened(t, rdb),
		seed:        seed,
		rand:        rand.New(rand.NewPCG(seed, 1)),
		now:         noon,
		epoch:       1,
		connections: 1 + int(seed%2),
		model:       newModel(),
	}
}

func (m *modelRun) steps(n int) {
	m.t.Helper()
	for step := range n {
		err := m.step()
		if err == nil && step%25 == 24 {
			err = m.compareKnown()
		}
		if err == nil && step%25 == 24 {
			err = m.compareQueues()
		}
		if err != nil {
			m.t.Fatalf("seed %d, step %d: %v", m.seed, step, err)
		}
	}
}

func (m *modelRun) step() error {
	m.now = m.now.Add(time.Duration(m.rand.IntN(400)) * time.Millisecond)
	var err error
	switch n := m.rand.IntN(250); {
	case n < 50:
		err = m.admitSome()
	case n < 120:
		err = m.leaseOne()
	case n < 180 && len(m.settled) > 0:
		m.settleOne()
	case n < 205 && len(m.met) > 0:
		err = m.renewSome()
	case n < 220 && len(m.met) > 0:
		m.markOne()
	case n < 235 && len(m.settled) > 0:
		err = m.extendOne()
	case n < 242:
		err = m.expire()
	case n < 247 && len(m.met) > 0:
		err = m.retire()
	case n == 247 && len(m.met) > 0:
		m.forgetSome()
	case n == 249:
		err = m.rebuild()
	}
	if err != nil {
		return err
	}
	if err := m.compareOut(); err != nil {
		return err
	}
	if err := m.compareCounts(); err != nil {
		return err
	}
	if m.rand.IntN(5) > 0 {
		return nil
	}
	return m.Built(m.t.Context(), "")
}

// repeatedly makes a call once or, at random, twice. A client makes a call twice if it has lost the
// first answer.
func (m *modelRun) repeatedly(call func() error) error {
	for range 1 + m.rand.IntN(5)/4 {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

func (m *modelRun) admitSome() error {
	list := make([]Entry, m.rand.IntN(12))
	for i := range list {
		list[i] = m.randomEntry()
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return strings.Compare(a.Host, b.Host) })
	m.met = append(m.met, list...)
	return m.repeatedly(func() error {
		var want Admitted
		for _, e := range list {
			one := m.model.admit(e)
			want.Added, want.Lacking = want.Added+one.Added, append(want.Lacking, one.Lacking...)
		}
		m.done.lacking += len(want.Lacking)
		got, err := m.Admit(m.t.Context(), m.now, list)
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			err = fmt.Errorf("admitted: %s", diff)
		}
		return err
	})
}

func (m *modelRun) leaseOne() error {
	r := Request{
		Now: m.now, Horizon: time.Duration(m.rand.IntN(500)) * time.Millisecond,
		Deadline: m.now.Add(4 * time.Second),
		Max:      1 + m.rand.IntN(15), MaxBytes: 1 + m.rand.IntN(500), Connections: m.connections,
		Rooms: m.randomRooms(),
	}
	lease, ok, err := m.Lease(m.t.Context(), r)
	if err != nil {
		return err
	}
	if err := m.parkSome(r, ok); err != nil {
		return err
	}
	if err := m.clearSome(); err != nil {
		return err
	}
	if !ok {
		err = m.model.refused(r)
	} else {
		m.settled = append(m.settled, m.settlementOf(lease))
		err = m.model.leased(r, lease)
	}
	m.done.held += m.model.putOffHeld(r)
	return err
}

// parkSome is called after the request r. It looks at the URLs that mayPark returns, finds those that
// the frontier has parked, and parks them in the model, too. If the request has leased nothing, the
// frontier must have parked all URLs for which mayPark returns true; else parkSome fails.
func (m *modelRun) parkSome(r Request, leased bool) error {
	known := m.known()
	for u, must := range m.model.mayPark(r) {
		if known[string(u.ID[:])][0] == 'p' {
			u.state = 'p'
			m.done.parked++
		} else if !leased && must {
			return fmt.Errorf("%s of a collection that takes no more is not parked", u.URL)
		}
	}
	return nil
}

// clearSome removes from the model the outdated elements (records in queues) that the frontier has
// dropped.
func (m *modelRun) clearSome() error {
	known := m.known()
	for id, u := range m.model.urls {
		if u.left == 0 {
			continue
		}
		state, left := known[string(id[:])], 0
		if strings.ContainsRune("wWlLp", rune(state[0])) {
			left = int(state[pendingBytes-1])
		} else if len(state)%8 == (finalBytes+1)%8 {
			left = int(state[len(state)-1])
		}
		if left > u.left {
			return fmt.Errorf("%d elements of %s are left behind, there were %d", left, u.URL, u.left)
		}
		m.done.cleared += u.left - left
		u.left = left
	}
	return nil
}

func (m *modelRun) settleOne() {
	s := m.settled[len(m.settled)-1-m.rand.IntN(min(6, len(m.settled)))]
	if m.rand.IntN(5) == 0 {
		s = m.settled[m.rand.IntN(len(m.settled))]
	}
	if _, out := m.model.leases[s.Version]; !out {
		m.done.late++
	}
	for _, r := range s.Outcomes {
		if u := m.model.urls[r.ID]; u.leasedBy(s.Version) && u.decided != nil {
			m.done.again++
		}
	}
	m.settle(s)
	m.model.settle(s)
}

// renewSome calls Renew for random URLs, with and without a final state. For a URL with a final state,
// it passes the version of this state, or another version. Renew must return the number of URLs that
// the model renews.
func (m *modelRun) renewSome() error {
	var list []Due
	for range m.rand.IntN(20) {
		e := m.met[m.rand.IntN(len(m.met))]
		var decided *Known
		if u := m.model.urls[e.ID]; u != nil {
			decided = u.decided
		}
		list = append(list, m.due(e, decided))
	}
	want := 0
	for _, d := range list {
		want += m.model.renew(d)
	}
	m.done.renewed += want
	got := 0
	err := m.repeatedly(func() error {
		n, err := m.Renew(m.t.Context(), m.now, list)
		got += n
		return err
	})
	if err == nil && got != want {
		err = fmt.Errorf("%d renewed, want %d", got, want)
	}
	return err
}

func (m *modelRun) markOne() {
	u := m.met[m.rand.IntN(len(m.met))]
	k := Known{
		ID: u.ID, Place: placeOf(u), Version: layout.Version{Epoch: m.epoch, Token: m.rand.Uint64N(200)},
		State: m.randomState(), Tallies: m.randomTallies(),
	}
	if k.State != book.Retry && k.State != book.NotAsked {
		m.must(m.repeatedly(func() error { return m.Mark(m.t.Context(), []Known{k}) }))
		m.model.decide(k)
	}
}

func (m *modelRun) extendOne() error {
	v := m.settled[len(m.settled)-1-m.rand.IntN(min(6, len(m.settled)))].Version
	deadline := m.now.Add(time.Duration(m.rand.IntN(8000)) * time.Millisecond)
	l, want := m.model.leases[v]
	if want {
		l.Deadline = deadline
		m.model.leases[v] = l
	}
	return m.repeatedly(func() error {
		out, err := m.Extend(m.t.Context(), v, deadline)
		if err == nil && out != want {
			err = fmt.Errorf("lease %s is out: %v, want %v", v, out, want)
		}
		return err
	})
}

func (m *modelRun) expire() error {
	err := m.repeatedly(func() error {
		_, err := m.Expire(m.t.Context(), m.now)
		return err
	})
	for v, l := range m.model.leases {
		if l.Deadline.Before(m.now) {
			m.model.end(v, true)
		}
	}
	return err
}

// retire moves the states of finished URLs to a run. This must not change what the frontier knows.
func (m *modelRun) retire() error {
	return m.repeatedly(func() error {
		n, err := New(m.rdb, m.partition).WithRuns(m.bucket).Retire(m.t.Context(), 0)
		m.done.retired += n
		return err
	})
}

// forgetSome removes random URLs that are not in queues or on lease, with their final states or without.
func (m *modelRun) forgetSome() {
	urls := map[layout.Identity]Removal{}
	for range m.rand.IntN(30) {
		e := m.met[m.rand.IntN(len(m.met))]
		u := m.model.urls[e.ID]
		if u == nil || u.state != 0 || u.left > 0 {
			continue
		}
		urls[e.ID] = Removal(m.rand.IntN(2) == 0)
		if urls[e.ID] == Remove {
			delete(m.model.urls, e.ID)
			m.done.forgotten++
		}
	}
	m.must(m.Forget(m.t.Context(), urls))
}

// rebuild rebuilds the frontier from the model: final states, URLs that are due again, and
// pending URLs.
func (m *modelRun) rebuild() error {
	m.done.rebuilds++
	m.epoch++
	rebuilt := newModel()
	rebuilt.next, rebuilt.failures = m.model.next, m.model.failures
	for v, l := range m.model.leases {
		rebuilt.leases[v] = modelLease{Lease{Host: l.Host, Deadline: l.Deadline}, l.first, true}
		m.done.closed++
	}
	var known []Known
	var renewals []Due
	var pending []Entry
	for _, id := range slices.SortedFunc(maps.Keys(m.model.urls), compareIDs) {
		u := m.model.urls[id]
		if u.decided == nil {
			pending = append(pending, u.Entry)
			rebuilt.admit(u.Entry)
			continue
		}
		known = append(known, *u.decided)
		rebuilt.decide(*u.decided)
		if u.state != 0 {
			renewals = append(renewals, m.due(u.Entry, u.decided))
			rebuilt.renew(renewals[len(renewals)-1])
		}
	}
	m.model = rebuilt
	m.must(m.Reset(m.t.Context()))
	m.must(m.Mark(m.t.Context(), known))
	if _, err := m.Renew(m.t.Context(), m.now, renewals); err != nil {
		return err
	}
	m.admit(m.now, pending...)
	m.must(m.Open(m.t.Context(), m.epoch, "", nil))
	m.Frontier = New(m.rdb, m.partition).WithRuns(m.bucket)
	return m.compareKnown()
}

func compareIDs(a, b layout.Identity) int { return slices.Compare(a[:], b[:]) }
