package sweep

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	gone   = one + "gone"                     // a page that a takedown names by its URL
	secret = "http://www.secret.example/page" // a page of a site that a takedown names
)

// newForgetful returns a world with a takedown. Partition 0 has three packages: one with forgotten
// pages and others, one with forgotten pages only, and one without any. It also has a redirect to a
// forgotten page, a packed spool object, an unlisted package with a forgotten page, and objects in
// quarantine.
func newForgetful(t *testing.T) *world {
	t.Helper()
	w := newQuiet(t)
	w.pack(0, 20, one+"a", gone, secret, one+"b")
	w.pack(0, 21, gone, secret+"2")
	w.pack(0, 22, one+"c")
	redirect := functionstest.Outcome(t, version(23), one+"redirect", book.Skipped)
	redirect.Detail = "to " + secret
	functionstest.Learn(t, w.bucket, 0, book.Book{Outcomes: []book.Outcome{redirect}})
	w.consume(24)
	w.orphan(0, 25, gone)
	functionstest.Put(t, w.bucket, layout.QuarantineKey(layout.SpoolKey(0, version(9)), []byte("damaged")), []byte("damaged"))
	functionstest.Put(t, w.bucket, layout.QuarantineKey(layout.DueKey(0, nil), []byte("damaged")), []byte("damaged"))
	functionstest.Put(t, w.bucket, layout.QuarantineKey(layout.SpoolKey(1, version(9)), []byte("of another partition")), []byte("of another partition"))
	w.forget([]string{"secret.example"}, gone)
	return w
}

func id(url string) string { return layout.IdentityOf(url).String() }

// remains is the content that partition 0 must have, in a world made by newForgetful, when all
// forgotten data has been erased.
var remains = stock{
	Outcomes: []string{
		one + "a " + version(20).String() + " stored ", one + "b " + version(20).String() + " stored ",
		one + "c " + version(22).String() + " stored ", one + "redirect " + version(23).String() + " skipped ",
	},
	Links: sorted(
		id(one+"a")+" "+one+"a", id(one+"a")+" "+one+"b", id(one+"b")+" "+one+"a", id(one+"b")+" "+one+"b", id(one+"c")+" "+one+"c",
	),
	Pages:     []string{one + "a", one + "b", one + "c"},
	Documents: []string{one + "a", one + "b", one + "c"},
}

func sorted(all ...string) []string {
	slices.Sort(all)
	return all
}

func TestForget(t *testing.T) {
	w := newForgetful(t)
	before := w.manifest(0)
	sent := w.run()
	m := w.manifest(0)
	want := remains
	want.Documents = sorted(append([]string{gone, secret}, remains.Documents...)...)
	if diff := cmp.Diff(want, w.stock(0)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if m.Forgotten != 0 || len(m.Packages) != 2 || len(m.Segments) != 2 || !m.Segments[0].Erase || m.Segments[0].Dead() != 2 || m.Segments[1].Erase {
		t.Errorf("forgotten %d, packages %+v, segments %+v; want the first segment to serve until another is written", m.Forgotten, m.Packages, m.Segments)
	}
	erased := m.Packages[0]
	if !erased.Indexed || !slices.Equal(erased.Formerly, []string{before.Packages[0].Key}) || !slices.Contains(sent, `merge {"storage":0}`) {
		t.Errorf("package %+v, sent %q", erased, sent)
	}
	if m.Packages[1].Key != before.Packages[2].Key || !m.Packages[1].Indexed {
		t.Errorf("a package without anything of it is %+v", m.Packages[1])
	}
	if m.Learnt != before.Learnt {
		t.Error("the frontiers count as behind because of what was erased")
	}
	w.run()
	if m := w.manifest(0); m.Forgotten != 0 {
		t.Error("counts as forgotten while an old segment serves")
	}
	w.merge(0)
	w.run()
	if diff := cmp.Diff(remains, w.stock(0)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if m := w.manifest(0); m.Forgotten != 1 {
		t.Error("does not count as forgotten")
	}
	if other := w.manifest(1); other.Forgotten != 1 {
		t.Error("a partition without anything of it does not count as free of it")
	}
	spooled, _, _ := w.spools()
	if !slices.Equal(spooled, []uint64{3}) {
		t.Errorf("spool %v, want only what is not packed", spooled)
	}
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	w.checkKeys(0)
	if keys := functionstest.Keys(t, w.bucket, layout.Quarantine); len(keys) != 0 {
		t.Errorf("in quarantine: %v", keys)
	}
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	generation := w.manifest(0).Generation
	w.run()
	if m := w.manifest(0); m.Generation != generation || len(m.Condemned) != 0 {
		t.Errorf("generation %d after %d: something is done again; condemned %+v", m.Generation, generation, m.Condemned)
	}
}

// TestForgetAfterAClockThatWasAhead commits a generation of the manifest with a clock that is a
// year ahead. A takedown then forgets a page. The page must be erased as soon as with a correct
// clock.
func TestForgetAfterAClockThatWasAhead(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a", one+"b")
	holds := w.manifest(0).Packages[0].Key
	ahead := w.clock.Now().Add(365 * 24 * time.Hour)
	if _, err := manifest.Commit(t.Context(), w.bucket, 0, func() time.Time { return ahead }, func(*manifest.Manifest) error { return nil }); err != nil {
		t.Fatal(err)
	}
	w.forget(nil, one+"a")
	for range 4 {
		w.run()
		w.merge(0)
		w.clock.Advance(w.Limits.Collect.Grace)
	}
	if there := w.there(holds); len(there) != 0 || w.manifest(0).Forgotten != 1 {
		t.Errorf("%v is still there; forgotten %d", there, w.manifest(0).Forgotten)
	}
}

// TestForgetMore checks that a second takedown erases further pages from a package from which pages
// were erased before.
func TestForgetMore(t *testing.T) {
	w := newForgetful(t)
	for range 2 {
		w.run()
		w.merge(0)
	}
	w.forget(nil, one+"b")
	for range 2 {
		w.run()
		w.merge(0)
	}
	m := w.manifest(0)
	if got := w.stock(0).Documents; !slices.Equal(got, []string{one + "a", one + "c"}) {
		t.Errorf("documents %v", got)
	}
	if got := w.stock(0).Pages; !slices.Equal(got, []string{one + "a", one + "c"}) || m.Forgotten != 2 || len(m.Packages[0].Formerly) != 2 {
		t.Errorf("pages %v, forgotten %d, packages %+v", got, m.Forgotten, m.Packages)
	}
}

// TestPackedWhileForgetting checks that pages of a takedown are found and erased if a pack function
// with older settings commits them while the sweep erases.
func TestPackedWhileForgetting(t *testing.T) {
	w := newForgetful(t)
	w.run()
	w.merge(0)
	var once sync.Once
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.List && strings.HasPrefix(c.Key, layout.QuarantinePrefix(layout.Books)) {
			once.Do(func() { w.pack(0, 30, gone, one+"late") })
		}
		return faultblob.None
	})
	w.run()
	if m := w.manifest(0); slices.Contains(w.stock(0).Pages, gone) || slices.Contains(w.stock(0).Documents, gone) || m.Forgotten != 1 {
		t.Errorf("%+v, forgotten %d", w.stock(0), m.Forgotten)
	}
}

