package rules

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func rangeTo(from, to layout.Place, partition int) Rule {
	return Rule{Range: &layout.Range{From: from, To: to}, Partition: partition}
}

// TestFaults: Faults reports each hole between ranges and each overlap, and a document with faults is
// not published.
func TestFaults(t *testing.T) {
	const end = 0
	refuse := func(pattern string) Rule { return Rule{Refuse: true, Pattern: pattern} }
	for name, test := range map[string]struct {
		rules []Rule
		want  []string // texts in the faults, in their order
	}{
		"one":                     {[]Rule{rangeTo(0, end, 0)}, nil},
		"in any order":            {[]Rule{rangeTo(7, end, 1), refuse("*/cgi-bin/*"), rangeTo(0, 7, 0)}, nil},
		"none":                    {[]Rule{{Site: "example.org"}}, []string{"from 0 to the end of the space belong (no rule has a range)"}},
		"hole in front":           {[]Rule{rangeTo(5, end, 0)}, []string{"from 0 to 5 belong (before rule 1)"}},
		"hole in between":         {[]Rule{rangeTo(9, end, 1), {Site: "a.example"}, rangeTo(0, 7, 0)}, []string{"from 7 to 9 belong (between rules 3 and 1)"}},
		"hole behind":             {[]Rule{rangeTo(0, 7, 0)}, []string{"from 7 to the end of the space belong (behind rule 1)"}},
		"overlap":                 {[]Rule{rangeTo(0, 7, 0), rangeTo(6, end, 1)}, []string{"rules 1 and 2 both hold the place 6"}},
		"twice":                   {[]Rule{rangeTo(0, end, 0), rangeTo(0, end, 1)}, []string{"rules 1 and 2 both hold the place 0"}},
		"one inside another":      {[]Rule{rangeTo(0, 9, 0), rangeTo(3, 5, 1), rangeTo(9, end, 2)}, []string{"rules 1 and 2 both hold the place 3"}},
		"hole and overlap":        {[]Rule{rangeTo(1, 9, 0), rangeTo(8, end, 1)}, []string{"before rule 1", "rules 1 and 2"}},
		"the rest by a pattern":   {[]Rule{{Site: "example.org"}, {Pattern: "*", Partition: 1}}, nil},
		"the rest refused":        {[]Rule{rangeTo(3, 7, 0), refuse("**")}, nil},
		"a pattern of some pages": {[]Rule{rangeTo(0, 7, 0), refuse("*.pdf")}, []string{"behind rule 1"}},
	} {
		d := Even(Crawl, 1, now)
		d.Rules = test.rules
		faults := d.Faults()
		if len(faults) != len(test.want) {
			t.Errorf("%s: %q, want %q", name, faults, test.want)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(faults[i], want) {
				t.Errorf("%s: %q, want %q in it", name, faults[i], want)
			}
		}
		err := Publish(t.Context(), memblob.New(), d)
		if (err != nil) != (len(test.want) > 0) || err != nil && !strings.Contains(err.Error(), test.want[0]) {
			t.Errorf("%s: published: %v", name, err)
		}
	}
}

// put stores a document without checking it, as older programs did.
func put(t *testing.T, bucket blob.Bucket, d Document) {
	t.Helper()
	content, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Create(t.Context(), layout.StrategyKey(string(d.Kind), d.Version), content); err != nil {
		t.Fatal(err)
	}
}

// TestInForce: the newest version whose time From has come is in force, even after its time Expires.
// Before the first From, the oldest version is in force.
func TestInForce(t *testing.T) {
	bucket := memblob.New()
	start := now.UTC().Truncate(time.Second)
	hour := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
	first, second, third := Even(Storage, 2, start), Even(Storage, 1, start), Even(Storage, 3, start)
	first.From = hour(1)
	second.Version, second.From, second.Expires = 2, hour(3), hour(5)
	second.Rules[0].Partition = 7
	third.Version, third.From = 3, hour(9)
	third.Rules = third.Rules[:2]
	for _, d := range []Document{first, second, third} {
		put(t, bucket, d)
	}
	for _, test := range []struct {
		hour    int
		version uint64
		warning string
	}{
		{0, 1, "version 1 holds from 2026-11-21T23:00:00Z and is in force before"}, {1, 1, ""}, {2, 1, ""}, {3, 2, ""}, {4, 2, ""},
		{5, 2, "version 2 expired at 2026-11-22T03:00:00Z without a successor"}, {8, 2, "expired"}, {9, 3, "has a hole"},
	} {
		h, err := LoadAll(t.Context(), bucket, Storage, hour(test.hour), new(Kept))
		if err != nil {
			t.Fatal(err)
		}
		if warnings := strings.Join(h.Warnings, "\n"); h.InForce.Version != test.version || (warnings == "") != (test.warning == "") || !strings.Contains(warnings, test.warning) {
			t.Errorf("hour %d: version %d, warnings %q; want %d, %q", test.hour, h.InForce.Version, warnings, test.version, test.warning)
		}
		if len(h.Versions) != 3 {
			t.Errorf("hour %d: %d versions", test.hour, len(h.Versions))
		}
	}
}

