package frontier

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// TestForget removes URLs in every state from a frontier. The frontier must remain complete, the text of
// the URLs must be gone from the queues, and hosts without other URLs must not be leased any more.
func TestForget(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for _, test := range []struct {
			removal Removal
			want    string // letters of the states afterwards
		}{
			{Unqueue, "fsss"},
			{Remove, ""},
		} {
			f.must(f.rdb.FlushAll(t.Context()).Err())
			f.must(f.Open(t.Context(), 1, "", nil))
			moved, better := entry("moved", "x", 9), entry("moved", "x", 1)
			waits, leased, parked := entry("waits", "x", 1), entry("leased", "x", 1), entry("parked", "x", 1)
			again, out, stored := entry("again", "x", 1), entry("out", "x", 1), entry("stored", "x", 1)
			failed, parkedIn := entry("failed", "x", 1), request(noon)
			f.admit(noon, leased)
			l := f.lease(request(noon))
			f.waitAgain(book.Stored, out)
			f.lease(request(noon))
			parked.Collection = "full"
			f.admit(noon, parked)
			parkedIn.Rooms = map[string]int64{"full": -1}
			f.noLease(parkedIn)
			f.admit(noon, moved, waits)
			f.admit(noon, better) // the first element is outdated
			f.waitAgain(book.Stored, again)
			f.must(f.Mark(t.Context(), []Known{{ID: stored.ID, Place: placeOf(stored), State: book.Stored}, {ID: failed.ID, Place: placeOf(failed), State: book.Failed}}))
			other := entry("waits", "other", 1)
			f.admit(noon, other)

			urls := make(map[layout.Identity]Removal)
			all := []Entry{moved, waits, leased, parked, failed, out, again, stored, entry("unknown", "x", 1)}
			for _, e := range all {
				urls[e.ID] = test.removal
			}
			f.must(f.Forget(t.Context(), urls))
			f.must(f.Built(t.Context(), ""))
			letters, known := "", f.known()
			for _, e := range all {
				if state := known[string(e.ID[:])]; state != "" {
					letters += state[:1]
				}
			}
			if letters != test.want {
				t.Errorf("states %q, want %q", letters, test.want)
			}
			queues := f.queues()
			if diff := cmp.Diff([]string{queueKey(t, f.Frontier, "1", "waits")}, queues); diff != "" {
				t.Errorf("queues left (-want +got):\n%s", diff)
			}
			if n := f.rdb.Exists(t.Context(), f.key("dropped")).Val(); n != 0 {
				t.Error("elements of removed URLs are left")
			}
			f.settle(settlement(l, at(1), book.NotAsked))
			if got := paths(f.lease(request(noon)).Entries); !cmp.Equal(got, []string{"other"}) {
				t.Errorf("leased %q, want the other URL", got)
			}
			f.noLease(request(noon))
			f.must(f.Built(t.Context(), ""))
		}
	})
}

// TestForgetIsCutShort: a process dies after the script of Forget, so that the elements of the removed
// URLs are still in the queues. A lease must drop them, and the frontier must remain complete.
func TestForgetIsCutShort(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		var args []any
		for i := range 3 {
			e := entry("a", fmt.Sprint("gone", i), 1)
			f.admit(noon, e)
			args = append(args, string(e.ID[:]), true)
		}
		f.admit(noon, entry("a", "stays", 2))
		f.must(f.run(t.Context(), forgetScript, args...).Err())
		f.must(f.Built(t.Context(), ""))
		if n := f.counts().Waiting; n != 1 {
			t.Errorf("%d wait, want 1", n)
		}
		if got := paths(f.lease(request(noon)).Entries); !cmp.Equal(got, []string{"stays"}) {
			t.Errorf("leased %q", got)
		}
		f.must(f.Built(t.Context(), ""))
		if n := f.rdb.Exists(t.Context(), f.key("dropped")).Val(); n != 0 {
			t.Error("the removed URLs are still remembered")
		}
	})
}

// TestMove changes the settings that are recorded for a frontier. This must work only if the present ones are as
// expected.
func TestMove(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.must(f.Note(t.Context(), "first"))
		for _, step := range []struct {
			from, to string
			want     bool
		}{{"", "b", true}, {"", "c", false}, {"b", "c", true}} {
			if moved, err := f.Move(t.Context(), step.from, step.to); err != nil || moved != step.want {
				t.Errorf("from %q to %q: %v, %v; want %v", step.from, step.to, moved, err, step.want)
			}
		}
		if settings, note, err := f.Settings(t.Context()); settings != "c" || note != "first" || err != nil {
			t.Errorf("settings %q, note %q, %v", settings, note, err)
		}
		f.must(f.Distrust(t.Context()))
		if moved, err := f.Move(t.Context(), "c", "d"); moved || err != nil {
			t.Errorf("after Distrust: %v, %v", moved, err)
		}
	})
}
