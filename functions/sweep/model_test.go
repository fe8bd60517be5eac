package sweep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/merge"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// model is a world for a random test, in which several functions work at the same time. It checks
// that each deletion is allowed, and that the objects of a generation exist as long as a reader may
// use it.
type model struct {
	*world
	mu      sync.Mutex
	random  *rand.Rand // protected by mu
	token   uint64     // token of the last batch; protected by mu
	packing sync.Mutex

	lists sync.Map // for each generation of the manifest, by the generation's number: the keys that it lists
}

// listed returns the keys that generation n of the manifest lists.
func (m *model) listed(n uint64) map[string]bool {
	if keys, known := m.lists.Load(n); known {
		return keys.(map[string]bool)
	}
	g, err := manifest.At(m.t.Context(), m.bucket, 0, n)
	if err != nil {
		m.t.Error(err)
	}
	keys := keysOf(&g)
	m.lists.Store(n, keys)
	return keys
}

func (m *model) intN(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(n)
}

// watched returns the bucket for one worker. After the given number of calls it fails, as if the
// worker were killed. It passes each key that the worker deletes to the method judge.
func (m *model) watched(calls int64) blob.Bucket {
	var done atomic.Int64
	return faultblob.New(m.bucket, func(c faultblob.Call) faultblob.Fault {
		if done.Add(1) > calls {
			return faultblob.Before
		}
		if c.Op == faultblob.Delete {
			m.judge(c.Key)
		}
		return faultblob.None
	})
}

// judge fails the test if an object is about to be deleted too early. An object must stay while a
// kept generation of the manifest lists it, unless it is to be erased. It must also stay until it
// has been condemned (marked for deletion) for at least the grace period.
func (m *model) judge(key string) {
	newest, err := manifest.Read(m.t.Context(), m.bucket, 0)
	if err != nil {
		m.t.Error(err)
		return
	}
	erased := false
	switch {
	case strings.HasPrefix(key, layout.Manifests):
		if _, number, err := layout.ParseManifestKey(key); err != nil || number >= newest.Oldest {
			m.t.Errorf("generation %d is deleted, and %d is the oldest that is kept", number, newest.Oldest)
		}
		return
	case strings.HasPrefix(key, layout.Overlays):
	case strings.HasPrefix(key, layout.Packages), strings.HasPrefix(key, layout.Books), strings.HasPrefix(key, layout.Segments):
		condemned := false
		for _, c := range m.condemned(&newest) {
			if c.Key == key {
				condemned, erased = true, c.Erase
				if m.clock.Now().Sub(c.At) < m.Limits.Collect.Grace {
					m.t.Errorf("%s is deleted within the grace", key)
				}
			}
		}
		if !condemned {
			if len(m.there(key)) > 0 {
				m.t.Errorf("%s is deleted, and not condemned", key)
			}
			return // two sweeps delete it
		}
	default:
		return
	}
	for n := max(newest.Oldest, 1); n <= newest.Generation; n++ {
		if m.listed(n)[key] && (!erased || n == newest.Generation) {
			m.t.Errorf("%s is deleted, and generation %d of %d to %d lists it", key, n, newest.Oldest, newest.Generation)
		}
	}
}

// add commits a package of two pages, and a book with their outcomes, as the function pack does.
func (m *model) add() {
	m.packing.Lock()
	defer m.packing.Unlock()
	m.mu.Lock()
	m.token++
	v := version(100 + m.token)
	pages := []webobject.Object{
		functionstest.Page(v, fmt.Sprint(one, m.random.IntN(6))), functionstest.Page(v, fmt.Sprint(one, "more/", m.random.IntN(40))),
	}
	m.mu.Unlock()
	functionstest.Commit(m.t, m.bucket, 0, func(next *manifest.Manifest) { next.Close(v) }) // closed long ago
	// until the name was never used before
	for scratch := memblob.New(); ; {
		pkg, outcomes := functionstest.Package(m.t, scratch, 0, pages...)
		content, err := scratch.Get(m.t.Context(), pkg.Key, blob.Range{})
		if err != nil {
			m.t.Error(err)
			return
		}
		if newest := m.world.manifest(0); m.hasCondemned(&newest, pkg.Key) || newest.Package(pkg.Key) != nil || m.bucket.Create(m.t.Context(), pkg.Key, content) != nil {
			continue
		}
		err = m.learn(0, book.Book{Outcomes: outcomes}, pkg)
		if errors.Is(err, errCondemned) {
			continue // stored under another name: the book has to name that
		}
		if err != nil {
			m.t.Error(err)
		}
		return
	}
}

