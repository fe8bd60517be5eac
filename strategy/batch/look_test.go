package batch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

func TestLookOf(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	stored := book.Outcome{State: book.Stored, Status: 200, Time: at, ETag: `"1"`, Modified: "yesterday", Digest: 7, Body: 8, Collections: []string{"b", "a"}}
	want := Look{Time: at, ETag: `"1"`, Modified: "yesterday", Digest: 7, Body: 8, Collections: []string{"b", "a"}}
	if diff := cmp.Diff(&want, LookOf(stored)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, state := range []book.State{book.Skipped, book.Failed} {
		if got := LookOf(book.Outcome{State: state, Digest: 7}).Digest; got != 0 {
			t.Errorf("%s: something is to be compared with what was stored", state)
		}
	}
	for _, test := range []struct {
		state  book.State
		status uint16
		want   bool
	}{
		{book.Unchanged, 304, false},
		{book.Unchanged, 404, true},
		{book.Unchanged, 410, true},
		{book.Unchanged, 429, false},
		{book.Unchanged, 503, false},
		{book.Unchanged, 0, false},
		{book.Skipped, 404, false},
	} {
		if got := LookOf(book.Outcome{State: test.state, Status: test.status}).Missing; got != test.want {
			t.Errorf("%s with status %d: missing %v, want %v", test.state, test.status, got, test.want)
		}
	}
}
