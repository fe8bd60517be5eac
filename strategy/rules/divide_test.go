package rules

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// TestSplitAndJoin splits and joins partitions, one step after the other. Each step must move only the URLs of the two
// partitions.
func TestSplitAndJoin(t *testing.T) {
	const end = 0
	site, pattern := Rule{Site: "example.org", Partition: 1}, Rule{Refuse: true, Pattern: "*.pdf"}
	d := Document{Kind: Storage, Rules: []Rule{pattern, site, rangeTo(0, 50, 0), rangeTo(50, end, 1)}}
	for i, step := range []struct {
		change func() ([]Rule, error)
		want   []Rule // nil: it fails
		moved  []int
	}{
		{func() ([]Rule, error) { return d.Split(1, 2, 70) }, []Rule{pattern, site, rangeTo(0, 50, 0), rangeTo(50, 70, 1), rangeTo(70, end, 2)}, []int{1, 2}},
		{func() ([]Rule, error) { return d.Split(0, 3, 20) }, []Rule{pattern, site, rangeTo(0, 20, 0), rangeTo(20, 50, 3), rangeTo(50, 70, 1), rangeTo(70, end, 2)}, []int{0, 3}},
		{func() ([]Rule, error) { return d.Split(0, 4, 20) }, nil, nil},
		{func() ([]Rule, error) { return d.Split(0, 4, 0) }, nil, nil},
		{func() ([]Rule, error) { return d.Split(5, 4, 60) }, nil, nil},
		{func() ([]Rule, error) { return d.Join(2, 0) }, []Rule{pattern, site, rangeTo(0, 20, 0), rangeTo(20, 50, 3), rangeTo(50, 70, 1), rangeTo(70, end, 0)}, []int{0, 2}},
		{func() ([]Rule, error) { return d.Split(0, 4, 60) }, []Rule{pattern, site, rangeTo(0, 20, 0), rangeTo(20, 50, 3), rangeTo(50, 70, 1), rangeTo(70, end, 4)}, []int{0, 4}},
		{func() ([]Rule, error) { return d.Split(4, 5, 1<<63) }, []Rule{pattern, site, rangeTo(0, 20, 0), rangeTo(20, 50, 3), rangeTo(50, 70, 1), rangeTo(70, 1<<63, 4), rangeTo(1<<63, end, 5)}, []int{4, 5}},
		{func() ([]Rule, error) { return d.Join(5, 4) }, []Rule{pattern, site, rangeTo(0, 20, 0), rangeTo(20, 50, 3), rangeTo(50, 70, 1), rangeTo(70, end, 4)}, []int{4, 5}},
		{func() ([]Rule, error) { return d.Join(3, 0) }, []Rule{pattern, site, rangeTo(0, 50, 0), rangeTo(50, 70, 1), rangeTo(70, end, 4)}, []int{0, 3}},
		{func() ([]Rule, error) { return d.Join(3, 0) }, nil, nil},
		{func() ([]Rule, error) { return d.Join(0, 7) }, nil, nil},
		{func() ([]Rule, error) { return d.Join(0, 0) }, nil, nil},
	} {
		got, err := step.change()
		if diff := cmp.Diff(step.want, got); diff != "" || (err != nil) != (step.want == nil) {
			t.Fatalf("step %d: %v (-want +got):\n%s", i, err, diff)
		}
		if err != nil {
			continue
		}
		next := Document{Kind: Storage, Rules: got}
		if moved, told := Moved(d, next); !told || !cmp.Equal(moved, step.moved) {
			t.Errorf("step %d: moved %v, %v; want %v", i, moved, told, step.moved)
		}
		if faults := next.Faults(); len(faults) > 0 {
			t.Errorf("step %d: %q", i, faults)
		}
		d = next
	}
}

// TestMoved compares versions of which Moved can tell the partitions with other URLs, and others.
func TestMoved(t *testing.T) {
	const end = 0
	refuse, site := Rule{Refuse: true, Pattern: "*.pdf"}, Rule{Site: "example.org", Partition: 1}
	whole := rangeTo(0, end, 0)
	for name, test := range map[string]struct {
		before, after []Rule
		moved         []int
		told          bool
	}{
		"nothing":           {[]Rule{whole}, []Rule{whole}, nil, true},
		"another order":     {[]Rule{rangeTo(0, 9, 0), rangeTo(9, end, 1)}, []Rule{rangeTo(9, end, 1), rangeTo(0, 9, 0)}, nil, true},
		"another border":    {[]Rule{rangeTo(0, 9, 0), rangeTo(9, end, 1)}, []Rule{rangeTo(0, 5, 0), rangeTo(5, end, 1)}, []int{0, 1}, true},
		"finer":             {[]Rule{whole}, []Rule{rangeTo(0, 5, 0), rangeTo(5, 7, 0), rangeTo(7, end, 0)}, nil, true},
		"one of three":      {Even(Crawl, 3, now).Rules, append(Even(Crawl, 3, now).Rules[:2:2], rangeTo(Even(Crawl, 3, now).Rules[2].Range.From, end, 7)), []int{2, 7}, true},
		"a refusal":         {[]Rule{whole}, []Rule{refuse, whole}, nil, false},
		"a site":            {[]Rule{whole}, []Rule{site, whole}, nil, false},
		"a refusal between": {[]Rule{rangeTo(0, 9, 0), refuse, rangeTo(9, end, 0)}, []Rule{rangeTo(0, 5, 0), refuse, rangeTo(5, end, 0)}, nil, false},
		"a hole":            {[]Rule{whole}, []Rule{rangeTo(0, 9, 0)}, nil, false},
		"a hole before":     {[]Rule{rangeTo(1, end, 0)}, []Rule{whole}, nil, false},
		"an overlap":        {[]Rule{whole}, []Rule{rangeTo(0, 9, 0), rangeTo(5, end, 1)}, nil, false},
		"no ranges":         {[]Rule{{Pattern: "*"}}, []Rule{{Pattern: "*", Partition: 1}}, nil, false},
	} {
		moved, told := Moved(Document{Rules: test.before}, Document{Rules: test.after})
		if told != test.told || told && !cmp.Equal(moved, test.moved) {
			t.Errorf("%s: %v, %v; want %v, %v", name, moved, told, test.moved, test.told)
		}
	}
}