// work does the work of one function, chosen at random: pack, index, merge or sweep. The function
// may be killed before it is done.
func (m *model) work() {
	calls := int64(1 << 30)
	if m.intN(3) == 0 {
		calls = int64(m.intN(60))
	}
	bucket := m.watched(calls)
	var err error
	switch m.intN(5) {
	case 0, 1:
		m.add()
		return
	case 2:
		f := &index.Function{
			Bucket: bucket, Settings: new(functionstest.Fixed), Redis: m.Redis, Sender: new(functionstest.Sender), Now: m.Now, Worker: "i", Tiers: m.Limits.Tiers, Log: functionstest.Log(),
		}
		packages := m.world.manifest(0).Packages
		if len(packages) > 0 {
			err = f.Run(m.t.Context(), packages[m.intN(len(packages))].Key)
		}
		for _, pkg := range packages {
			err = errors.Join(err, f.Run(m.t.Context(), pkg.Key))
		}
	case 3:
		f := &merge.Function{
			Bucket: bucket, Redis: redistest.Server(m.t), Sender: new(functionstest.Sender), Now: m.Now, Worker: "m", Tiers: m.Limits.Tiers, Log: functionstest.Log(),
		}
		err = f.Run(m.t.Context(), task.Tiers{Ended: true})
	case 4:
		f := m.sweeper(bucket)
		err = sweepAll(m.t.Context(), f)
	}
	if err != nil && !errors.Is(err, blob.ErrRetryable) && !strings.Contains(err.Error(), "another is building") {
		m.t.Error(err)
	}
}

// sweeper returns a sweep function that remembers nothing of earlier sweeps.
func (m *model) sweeper(bucket blob.Bucket) *Function {
	return &Function{
		Bucket: bucket, Redis: m.Redis, Sender: new(functionstest.Sender), Now: m.Now, Worker: "s", Limits: m.Limits, Log: functionstest.Log(),
	}
}

// reading is a generation of the manifest that a reader uses, and the time until which the reader
// may use it.
type reading struct {
	manifest.Manifest
	until time.Time
}

// TestNothingElseIsDeleted packs, indexes, merges, erases and deletes at the same time. Workers are
// killed at any call, and time passes at random. No object may be deleted if a kept generation of
// the manifest lists it, if a reader may still use it, or if it was not condemned (marked for
// deletion) before. In the end no object must be left that is condemned or that the manifest does
// not list.
func TestNothingElseIsDeleted(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &model{world: newQuiet(t), random: rand.New(rand.NewPCG(seed, 4))}
			m.Limits.Compact.Books, m.Limits.Tiers.Tier, m.Limits.Collect.Past, m.Limits.Collect.Listed = 3, 3, 36*time.Hour, 2
			m.run()
			var readers []reading
			for round := range racetest.Rounds(12, 5) {
				if seed%2 == 1 && round%5 == 3 {
					m.forget(nil, fmt.Sprint(one, m.intN(6)))
				}
				readers = append(readers, reading{m.world.manifest(0), m.clock.Now().Add(m.Limits.Collect.Grace)})
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						for range 3 {
							m.work()
						}
					})
				}
				all.Wait()
				for _, r := range readers {
					if !m.clock.Now().Before(r.until) {
						continue
					}
					for key := range r.Objects() {
						if len(m.there(key)) == 0 {
							t.Errorf("round %d: %s, which generation %d lists, is gone", round, key, r.Generation)
						}
					}
				}
				m.clock.Advance(time.Duration(m.intN(72)) * time.Hour / 2)
			}
			m.Bucket = m.watched(1 << 30)
			for range 4 {
				m.index(0)
				m.merge(0)
				m.run()
				m.clock.Advance(m.Limits.Collect.Past + 2*m.Limits.Collect.Grace)
			}
			m.run()
			m.checkPast(0)
			m.checkKeys(0)
			if newest := m.world.manifest(0); newest.Condemned != nil || newest.CondemnedLists != nil || newest.Forgotten != m.version() {
				t.Errorf("condemned %+v, forgotten %d", newest.Condemned, newest.Forgotten)
			}
			m.oneVersionEach()
		})
	}
}

// version returns the number of the newest takedown.
func (m *model) version() uint64 {
	return uint64(len(functionstest.Keys(m.t, m.bucket, layout.Takedowns)))
}

// oneVersionEach checks that each stored URL has one live document, that of its last version,
// unless a takedown forgets the URL.
func (m *model) oneVersionEach() {
	m.t.Helper()
	forgotten, err := takedown.Load(m.t.Context(), m.bucket)
	if err != nil {
		m.t.Fatal(err)
	}
	last := make(map[string]layout.Version)
	newest := m.world.manifest(0)
	for _, pkg := range newest.Packages {
		content, err := m.bucket.Get(m.t.Context(), pkg.Key, blob.Range{})
		if err != nil {
			m.t.Fatal(err)
		}
		reader, err := webobject.Open(content)
		if err != nil {
			m.t.Fatal(err)
		}
		for entry, err := range reader.Objects() {
			if err != nil {
				m.t.Fatal(err)
			}
			if !forgotten.ForgetsURL(entry.URL) && entry.Version.Compare(last[entry.URL]) > 0 {
				last[entry.URL] = entry.Version
			}
		}
	}
	for _, d := range m.live(0) {
		if last[d.URL] != d.Version {
			m.t.Errorf("%s lives in version %s, and %s is stored", d.URL, d.Version, last[d.URL])
		}
		delete(last, d.URL)
	}
	if len(last) > 0 {
		m.t.Errorf("not searched: %v", last)
	}
}
