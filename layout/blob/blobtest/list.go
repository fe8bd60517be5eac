package blobtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// checkKeys checks that objects can be stored, read and listed under keys with characters that
// clients and servers often encode wrongly.
func checkKeys(t *testing.T, f fixture) {
	names := []string{
		"=", "+", "a b", " leading", "trailing ", "%41", "100%", "a&b", "a?b#c", "a;b:c,d", "~", "!'()*",
		"$dollar@at", "[x]{y}|z", `back\slash`, `"quoted"`, "<tag>", "^`", "é", "e\u0301", "日本語", "😀", "a.b", "..c", "a..b",
		strings.Repeat("long", 50), "0_0_20260101000000000.spf", "x-amz-meta",
	}
	var want []blob.Object
	for _, name := range names {
		key := f.create(t, name, name)
		want = append(want, blob.Object{Key: key, Size: int64(len(name))})
	}
	for i, name := range names {
		f.want(t, want[i].Key, blob.Range{}, name)
	}
	sortByKey(want)
	if diff := cmp.Diff(want, f.list(t, f.prefix, "")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for i, object := range want {
		if diff := cmp.Diff(want[i+1:], f.list(t, f.prefix, object.Key), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("list behind %q (-want +got):\n%s", object.Key, diff)
		}
	}
}

// checkList checks that listings are sorted by key. A store that keeps objects as files may
// list them in another order, by directories: "a/1" before "a-b/1".
func checkList(t *testing.T, f fixture) {
	var keys []string
	for _, name := range []string{"a/1", "a/2", "a-b/1", "a.txt", "a0", "b/c/d/1", "b/c/1", "b/c-d", "b/e", "c"} {
		keys = append(keys, f.create(t, name, "x"))
	}
	slices.Sort(keys)
	for _, c := range []struct{ prefix, startAfter string }{
		{"", ""}, {"a", ""}, {"a/", ""}, {"a/1", ""}, {"b/c", ""}, {"b/c/", ""}, {"none", ""},
		{"", "a"}, {"", "a-b/1"}, {"", "a/"}, {"", "a/1"}, {"", "a/1x"}, {"", "c"}, {"", "d"},
		{"b/", "a"}, {"b/", "b/c/1"}, {"b/", "b/c/d"}, {"b/", "z"},
	} {
		prefix, startAfter := f.prefix+c.prefix, ""
		if c.startAfter != "" {
			startAfter = f.prefix + c.startAfter
		}
		var want []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) && key > startAfter {
				want = append(want, key)
			}
		}
		var got []string
		for _, object := range f.list(t, prefix, startAfter) {
			got = append(got, object.Key)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("list %q behind %q (-want +got):\n%s", c.prefix, c.startAfter, diff)
		}
	}
}

// checkListMany checks a listing of more objects than one request returns.
func checkListMany(t *testing.T, f fixture) {
	const many = 1_050
	want := make([]blob.Object, many)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < many; i += 8 {
				key := fmt.Sprintf("%s%d/%04d", f.prefix, i/100%3, i)
				want[i] = blob.Object{Key: key, Size: int64(i % 7)}
				if err := f.Create(t.Context(), key, make([]byte, i%7)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	sortByKey(want)
	if diff := cmp.Diff(want, f.list(t, f.prefix, "")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1_001:], f.list(t, f.prefix, want[1_000].Key)); diff != "" {
		t.Errorf("list behind the thousandth (-want +got):\n%s", diff)
	}
	seen := 0
	for _, err := range f.List(t.Context(), f.prefix, "") {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 1_020 {
			break // a listing may be left in its middle
		}
	}
}

func sortByKey(objects []blob.Object) {
	slices.SortFunc(objects, func(a, b blob.Object) int { return strings.Compare(a.Key, b.Key) })
}
