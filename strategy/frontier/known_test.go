package frontier

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// TestBuckets lets a frontier grow from no URL to thousands, and then removes most of them. The frontier must
// know exactly the right URLs at each size. There must be a bucket for 16 URLs, and no large one.
func TestBuckets(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.must(f.Reset(t.Context())) // chooses a seed
		want := map[string]string{}
		urls := racetest.Rounds(10_000, 1_000)
		for n := 0; n < urls; {
			var known []Known
			for range min(1+n/3, urls-n) {
				id := layout.IdentityOf(strconv.Itoa(n))
				k := Known{ID: id, Place: layout.PlaceOf("a", id), Version: token(uint64(n)), State: book.Stored}
				for i := range n % 4 {
					k.Tallies = append(k.Tallies, fmt.Sprint(i))
				}
				want[string(k.ID[:])], _ = finalState(k.State, k.Version, k.Place.Site(), k.Tallies)
				known, n = append(known, k), n+1
			}
			f.must(f.Mark(t.Context(), known))
			if got := f.known(); !maps.Equal(got, want) {
				t.Fatalf("after %d URLs: %s", n, cmp.Diff(want, got))
			}
		}
		buckets := f.rdb.HGetAll(t.Context(), f.key("known")).Val()
		delete(buckets, "seed")
		if n := len(buckets); n < urls/17 || n > urls/16+1 {
			t.Errorf("%d buckets of %d URLs, want one for 16", n, urls)
		}
		for number, bucket := range buckets {
			if states, ok := statesIn(bucket); !ok || len(states) > 80 {
				t.Errorf("bucket %s has %d URLs, %v", number, len(states), ok)
			}
		}
		removed := make(map[layout.Identity]Removal)
		for n := range urls - 10 {
			id := layout.IdentityOf(strconv.Itoa(n))
			removed[id] = Remove
			delete(want, string(id[:]))
		}
		f.must(f.Forget(t.Context(), removed))
		if got := f.known(); !maps.Equal(got, want) {
			t.Errorf("after most are removed: %s", cmp.Diff(want, got))
		}
		f.must(f.Open(t.Context(), 2, "", nil))
		f.must(f.Built(t.Context(), ""))
	})
}

// TestIdentityElsewhere: the bytes of an identity also occur in a record of another URL, once across two
// records and once within the marks of one. The frontier must not take this for a record of the first.
func TestIdentityElsewhere(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		first := Known{ID: layout.IdentityOf("first"), Version: token(1), State: book.Stored, Tallies: []string{"a", "b"}}
		first.Place = layout.PlaceOf("a", first.ID)
		state, _ := finalState(first.State, first.Version, first.Place.Site(), first.Tallies)
		record := string(first.ID[:]) + state
		f.must(f.Mark(t.Context(), []Known{first}))
		for _, from := range []int{1, 9, len(record) - 16} {
			id := layout.Identity([]byte(record[from:]))
			if got, err := f.Describe(t.Context(), address.Address{ID: id}); err != nil || got != "it does not know the URL" {
				t.Errorf("the bytes from %d: %q, %v, want an unknown URL", from, got, err)
			}
			f.must(f.Mark(t.Context(), []Known{{ID: id, Place: layout.PlaceOf("a", id), Version: token(2), State: book.Failed}}))
		}
		got := slices.Collect(maps.Values(f.known()))
		slices.Sort(got)
		failed, _ := finalState(book.Failed, token(2), first.Place.Site(), nil)
		if diff := cmp.Diff([]string{failed, failed, failed, state}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEncodeVersion(t *testing.T) {
	versions := []layout.Version{{}, {Token: 1}, {Token: 999_999_999_999}, {Epoch: 1}, {Epoch: 99_999_999, Token: 999_999_999_999}}
	var encoded []string
	for _, v := range versions {
		s := encodeVersion(v)
		if got := decodeVersion(s); len(s) != versionBytes || got != v {
			t.Errorf("%v is encoded as %q and decoded as %v", v, s, got)
		}
		encoded = append(encoded, s)
	}
	encoded = append(encoded, encodeVersion(layout.Version{Epoch: 1 << 40, Token: 1 << 50})) // no batch has it
	if !slices.IsSorted(encoded) {
		t.Errorf("%q are not sorted", encoded)
	}
}

// FuzzStatesIn proves that any text is read without a crash, and that no record is counted twice.
func FuzzStatesIn(f *testing.F) {
	id := layout.IdentityOf("x")
	f.Add("\x00\x02\x00\x01" + string(id[:]) + "ab")
	f.Add("\x00\x02\x00\x00\x00\x01\x00\x01" + string(id[:]) + "c")
	f.Add("\x00\x00\xff\xff")
	f.Fuzz(func(t *testing.T, bucket string) {
		states, ok := statesIn(bucket)
		if ok && len(states)*(idBytes+1) > len(bucket) {
			t.Errorf("%d states in %d bytes", len(states), len(bucket))
		}
	})
}
