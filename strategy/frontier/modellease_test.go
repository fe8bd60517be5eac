package frontier

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
)

// leased checks a lease that the frontier has given, and enters it in the model.
func (m *model) leased(r Request, l Lease) error {
	if m.active(l.Host) >= r.Connections || m.closed(l.Host) {
		return fmt.Errorf("%d leases were out on %s, from before a rebuild: %v", m.active(l.Host), l.Host, m.closed(l.Host))
	}
	if want := latest(r.Now, m.next[l.Host]); !l.NotBefore.Equal(want) || want.After(r.Now.Add(r.Horizon)) {
		return fmt.Errorf("not before %v, want %v", l.NotBefore, want)
	}
	if want := m.failures[l.Host]; l.Failures != want {
		return fmt.Errorf("%d failures of %s, want %d", l.Failures, l.Host, want)
	}
	var place, bytes int
	most := r.Max
	rooms, first := maps.Clone(r.Rooms), map[string]int64{}
	for i, e := range l.Entries {
		u := m.urls[e.ID]
		if u == nil || u.state != 'w' {
			return fmt.Errorf("%s did not wait", e.URL)
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
		if room, limited := u.room(rooms); limited {
			if room <= 0 {
				return fmt.Errorf("there was room for %d of collection %s, but not for %s", room, e.Collection, e.URL)
			}
			rooms[e.Collection]--
		}
		if u.decided == nil && !e.Asset {
			first[e.Collection]++
		}
		place, most = u.queue(), together(most, u)
		u.state, u.lease = 'l', l.Version
	}
	if len(l.Entries) > most {
		return fmt.Errorf("%d leased, at most %d may be", len(l.Entries), most)
	}
	left, behind := m.askable(l.Host, rooms)
	next := place
	if len(left) > 0 {
		next = slices.MinFunc(left, func(a, b *modelURL) int { return a.queue() - b.queue() }).queue()
	}
	if next < place {
		return fmt.Errorf("one of queue %d was left out for those of queue %d", next, place)
	}
	size := 0
	for _, u := range append(behind, left...) { // the next URL is one of these
		if u.queue() <= next {
			most, size = together(most, u), max(size, u.size())
		}
	}
	full := len(l.Entries) >= most || bytes+size > r.MaxBytes // the next URL may not have fit
	if len(left) > 0 && !full || len(l.Entries) == 0 || len(l.Entries) > r.Max {
		return fmt.Errorf("%d leased, %d left", len(l.Entries), len(left))
	}
	m.leases[l.Version] = modelLease{l, first, false}
	return nil
}

// refused checks that the frontier was right to give no lease: there was no URL that the frontier had
// to lease.
func (m *model) refused(r Request) error {
	for _, h := range modelHosts {
		left, _ := m.askable(h, r.Rooms)
		if m.free(r, h) && !m.putOff[h].After(r.Now.Add(r.Horizon)) && len(left) > 0 {
			return fmt.Errorf("host %s could have been asked", h)
		}
	}
	return nil
}

// free reports whether a host may be leased for the request r. The host must have fewer leases than r
// allows, and none from before the last rebuild. It must also be free for requests at r.Now +
// r.Horizon or earlier.
func (m *model) free(r Request, host string) bool {
	return m.active(host) < r.Connections && !m.closed(host) && !m.next[host].After(r.Now.Add(r.Horizon))
}

// askable returns, in two lists, those waiting URLs of a host whose collections may lease more URLs
// (see Request.Rooms). The first list holds URLs that the frontier must not pass over. A URL in the
// second list may be stuck: another URL may wait before it in its queue, and the collection of that
// one may lease no more. So the frontier may pass over URLs in the second list.
func (m *model) askable(host string, rooms map[string]int64) (left, behind []*modelURL) {
	held := m.held(host, rooms)
	for _, u := range m.urls {
		if room, limited := u.room(rooms); u.Host != host || u.state != 'w' || limited && room <= 0 {
			continue
		}
		if held[u.queue()] {
			behind = append(behind, u)
		} else {
			left = append(left, u)
		}
	}
	return left, behind
}

// held returns the numbers of those queues of a host in which a URL must stay for now, because its
// collection may lease no more URLs (the collection's entry in rooms is 0).
func (m *model) held(host string, rooms map[string]int64) map[int]bool {
	held := map[int]bool{}
	for _, u := range m.urls {
		if room, limited := u.room(rooms); u.Host == host && u.state == 'w' && limited && room == 0 {
			held[u.queue()] = true
		}
	}
	return held
}

// room returns how many URLs of u's collection may still be leased. limited is false if there is
// no limit for u: its collection has none, u is an asset, or u has a final state.
func (u *modelURL) room(rooms map[string]int64) (left int64, limited bool) {
	if u.decided != nil || u.Asset {
		return 0, false
	}
	left, limited = rooms[u.Collection]
	return left, limited
}

// putOffHeld records the hosts that the frontier may put off after the request r, and returns their
// number. These hosts may be leased, but each of their URLs is stuck: its collection may lease no
// more, or it may wait behind such a URL in its queue. Until a request has a later Now + Horizon than
// r, the frontier may pass over these hosts.
func (m *model) putOffHeld(r Request) (hosts int) {
	for _, h := range modelHosts {
		left, _ := m.askable(h, r.Rooms)
		if m.free(r, h) && len(left) == 0 && len(m.held(h, r.Rooms)) > 0 {
			m.putOff[h] = latest(m.putOff[h], r.Now.Add(r.Horizon+time.Millisecond))
			hosts++
		}
	}
	return hosts
}

// mayPark returns the waiting URLs that the request r may park, because their collections have
// reached their limits. The value of a URL is true if r must park it in case r leases nothing. The
// value is false if the script may not look at the URL: its host cannot be leased now, or it may wait
// behind a URL that stays in the queue.
func (m *model) mayPark(r Request) (may map[*modelURL]bool) {
	may = map[*modelURL]bool{}
	for _, h := range modelHosts {
		held, looked := m.held(h, r.Rooms), m.free(r, h) && !m.putOff[h].After(r.Now.Add(r.Horizon))
		for _, u := range m.urls {
			if room, limited := u.room(r.Rooms); u.Host == h && u.state == 'w' && limited && room < 0 {
				may[u] = looked && !held[u.queue()]
			}
		}
	}
	return may
}

// size returns the number of bytes of the URL that count toward Request.MaxBytes.
func (u *modelURL) size() int {
	var version string
	if u.decided != nil {
		version = encodeVersion(u.decided.Version)
	}
	element, err := u.element(version)
	if err != nil {
		panic(err)
	}
	_, text := shorten(u.URL, u.Host)
	return len(element) - headerBytes + len(u.URL) - len(text)
}

// together returns the maximum number of URLs in a lease with the URL u. It is lower than the
// maximum of the request (the parameter most) if former leases of u have expired, because u may be
// the reason why the fetch dies.
func together(most int, u *modelURL) int {
	switch u.expired {
	case 0:
		return most
	case 1:
		return min(most, 12)
	}
	return 1
}
