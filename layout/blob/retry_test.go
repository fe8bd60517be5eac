package blob_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// policy returns a Policy that never waits: its Sleep appends the requested duration to
// pauses.
func policy(pauses *[]time.Duration) blob.Policy {
	return blob.Policy{
		Attempts: 5, Base: 100 * time.Millisecond, Max: 300 * time.Millisecond,
		Random: func() float64 { return 0.5 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			*pauses = append(*pauses, d)
			return ctx.Err()
		},
	}
}

func TestRetryConformance(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blob.Bucket {
		var pauses []time.Duration
		return blob.Retry(memblob.New(), policy(&pauses))
	})
}

func TestRetryUntilItWorks(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		var pauses []time.Duration
		ctx, inner := t.Context(), memblob.New()
		b := blob.Retry(faultblob.New(inner, decide), policy(&pauses))
		for _, err := range []error{
			b.Create(ctx, "a", []byte("1")),
			b.Create(ctx, "b", []byte("2")),
			b.Create(ctx, "c", []byte("3")),
			b.Replace(ctx, "a", []byte("one")),
			b.Delete(ctx, "b"),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if content, err := b.Get(ctx, "a", blob.Range{}); string(content) != "one" || err != nil {
			t.Errorf("get: got %q, %v", content, err)
		}
		if size, err := b.Head(ctx, "c"); size != 1 || err != nil {
			t.Errorf("head: got %d, %v", size, err)
		}
		var listed []string
		for object, err := range b.List(ctx, "", "") {
			if err != nil {
				t.Error(err)
			}
			listed = append(listed, object.Key)
		}
		if diff := cmp.Diff([]string{"a", "c"}, listed); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		if err := b.Create(ctx, "a", []byte("other")); !errors.Is(err, blob.ErrExists) {
			t.Errorf("create of what exists: got %v", err)
		}
	})
}

func TestRetryGivesUp(t *testing.T) {
	calls := 0
	var pauses []time.Duration
	b := blob.Retry(faultblob.New(memblob.New(), func(faultblob.Call) faultblob.Fault {
		calls++
		return faultblob.Before
	}), policy(&pauses))
	ms := time.Millisecond
	want := []time.Duration{50 * ms, 100 * ms, 150 * ms, 150 * ms}
	for name, operation := range operations(b) {
		calls, pauses = 0, nil
		if err := operation(t.Context()); !errors.Is(err, blob.ErrRetryable) || calls != 5 {
			t.Errorf("%s: got %v after %d calls; want ErrRetryable after 5", name, err, calls)
		}
		if diff := cmp.Diff(want, pauses); diff != "" {
			t.Errorf("%s: pauses (-want +got):\n%s", name, diff)
		}
	}
}

func TestRetryEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	var pauses []time.Duration
	b := blob.Retry(faultblob.New(memblob.New(), func(faultblob.Call) faultblob.Fault {
		calls++
		cancel()
		return faultblob.Before
	}), policy(&pauses))
	for name, operation := range operations(b) {
		calls = 0
		if err := operation(ctx); !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("%s: got %v after %d calls; want the context's error after 1", name, err, calls)
		}
	}
}

func TestRetryLeavesOtherErrorsAlone(t *testing.T) {
	var pauses []time.Duration
	b := blob.Retry(memblob.New(), policy(&pauses))
	_, err := b.Get(t.Context(), "absent", blob.Range{})
	if !errors.Is(err, blob.ErrAbsent) || pauses != nil {
		t.Errorf("got %v after pauses %v", err, pauses)
	}
}

// The answer of a Create is lost, and meanwhile another writer has stored other content under the
// key. When the Create is tried again, it must fail with ErrExists.
func TestRetryCreateLost(t *testing.T) {
	inner := memblob.New()
	var pauses []time.Duration
	b := blob.Retry(faultblob.New(inner, func(c faultblob.Call) faultblob.Fault {
		if c.Number == 1 {
			if err := inner.Create(t.Context(), "a", []byte("theirs")); err != nil {
				t.Error(err)
			}
			return faultblob.Before
		}
		return faultblob.None
	}), policy(&pauses))
	if err := b.Create(t.Context(), "a", []byte("mine")); !errors.Is(err, blob.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
}

// A listing fails after each of the first eight objects. It must be continued each time,
// although Policy.Attempts is 5: an attempt that yields an object does not count. In the end it
// must have yielded every object once.
func TestRetryListGoesOn(t *testing.T) {
	inner := memblob.New()
	var want []string
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		want = append(want, key)
		if err := inner.Create(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
	}
	var pauses []time.Duration
	b := blob.Retry(faultblob.New(inner, func(c faultblob.Call) faultblob.Fault {
		if c.Number > 8 {
			return faultblob.None
		}
		return faultblob.After
	}), policy(&pauses))
	var got []string
	for object, err := range b.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, object.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSleep(t *testing.T) {
	if err := blob.Sleep(t.Context(), time.Nanosecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := blob.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func operations(b blob.Bucket) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"get":     func(ctx context.Context) error { _, err := b.Get(ctx, "a", blob.Range{}); return err },
		"head":    func(ctx context.Context) error { _, err := b.Head(ctx, "a"); return err },
		"create":  func(ctx context.Context) error { return b.Create(ctx, "a", nil) },
		"replace": func(ctx context.Context) error { return b.Replace(ctx, "a", nil) },
		"delete":  func(ctx context.Context) error { return b.Delete(ctx, "a") },
		"list": func(ctx context.Context) (last error) {
			for _, err := range b.List(ctx, "", "") {
				last = err
			}
			return last
		},
	}
}