// TestForgetBesideDamage damages one object. The pages of a takedown must be erased from all other
// objects, and the partition must not be recorded yet as free of such pages.
func TestForgetBesideDamage(t *testing.T) {
	w := newForgetful(t)
	damaged := w.manifest(0).Packages[1].Key
	if err := w.bucket.Replace(t.Context(), damaged, []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	if err := w.sweepAll(); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("Run: %v, want it to name %s", err, damaged)
	}
	m := w.manifest(0)
	if len(m.Packages) != 3 || m.Packages[0].Pages != 2 || m.Forgotten != 0 {
		t.Errorf("forgotten %d, packages %+v", m.Forgotten, m.Packages)
	}
	if got := functionstest.Keys(t, w.bucket, layout.SpoolPrefix(0)); len(got) != 1 {
		t.Errorf("spool %v", got)
	}
}

// TestForgetLater suspends a site: its takedown can be taken back for an hour. Until the hour is over,
// the sweep must change nothing in the partition. After that it must erase the pages of the site.
func TestForgetLater(t *testing.T) {
	w := newQuiet(t)
	w.pack(0, 20, one+"a", gone, secret, one+"b")
	w.forget(nil, gone)
	w.run()
	w.merge(0)
	w.run()
	before := w.stock(0)
	entry, until := takedown.Site("secret.example", w.clock.Now()), w.clock.Now().Add(time.Hour)
	if _, err := takedown.Suspend(t.Context(), w.bucket, until, entry); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Hour - time.Second)
	generation := w.manifest(0).Generation
	w.run()
	if diff := cmp.Diff(before, w.stock(0)); diff != "" {
		t.Errorf("before its time (-before +after):\n%s", diff)
	}
	if m := w.manifest(0); m.Forgotten != 1 || m.Generation != generation {
		t.Errorf("generation %d after %d, forgotten %d: nothing is to be done yet", m.Generation, generation, m.Forgotten)
	}
	w.clock.Advance(time.Second)
	w.run()
	w.merge(0)
	w.run()
	if left := w.stock(0).Pages; !slices.Equal(left, []string{one + "a", one + "b"}) {
		t.Errorf("pages %q, want only those that nobody forgets", left)
	}
	if m := w.manifest(0); m.Forgotten != 3 {
		t.Errorf("forgotten %d, want the version in which the takedown became final", m.Forgotten)
	}
	set, err := takedown.Load(t.Context(), w.bucket)
	if err != nil || set.Version != 3 {
		t.Errorf("version %d, %v", set.Version, err)
	}
}

// TestForgetElsewhere forgets a URL and a site whose places in the books are not those of today, as after a change of the
// list by which sites are told apart. A book with the links alone is listed before that with the outcomes.
func TestForgetElsewhere(t *testing.T) {
	w := newQuiet(t)
	before := func(url string) layout.Place { return layout.PlaceOf("earlier.example", layout.IdentityOf(url)) }
	var links, outcomes book.Book
	for _, url := range []string{gone, secret, one + "a"} {
		l := functionstest.Link(t, one+"a", url, 1)
		l.Place = before(url)
		links.Links = append(links.Links, l)
		o := functionstest.Outcome(t, version(20), url, book.Failed)
		o.Place = before(url)
		outcomes.Outcomes = append(outcomes.Outcomes, o)
	}
	for _, learnt := range []book.Book{links, outcomes} {
		functionstest.Learn(t, w.bucket, 0, learnt)
	}
	w.forget([]string{"secret.example"}, gone)
	w.run()
	want := stock{Outcomes: []string{one + "a " + version(20).String() + " failed "}, Links: []string{id(one+"a") + " " + one + "a"}}
	if diff := cmp.Diff(want, w.stock(0)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if m := w.manifest(0); m.Forgotten != 1 {
		t.Errorf("forgotten %d", m.Forgotten)
	}
}
