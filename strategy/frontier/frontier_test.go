package frontier

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// eachRedis runs a test with an open frontier on each kind of Redis: the embedded one, and a
// redis-server if it is installed.
func eachRedis(t *testing.T, test func(t *testing.T, f fixture)) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) { test(t, opened(t, rdb)) })
}

func TestOpen(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, f := t.Context(), New(rdb, 3)
		if _, err := f.Epoch(ctx); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Epoch of an empty Redis: %v, want ErrNotBuilt", err)
		}
		if _, err := f.Admit(ctx, noon, entries("a", 1)); err != nil {
			t.Errorf("Admit before Open: %v", err)
		}
		if _, _, err := f.Lease(ctx, request(noon)); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Lease before Open: %v, want ErrNotBuilt", err)
		}
		if err := f.Open(ctx, 0, "", nil); err == nil {
			t.Error("Open took epoch 0")
		}
		for _, epoch := range []uint64{2, 7, 5} {
			if err := f.Open(ctx, epoch, "", nil); err != nil {
				t.Fatal(err)
			}
		}
		if epoch, err := f.Epoch(ctx); epoch != 7 || err != nil {
			t.Errorf("Epoch = %d, %v, want the highest, 7", epoch, err)
		}
		if lease, ok, err := f.Lease(ctx, request(noon)); !ok || err != nil || lease.Version.Epoch != 7 {
			t.Errorf("Lease = %+v, %v, %v, want one in epoch 7", lease, ok, err)
		}
		if _, err := New(rdb, 4).Epoch(ctx); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Epoch of another partition: %v, want ErrNotBuilt", err)
		}
	})
}

func TestAdmit(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := append(entries("a", 600), entries("b", 601)...)
		if n := f.admit(noon, list...); n != 1201 {
			t.Errorf("added %d, want 1201", n)
		}
		if n := f.admit(noon, append(list[:3], list[0], entry("c", "x", 9), entry("c", "x", 9))...); n != 1 {
			t.Errorf("added %d, want only the unknown one", n)
		}
		want := Counts{Waiting: 1202}
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEntrySurvives(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		want := []Entry{
			{URL: "http://a/1?q=\x00ü", Host: "a", Depth: 3, Hops: 255, Attempts: 254, Exponent: -7, Collection: "docs"},
			{URL: "http://a/2", Host: "a", Depth: 65535, Exponent: 32767, Weight: 1, Sitemap: true},
		}
		for i := range want {
			want[i].ID = layout.IdentityOf(want[i].URL)
		}
		f.admit(noon, want...)
		if diff := cmp.Diff(Lease{
			Version: layout.Version{Epoch: 1, Token: 1}, Host: "a", NotBefore: noon, Deadline: at(60), Entries: want,
		}, f.lease(request(noon))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBadInput(t *testing.T) {
	f := opened(t, redistest.Embedded(t))
	for _, bad := range []Entry{
		{URL: "", Host: "a"},
		{URL: "http://a/"},
		{URL: strings.Repeat("u", 1<<16), Host: "a"},
		{URL: "http://a/", Host: "a", Collection: strings.Repeat("c", 256)},
		{URL: "http://a/", Host: "a", Last: &batch.Look{ETag: strings.Repeat("e", 256)}},
		{URL: "http://a/", Host: "a", Last: &batch.Look{Modified: strings.Repeat("m", 256)}},
	} {
		if _, err := f.Admit(t.Context(), noon, []Entry{bad}); err == nil {
			t.Errorf("admitted %+v", bad)
		}
		if _, err := f.Renew(t.Context(), noon, []Due{{Entry: bad}}); err == nil {
			t.Errorf("renewed %+v", bad)
		}
	}
	for _, bad := range []Request{
		{Max: 0, MaxBytes: 1, Connections: 1},
		{Max: 501, MaxBytes: 1, Connections: 1},
		{Max: 1, MaxBytes: 0, Connections: 1},
		{Max: 1, MaxBytes: 1, Connections: 0},
	} {
		if _, _, err := f.Lease(t.Context(), bad); err == nil {
			t.Errorf("leased for %+v", bad)
		}
	}
	if err := f.Mark(t.Context(), []Known{{State: book.Retry}}); err == nil {
		t.Error("marked a state that is not final")
	}
	if diff := cmp.Diff(Counts{}, f.counts()); diff != "" {
		t.Error(diff)
	}
}

func TestMark(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 4)
		f.admit(noon, list[:3]...)
		known := func(e Entry, tok uint64, s book.State) Known {
			return Known{ID: e.ID, Place: placeOf(e), Version: layout.Version{Epoch: 1, Token: tok}, State: s}
		}
		for range 2 { // the second call changes nothing
			f.must(f.Mark(t.Context(), []Known{
				known(list[0], 9, book.Stored), known(list[0], 8, book.Failed),
				known(list[1], 8, book.Failed), known(list[1], 10, book.Unchanged), known(list[1], 9, book.Skipped),
				known(list[3], 1, book.Skipped),
			}))
			f.admit(noon, list[3])
			want := Counts{Waiting: 1, Stored: 2, Skipped: 1}
			if diff := cmp.Diff(want, f.counts()); diff != "" {
				t.Error(diff)
			}
		}
		if got := f.pending(); len(got) != 1 || !got[list[2].ID] {
			t.Errorf("pending %v, want only %s", got, list[2].ID)
		}
		if got := paths(f.lease(request(noon)).Entries); !cmp.Equal(got, []string{"2"}) {
			t.Errorf("leased %v, want only the URL that waits", got)
		}
	})
}