// TestHistoryIsReadOnce: a process reads each version from the bucket only once, because versions
// never change.
func TestHistoryIsReadOnce(t *testing.T) {
	bucket := countblob.New(memblob.New())
	for version := range uint64(4) {
		d := Even(Crawl, 1, now)
		d.Version = version + 1
		put(t, bucket, d)
	}
	var kept Kept
	for i, step := range []struct {
		load func() (History, error)
		gets int64 // number of GETs so far
	}{
		{func() (History, error) { return LoadInForce(t.Context(), bucket, Crawl, now, &kept) }, 1},
		{func() (History, error) { return LoadAll(t.Context(), bucket, Crawl, now, &kept) }, 4},
		{func() (History, error) { return LoadAll(t.Context(), bucket, Crawl, now, &kept) }, 4},
	} {
		h, err := step.load()
		if err != nil || h.InForce.Version != 4 {
			t.Fatalf("step %d: version %d, %v", i, h.InForce.Version, err)
		}
		if n := bucket.Counts(); n.Get != step.gets || n.List != int64(i+1) {
			t.Errorf("step %d: %d GET, %d LIST, want %d, %d", i, n.Get, n.List, step.gets, i+1)
		}
	}
}

// TestDamagedVersion: a warning names a version that cannot be read, and the version before is
// in force. If the store does not answer, reading fails.
func TestDamagedVersion(t *testing.T) {
	bucket := memblob.New()
	first := Even(Storage, 2, now)
	put(t, bucket, first)
	other := first
	other.Version = 5
	for version, content := range map[uint64]string{2: "\x00\x00", 3: "", 4: "{}"} {
		if err := bucket.Create(t.Context(), layout.StrategyKey("storage", version), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	h, err := LoadAll(t.Context(), bucket, Storage, now, new(Kept))
	if err != nil || !cmp.Equal(h.InForce, first) || len(h.Warnings) != 3 || !strings.Contains(h.Warnings[0], layout.StrategyKey("storage", 4)) {
		t.Errorf("version %d in force, warnings %q, %v", h.InForce.Version, h.Warnings, err)
	}
	if _, err := LoadAll(t.Context(), memblob.New(), Storage, now, new(Kept)); !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("no version: %v, want %v", err, blob.ErrAbsent)
	}
}

// TestOfSite: OfSite returns the partitions that may have pages of a site.
func TestOfSite(t *testing.T) {
	at := parse(t, "https://example.org/a/b.html")
	site := layout.Place(uint64(at.Place.Site()) << 32)
	for name, test := range map[string]struct {
		rules []Rule
		want  []int
	}{
		"by its range":         {Even(Storage, 1, now).Rules, []int{0}},
		"its range alone":      {[]Rule{rangeTo(0, site, 1), rangeTo(site, site+1<<32, 2), rangeTo(site+1<<32, 0, 3)}, []int{2}},
		"shared out":           {[]Rule{rangeTo(0, site+9, 1), rangeTo(site+9, 0, 2)}, []int{1, 2}},
		"by its name":          {[]Rule{{Site: "example.com", Partition: 3}, {Site: "example.org", Partition: 4}, rangeTo(0, 0, 5)}, []int{4}},
		"some pages":           {[]Rule{{Pattern: "*.pdf", Partition: 6}, rangeTo(0, 0, 5)}, []int{6, 5}},
		"all by a pattern":     {[]Rule{{Pattern: "*", Partition: 6}, rangeTo(0, 0, 5)}, []int{6}},
		"refused":              {[]Rule{{Refuse: true, Site: "example.org"}, rangeTo(0, 0, 5)}, nil},
		"the end of the space": {[]Rule{rangeTo(math.MaxUint64, 0, 1), rangeTo(0, math.MaxUint64, 2)}, []int{2}},
	} {
		d := Even(Storage, 1, now)
		d.Rules = test.rules
		if diff := cmp.Diff(test.want, d.OfSite(at)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
