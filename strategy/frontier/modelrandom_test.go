package frontier

import (
	"slices"
	"strconv"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

func (m *modelRun) randomEntry() Entry {
	host := modelHosts[m.rand.IntN(len(modelHosts))]
	e := entry(host, strconv.Itoa(m.rand.IntN(100)), uint16(m.rand.IntN(18)))
	e.Hops, e.Exponent, e.Sitemap = uint8(m.rand.IntN(5)), int16(m.rand.IntN(9)-4), m.rand.IntN(8) == 0
	if m.rand.IntN(2) == 0 {
		e.Weight = uint8(m.rand.IntN(256))
	}
	e.Collection = modelCollections[m.rand.IntN(len(modelCollections))]
	if m.rand.IntN(2) == 0 {
		e.Tally, e.Claimed = modelTallies[m.rand.IntN(len(modelTallies))], m.rand.IntN(2) == 0
	}
	e.Asset = !e.Sitemap && e.Exponent == 0
	return e
}

var modelCollections = []string{"docs", "news", "wide"}

// randomRooms returns a random Request.Rooms: each collection may lease some URLs or none, or has
// no limit.
func (m *modelRun) randomRooms() map[string]int64 {
	rooms := map[string]int64{}
	kinds := 1 + m.rand.IntN(7)
	for _, name := range modelCollections {
		switch m.rand.IntN(kinds) {
		case 0, 1:
			rooms[name] = 0
		case 2:
			rooms[name] = -1
		case 3:
			rooms[name] = m.rand.Int64N(9)
		}
	}
	return rooms
}

func (m *modelRun) randomResult(e Entry) Result {
	r := result(e, m.randomState())
	r.Tallies = m.randomTallies()
	return r
}

func (m *modelRun) randomState() book.State {
	states := []book.State{book.Stored, book.Stored, book.Unchanged, book.Skipped, book.Failed, book.Retry, book.NotAsked}
	return states[m.rand.IntN(len(states))]
}

var modelTallies = []string{"h:docs:h0", "h:docs:h1", "p:docs:0123456789abcdef", "p:docs:fedcba9876543210"}

func (m *modelRun) randomTallies() []string {
	var names []string
	for _, name := range modelTallies {
		if m.rand.IntN(3) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// settlementOf returns a random settlement of a lease.
func (m *modelRun) settlementOf(l Lease) Settlement {
	s := Settlement{
		Version: l.Version, Host: l.Host,
		Ended: m.now.Add(time.Duration(m.rand.IntN(1000)) * time.Millisecond),
		Delay: time.Duration(m.rand.IntN(1000)) * time.Millisecond,
	}
	if m.rand.IntN(10) == 0 {
		s.Rest = m.now.Add(8 * time.Second) // later than the end of the lease
	}
	if m.rand.IntN(2) == 0 {
		s.Failures = l.Failures + 1
	}
	for _, e := range l.Entries {
		if m.rand.IntN(10) > 0 { // some outcomes are missing
			s.Outcomes = append(s.Outcomes, m.randomResult(e))
		}
	}
	if m.rand.IntN(4) == 0 { // a URL that was not in the lease, perhaps of another host
		e := m.randomEntry()
		m.met = append(m.met, e)
		s.Outcomes = append(s.Outcomes, m.randomResult(e))
	}
	return s
}

// due returns a random request to renew the entry's URL, to be passed to Renew. The version in the
// request is random, too. But if the URL has a final state (the parameter decided is not nil), the
// request has the version of this state in three of four cases.
func (m *modelRun) due(e Entry, decided *Known) Due {
	d := Due{Entry: e, Version: layout.Version{Epoch: m.epoch, Token: m.rand.Uint64N(200)}}
	if decided != nil && m.rand.IntN(4) > 0 {
		d.Version, d.Depth, d.Weight = decided.Version, 3, 0 // equal to an outdated element
	}
	d.Attempts = uint8(m.rand.IntN(2))
	if m.rand.IntN(4) > 0 {
		d.Last = &batch.Look{
			Time: m.now.UTC(), ETag: strconv.Itoa(m.rand.IntN(1000)), Modified: "then"[m.rand.IntN(5):],
			Digest: m.rand.Uint64(), Body: m.rand.Uint64(), Missing: m.rand.IntN(2) == 0,
			Collections: slices.Clone(modelCollections[:m.rand.IntN(3)]),
		}
		if len(d.Last.Collections) == 0 {
			d.Last.Collections = nil
		}
	}
	return d
}
