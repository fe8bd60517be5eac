package frontier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestInbox(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := t.Context()
		inbox := NewInbox(rdb, 3)
		list := func() []Waiting {
			t.Helper()
			got, err := inbox.List(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := list(); len(got) != 0 {
			t.Errorf("an empty inbox lists %v", got)
		}
		waiting := func(epoch, tok uint64) Waiting {
			return Waiting{Batch: layout.Version{Epoch: epoch, Token: tok}, Bytes: int64(tok) << 30, Pages: 7, Since: noon.UTC()}
		}
		want := []Waiting{waiting(1, 9), waiting(1, 10), waiting(2, 1)}
		for _, i := range []int{2, 0, 1, 2, 0} {
			if err := inbox.Add(ctx, want[i]); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, list()); diff != "" {
			t.Error(diff)
		}
		settled := want[1]
		settled.Settled, settled.Since = true, noon.Add(time.Hour)
		want[1].Settled = true
		for _, w := range []Waiting{settled, waiting(1, 10)} { // a settled object stays settled
			if err := inbox.Add(ctx, w); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, list()); diff != "" {
				t.Error(diff)
			}
		}
		if got, err := inbox.Settled(ctx, 10); err != nil || !cmp.Equal(want[1:2], got) {
			t.Errorf("settled are %v, %v, want %v", got, err, want[1:2])
		}
		if got, err := inbox.Len(ctx); err != nil || got != 3 {
			t.Errorf("%d in the list, %v, want 3", got, err)
		}
		if got, err := NewInbox(rdb, 4).List(ctx); err != nil || len(got) != 0 {
			t.Errorf("the inbox of another partition lists %v, %v", got, err)
		}
		for range 2 {
			if err := inbox.Remove(ctx, []layout.Version{want[0].Batch, want[2].Batch}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[1:2], list()); diff != "" {
				t.Error(diff)
			}
		}
		if err := inbox.Remove(ctx, []layout.Version{want[1].Batch}); err != nil || rdb.DBSize(ctx).Val() != 0 {
			t.Errorf("removing the last: %v, and something is left", err)
		}
		if err := inbox.Remove(ctx, nil); err != nil {
			t.Errorf("removing nothing: %v", err)
		}
		for _, want := range []int{0, 3, 12} { // Redis has no number at first
			if want > 0 {
				if err := inbox.SetPacked(ctx, want); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := inbox.Packed(ctx); err != nil || got != want {
				t.Errorf("%d pages are packed, %v, want %d", got, err, want)
			}
		}
		for field, value := range map[string]string{"1-2": "{}", want[0].Batch.String(): "{"} {
			rdb.FlushDB(ctx)
			rdb.HSet(ctx, inbox.key(), field, value)
			if got, err := inbox.List(ctx); err == nil {
				t.Errorf("damaged %s: %s lists %v", field, value, got)
			}
		}
	})
}

// TestSettledOfMany has many spool objects in an inbox, most of them settled. Settled must return as many of the
// settled ones as are asked for, each once, and in the end all.
func TestSettledOfMany(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const all, enough = 3000, 100
		inbox := NewInbox(rdb, 3)
		for n := range uint64(all) {
			w := Waiting{Batch: layout.Version{Epoch: 1, Token: n + 1}, Bytes: 9, Since: noon.UTC(), Settled: n%3 > 0}
			if err := inbox.Add(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		left := all / 3 * 2
		for left > 0 {
			some, err := inbox.Settled(t.Context(), enough)
			if err != nil {
				t.Fatal(err)
			}
			if len(some) < min(enough, left) || !redistest.IsEmbedded(t) && len(some) > 3*enough { // the embedded Redis yields all
				t.Fatalf("%d of %d settled ones are returned, want about %d", len(some), left, enough)
			}
			var batches []layout.Version
			for i, w := range some {
				if !w.Settled || w.Batch.Token%3 == 1 || i > 0 && w.Batch.Compare(some[i-1].Batch) <= 0 {
					t.Fatalf("%+v is returned", w)
				}
				batches = append(batches, w.Batch)
			}
			if err := inbox.Remove(t.Context(), batches); err != nil {
				t.Fatal(err)
			}
			left -= len(some)
		}
		if n, err := inbox.Len(t.Context()); err != nil || n != all/3 {
			t.Errorf("%d are left, %v, want those that are not settled", n, err)
		}
	})
}

// TestFullRedis: a Redis that has used up its memory still answers what only reads, and batches are removed from an
// inbox, which makes room. What needs memory is refused, and the error says why. The embedded Redis has no limit.
func TestFullRedis(t *testing.T) {
	rdb := redistest.Server(t)
	front, inbox := fixture{New(rdb, 0), t}, NewInbox(rdb, 0)
	front.must(front.Reset(t.Context()))
	front.must(front.Open(t.Context(), 9, "", nil))
	front.admit(noon, entry("a", "b", 1))
	var batches []layout.Version
	for number := range uint64(chunk + 1) {
		w := Waiting{Batch: layout.Version{Epoch: 1, Token: number + 1}, Settled: true}
		front.must(inbox.Add(t.Context(), w))
		batches = append(batches, w.Batch)
	}
	front.must(rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	if counts, err := front.Counts(t.Context()); err != nil || counts.Waiting != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
	front.must(front.Knows(t.Context(), nil))
	if listed, err := inbox.List(t.Context()); err != nil || len(listed) != len(batches) || !listed[0].Settled {
		t.Errorf("%d batches are listed, %v", len(listed), err)
	}
	if err := inbox.Add(t.Context(), Waiting{Batch: layout.Version{Epoch: 2, Token: 1}}); !redis.IsOOMError(err) {
		t.Errorf("a batch is added: %v", err)
	}
	front.must(inbox.Remove(t.Context(), batches))
	if n, err := rdb.Exists(t.Context(), inbox.key(), inbox.settled()).Result(); err != nil || n > 0 {
		t.Errorf("%d keys are left, %v", n, err)
	}
}