// TestChange: Change offers a number that no version has for a partition, publishes the next version, changes the version
// of somebody else who was faster, and publishes nothing if the newest version does not hold yet.
func TestChange(t *testing.T) {
	bucket := memblob.New()
	if err := Publish(t.Context(), bucket, Even(Storage, 1, now)); err != nil {
		t.Fatal(err)
	}
	split := func(at layout.Place) func(Document, int) ([]Rule, error) {
		return func(newest Document, unused int) ([]Rule, error) { return newest.Split(0, unused, at) }
	}
	for i, change := range []func(Document, int) ([]Rule, error){
		split(70),
		func(newest Document, _ int) ([]Rule, error) { return newest.Join(1, 0) },
		split(60), // not partition 1 again
	} {
		if d, err := Change(t.Context(), bucket, Storage, now, change); err != nil || d.Version != uint64(i+2) {
			t.Fatalf("step %d: %v, %v", i, d, err)
		}
	}
	got, err := Load(t.Context(), bucket, Storage)
	if diff := cmp.Diff([]Rule{rangeTo(0, 60, 0), rangeTo(60, 0, 2)}, got.Rules); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	faster := true
	last, err := Change(t.Context(), bucket, Storage, now, func(newest Document, unused int) ([]Rule, error) {
		if faster {
			faster = false
			if _, err := Change(t.Context(), bucket, Storage, now, split(50)); err != nil {
				t.Fatal(err)
			}
		}
		return newest.Split(2, unused, 80)
	})
	if diff := cmp.Diff([]Rule{rangeTo(0, 50, 0), rangeTo(50, 60, 3), rangeTo(60, 80, 2), rangeTo(80, 0, 4)}, last.Rules); err != nil || diff != "" {
		t.Errorf("another was faster: %v (-want +got):\n%s", err, diff)
	}
	later := Even(Storage, 2, now.Add(time.Hour))
	later.Version = 7
	if err := Publish(t.Context(), bucket, later); err != nil {
		t.Fatal(err)
	}
	if _, err := Change(t.Context(), bucket, Storage, now, split(50)); err == nil {
		t.Error("a version that does not hold yet is changed")
	}
}

// TestChangeBesideOthers: Change goes beyond a damaged version, and publishes nothing after a version of a newer program,
// whose fields a next version would lack.
func TestChangeBesideOthers(t *testing.T) {
	newer, err := json.Marshal(map[string]any{
		"kind": Storage, "version": 2, "from": now, "standard": address.Standard, "rules": []Rule{rangeTo(0, 0, 0)}, "weights": 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		second []byte // version 2 as stored
		want   uint64 // version that Change publishes; 0: it fails
	}{
		"damaged": {[]byte("{"), 3},
		"newer":   {layout.Seal(newer), 0},
	} {
		bucket := memblob.New()
		if err := Publish(t.Context(), bucket, Even(Storage, 1, now)); err != nil {
			t.Fatal(err)
		}
		if err := bucket.Create(t.Context(), layout.StrategyKey(string(Storage), 2), test.second); err != nil {
			t.Fatal(err)
		}
		published, err := Change(t.Context(), bucket, Storage, now, func(newest Document, unused int) ([]Rule, error) {
			return newest.Split(0, unused, 70)
		})
		if (err == nil) != (test.want > 0) || published.Version != test.want {
			t.Errorf("%s: version %d, %v; want version %d", name, published.Version, err, test.want)
		}
	}
}

// TestSpans: Spans returns ranges of whole sites, and Ranges those of the rules.
func TestSpans(t *testing.T) {
	const site = layout.Place(1) << 32
	d := Document{Rules: []Rule{
		{Refuse: true, Pattern: "*"}, {Pattern: "*.pdf", Partition: 3}, {Site: "example.org", Partition: 2},
		rangeTo(0, 5*site, 0), rangeTo(5*site, 7*site+1, 1), rangeTo(7*site+1, 0, 2),
	}}
	want := map[int][]layout.Range{
		0: {{From: 0, To: 5 * site}},
		1: {{From: 5 * site, To: 8 * site}},
		2: {parse(t, "https://example.org/").Place.SiteRange(), {From: 7 * site}},
		3: {{}},
	}
	if diff := cmp.Diff(want, d.Spans()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]layout.Range{{From: 7*site + 1}}, d.Ranges(2)); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
}
