package countblob

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blob.Bucket { return New(memblob.New()) })
}

func TestCounts(t *testing.T) {
	ctx, b := t.Context(), New(memblob.New())
	_ = b.Create(ctx, "a", []byte("12345"))
	_ = b.Create(ctx, "a", []byte("123"))
	_ = b.Replace(ctx, "a", []byte("1234567890"))
	_, _ = b.Get(ctx, "a", blob.Range{Offset: 2, Length: 4})
	_, _ = b.Get(ctx, "absent", blob.Range{})
	_, _ = b.Head(ctx, "a")
	_ = b.Delete(ctx, "a")
	_ = b.Delete(ctx, "a")
	for range b.List(ctx, "", "") {
		t.Error("listed an object")
	}
	want := Counts{Put: 3, Get: 2, Head: 1, Delete: 2, List: 1, Read: 4, Written: 18}
	if diff := cmp.Diff(want, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	got, err := json.Marshal(b.Counts())
	if want := `{"put":3,"get":2,"list":1,"delete":2,"head":1,"read":4,"written":18}`; string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestSums(t *testing.T) {
	a := Counts{Put: 1, Get: 2, List: 3, Delete: 4, Head: 5, Read: 600, Written: 700}
	b := Counts{Put: 10, Get: 20, List: 30, Delete: 40, Head: 50, Read: 6000, Written: 7000}
	want := Counts{Put: 11, Get: 22, List: 33, Delete: 44, Head: 55, Read: 6600, Written: 7700}
	if diff := cmp.Diff(want, a.Plus(b)); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(a, want.Minus(b)); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
	if got := a.Requests(); got != 15 {
		t.Errorf("%d requests, want 15", got)
	}
}

func TestListCountsRequests(t *testing.T) {
	inner := memblob.New()
	for i := range 2_001 {
		if err := inner.Create(t.Context(), fmt.Sprintf("%04d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		startAfter string
		stop       int
		want       int64
	}{
		{"", -1, 3}, {"0000", -1, 2}, {"1000", -1, 1}, {"1999", -1, 1}, {"2000", -1, 1}, {"", 1_000, 1}, {"", 1_001, 2},
	} {
		b, seen := New(inner), 0
		for range b.List(t.Context(), "", c.startAfter) {
			if seen++; seen == c.stop {
				break
			}
		}
		if got := b.Counts().List; got != c.want {
			t.Errorf("behind %q, stop after %d: counted %d requests, want %d", c.startAfter, c.stop, got, c.want)
		}
	}
}