func TestManyStaleElements(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 2000)
		f.admit(noon, list...)
		var known []Known
		for _, e := range list[:1999] {
			known = append(known, Known{ID: e.ID, Place: placeOf(e), Version: layout.Version{Epoch: 1}, State: book.Stored})
		}
		f.must(f.Mark(t.Context(), known))
		if got := paths(f.lease(request(noon)).Entries); !cmp.Equal(got, []string{"1999"}) {
			t.Errorf("leased %v, want the one URL that still waits", got)
		}
		f.noLease(request(noon))
	})
}

func TestRedisAway(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	defer rdb.Close()
	f, ctx := New(rdb, 3), t.Context()
	for name, call := range map[string]func(context.Context) error{
		"Epoch": func(ctx context.Context) error { _, err := f.Epoch(ctx); return err },
		"Open":  func(ctx context.Context) error { return f.Open(ctx, 1, "", nil) },
		"Admit": func(ctx context.Context) error { _, err := f.Admit(ctx, noon, entries("a", 1)); return err },
		"Mark":  func(ctx context.Context) error { return f.Mark(ctx, []Known{{State: book.Stored}}) },
		"Renew": func(ctx context.Context) error {
			_, err := f.Renew(ctx, noon, []Due{{Entry: entry("a", "x", 1)}})
			return err
		},
		"Extend":  func(ctx context.Context) error { _, err := f.Extend(ctx, layout.Version{}, noon); return err },
		"Tallies": func(ctx context.Context) error { _, err := f.Tallies(ctx, []string{"x"}); return err },
		"Lease":   func(ctx context.Context) error { _, _, err := f.Lease(ctx, request(noon)); return err },
		"Settle":  func(ctx context.Context) error { _, err := f.Settle(ctx, Settlement{}); return err },
		"Expire":  func(ctx context.Context) error { _, err := f.Expire(ctx, noon); return err },
		"Counts":  func(ctx context.Context) error { _, err := f.Counts(ctx); return err },
		"Pending": func(ctx context.Context) error {
			for _, err := range f.Pending(ctx) {
				return err
			}
			return nil
		},
		"Inbox": func(ctx context.Context) error { _, err := NewInbox(rdb, 3).List(ctx); return err },
		"Robots": func(ctx context.Context) error {
			_, err := NewRobotsCache(rdb).Get(ctx, noon, "http://a")
			return err
		},
	} {
		err := call(ctx)
		if err == nil || errors.Is(err, ErrNotBuilt) {
			t.Errorf("%s: %v, want that Redis is away", name, err)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "cannot ") || !strings.Contains(text, "connection refused") {
			t.Errorf("%s: %q does not say what failed and why", name, text)
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if err := call(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the cause wrapped", name, err)
		}
	}
}

func TestEpochTakesOver(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 1)...)
		old := f.lease(request(noon))
		f.must(f.Open(t.Context(), 2, "", nil))
		f.admit(noon, entries("b", 1)...)
		lease := f.lease(request(noon))
		if lease.Version.Compare(old.Version) <= 0 || lease.Version.Epoch != 2 {
			t.Errorf("leased %s after %s, want a higher one in epoch 2", lease.Version, old.Version)
		}
		late := settlement(lease, noon, book.Stored)
		late.Outcomes[0] = result(old.Entries[0], book.Failed)
		f.settle(late)
		f.settle(settlement(old, noon.Add(time.Hour), book.Stored))
		want := Counts{Failed: 1, Waiting: 1}
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}
