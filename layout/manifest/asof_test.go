package manifest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// commitAt commits a generation by a clock that shows the given number of minutes past
// noon.
func commitAt(t *testing.T, bucket *memblob.Bucket, minutes int, edit func(*manifest.Manifest)) manifest.Manifest {
	t.Helper()
	m, err := manifest.Commit(t.Context(), bucket, 0, at(minutes), func(m *manifest.Manifest) error {
		if edit != nil {
			edit(m)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func at(minutes int) func() time.Time {
	return func() time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
}

func TestAsOf(t *testing.T) {
	const notKept = -1
	for name, test := range map[string]struct {
		commits []int // time of generation 1, 2, …, in minutes past noon
		oldest  uint64
		want    map[int]int // wanted generation, by the minutes past noon
	}{
		"nothing":             {nil, 0, map[int]int{0: 0}},
		"one":                 {[]int{5}, 0, map[int]int{4: 0, 5: 1, 6: 1}},
		"many":                {[]int{1, 2, 3, 5, 8, 13, 21}, 0, map[int]int{0: 0, 1: 1, 3: 3, 4: 3, 7: 4, 12: 5, 20: 6, 21: 7, 1000: 7}},
		"some at once":        {[]int{1, 4, 4, 4, 9}, 0, map[int]int{3: 1, 4: 4, 8: 4, 9: 5}},
		"some are not kept":   {[]int{1, 2, 3, 5, 8, 13, 21}, 4, map[int]int{0: notKept, 4: notKept, 5: 4, 7: 4, 8: 5, 30: 7}},
		"only the newest is":  {[]int{1, 2, 3, 4}, 4, map[int]int{3: notKept, 4: 4}},
		"a clock was behind":  {[]int{10, 20, -500, 30, 40}, 0, map[int]int{9: 0, 10: 1, 19: 1, 20: 3, 29: 3, 30: 4, 45: 5}},
		"a clock was ahead":   {[]int{10, 20, 35, 30, 40}, 0, map[int]int{20: 2, 34: 2, 35: 4, 39: 4, 40: 5}},
		"all clocks stood":    {[]int{7, 7, 7}, 0, map[int]int{6: 0, 7: 3}},
		"all but one is gone": {[]int{1, 2, 3}, 3, map[int]int{2: notKept, 3: 3}},
	} {
		bucket := memblob.New()
		for i, minutes := range test.commits {
			commitAt(t, bucket, minutes, func(m *manifest.Manifest) {
				if i == len(test.commits)-1 {
					m.Oldest = test.oldest
				}
			})
		}
		for number := uint64(1); number < test.oldest; number++ {
			if err := bucket.Delete(t.Context(), layout.ManifestKey(0, number)); err != nil {
				t.Fatal(err)
			}
		}
		for minutes, want := range test.want {
			m, err := manifest.AsOf(t.Context(), bucket, 0, at(minutes)())
			got := int(m.Generation)
			if errors.Is(err, manifest.ErrNotKept) {
				got = notKept
			} else if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: as of minute %d it was generation %d, want %d", name, minutes, got, want)
			}
		}
	}
}

// TestAsOfWhileCollected checks AsOf while the oldest generations are being deleted: it finds a
// kept one, and returns ErrNotKept for a deleted one.
func TestAsOfWhileCollected(t *testing.T) {
	bucket := memblob.New()
	for minutes := range 10 {
		commitAt(t, bucket, minutes, nil)
	}
	for number := uint64(1); number < 7; number++ {
		if err := bucket.Delete(t.Context(), layout.ManifestKey(0, number)); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := manifest.AsOf(t.Context(), bucket, 0, at(7)()); err != nil || m.Generation != 8 {
		t.Errorf("generation %d, %v", m.Generation, err)
	}
	if _, err := manifest.AsOf(t.Context(), bucket, 0, at(3)()); !errors.Is(err, manifest.ErrNotKept) {
		t.Errorf("what is collected: %v", err)
	}
}

// swept deletes generations 1 to 8 of partition 0 when one of them, the first, was read. A request for the generation
// second waits for that.
type swept struct {
	*memblob.Bucket
	first, second uint64
	done          chan struct{}
}

// Get implements blob.Reader.
func (s swept) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if key == layout.ManifestKey(0, s.second) {
		<-s.done
	}
	content, err := s.Bucket.Get(ctx, key, r)
	if key == layout.ManifestKey(0, s.first) {
		for number := range uint64(8) {
			err = errors.Join(err, s.Delete(ctx, layout.ManifestKey(0, number+1)))
		}
		close(s.done)
	}
	return content, err
}

// TestAsOfWhileRead deletes the oldest generations while AsOf reads them. AsOf has read one of them already, but not
// the later one that was in force at the wanted time. It must return ErrNotKept, and not the one that it has read.
func TestAsOfWhileRead(t *testing.T) {
	whole := memblob.New()
	for minutes := range 10 {
		commitAt(t, whole, minutes, func(m *manifest.Manifest) { m.Restate() })
	}
	for name, bucket := range map[string]swept{
		"whole generations":       {whole, 5, 7, make(chan struct{})},               // the search for the wanted one reads 5, and then 7
		"a checkpoint and deltas": {chained(t, 200, 10), 1, 2, make(chan struct{})}, // 7 follows from these two
	} {
		if m, err := manifest.AsOf(t.Context(), bucket, 0, at(6)()); !errors.Is(err, manifest.ErrNotKept) {
			t.Errorf("%s: generation %d, %v", name, m.Generation, err)
		}
	}
}

// TestAsOfWhereGenerationsAreLost deletes some generations between others. For a time at which
// a deleted generation was the newest, AsOf must return the generation before it, and not
// ErrNotKept.
func TestAsOfWhereGenerationsAreLost(t *testing.T) {
	bucket := memblob.New()
	for minutes := range 10 {
		commitAt(t, bucket, minutes, nil)
	}
	for _, number := range []uint64{4, 5, 8} {
		if err := bucket.Delete(t.Context(), layout.ManifestKey(0, number)); err != nil {
			t.Fatal(err)
		}
	}
	for minutes, want := range []uint64{1, 2, 3, 3, 3, 6, 7, 7, 9, 10} {
		if m, err := manifest.AsOf(t.Context(), bucket, 0, at(minutes)()); err != nil || m.Generation != want {
			t.Errorf("as of minute %d it was generation %d, %v, want %d", minutes, m.Generation, err, want)
		}
	}
}

func TestAsOfCostsLittle(t *testing.T) {
	bucket := memblob.New()
	for minutes := range 1000 {
		commitAt(t, bucket, minutes, nil)
	}
	counted := countblob.New(bucket)
	if m, err := manifest.AsOf(t.Context(), counted, 0, at(300)()); err != nil || m.Generation != 301 {
		t.Fatalf("generation %d, %v", m.Generation, err)
	}
	if got := counted.Counts(); got.Get > 2+10 || got.List > 0 {
		t.Errorf("requests %+v", got)
	}
}

// TestEarlierFormat checks that a generation in format 1 is refused with an error that says so.
func TestEarlierFormat(t *testing.T) {
	content := []byte(`{"partition":0,"generation":1,"time":"2026-11-21T22:00:00Z","segments":[{"key":"s","packages":[2]}]}`)
	content = append(content[:len(content)-1], `,"sum":"`+layout.ContentHash(content)+"\"}\n"...)
	_, err := manifest.Decode(0, content)
	if err == nil || !strings.Contains(err.Error(), "format 1") || !strings.Contains(err.Error(), "crawl into a new bucket") {
		t.Errorf("Decode: %v", err)
	}
}

func TestCondemned(t *testing.T) {
	bucket := memblob.New()
	commitAt(t, bucket, 0, nil)
	m := commitAt(t, bucket, 10, func(m *manifest.Manifest) {
		m.Condemn(at(10)(), "kept", "erased")
		m.Condemned[1].Erase = true
		m.Condemn(at(-59)(), "by a clock that is behind")
		m.Condemn(at(-60)(), "after one that was ahead")
	})
	want := []manifest.Condemned{
		{Key: "kept", At: at(10)(), Since: 2}, {Key: "erased", At: at(10)(), Since: 2, Erase: true},
		{Key: "by a clock that is behind", At: noon, Since: 2}, {Key: "after one that was ahead", At: at(-60)(), Since: 2},
	}
	if diff := cmp.Diff(want, m.Condemned); diff != "" {
		t.Errorf("condemned (-want +got):\n%s", diff)
	}
	collectable := func(m manifest.Manifest, minutes int) (keys []string) {
		for _, c := range m.Condemned {
			if m.Collectable(c, at(minutes)(), 5*time.Minute) {
				keys = append(keys, c.Key)
			}
		}
		return keys
	}
	if got := collectable(m, 14); len(got) != 0 {
		t.Errorf("within the grace %v may go", got)
	}
	if diff := cmp.Diff([]string{"erased"}, collectable(m, 15)); diff != "" {
		t.Errorf("while generation 1 is kept (-want +got):\n%s", diff)
	}
	m.Oldest = 2
	if got := collectable(m, 15); len(got) != 4 {
		t.Errorf("when it is not, only %v may go", got)
	}
	m.Condemned[1].Gone = at(15)()
	if got := collectable(m, 15); len(got) != 3 {
		t.Errorf("what is gone is to go: %v", got)
	}
	if !m.IsCondemned("kept") || !m.IsCondemned("erased") || m.IsCondemned("other") {
		t.Error("condemned is not what was condemned")
	}
	if !m.Erase() || m.Erase() || !m.Condemned[0].Erase {
		t.Errorf("erased: %+v", m.Condemned)
	}
}

func TestParts(t *testing.T) {
	s := manifest.Segment{Documents: 9, Parts: []manifest.Part{{Package: 4, Documents: 2}, {Package: 1, Documents: 7}}}
	for id, want := range map[uint32][2]int{4: {0, 2}, 1: {2, 9}} {
		if from, to, found := s.Part(id); from != want[0] || to != want[1] || !found {
			t.Errorf("package %d: %d to %d, %v", id, from, to, found)
		}
	}
	if _, _, found := s.Part(2); found {
		t.Error("a part that is not there was found")
	}
	if s.Live() != 9 {
		t.Errorf("%d live", s.Live())
	}
	s.Deletions = &manifest.Deletions{Key: "o", Bytes: 3, Documents: 4}
	if s.Live() != 5 || s.Dead() != 4 {
		t.Errorf("%d live, %d dead", s.Live(), s.Dead())
	}
	m := manifest.Manifest{Segments: []manifest.Segment{s}}
	if m.Bytes() != 3 {
		t.Errorf("%d bytes", m.Bytes())
	}
}
