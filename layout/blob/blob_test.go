package blob_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestCreateOnce(t *testing.T) {
	const before, after, none = faultblob.Before, faultblob.After, faultblob.None
	for _, c := range []struct {
		name    string
		present string
		faults  []faultblob.Fault // fault of each call, in the order of the calls
		want    error
		left    string
	}{
		{name: "absent", left: "mine"},
		{name: "same content", present: "mine", left: "mine"},
		{name: "other content", present: "theirs", want: blob.ErrExists, left: "theirs"},
		{name: "did not happen", faults: []faultblob.Fault{before}, left: "mine"},
		{name: "happened", faults: []faultblob.Fault{after}, left: "mine"},
		{name: "lost, other content", present: "theirs", faults: []faultblob.Fault{before}, want: blob.ErrExists, left: "theirs"},
		{name: "lost, then happened", faults: []faultblob.Fault{before, none, after}, left: "mine"},
		{name: "cannot look", faults: []faultblob.Fault{after, before}, want: blob.ErrRetryable, left: "mine"},
		{name: "lost twice", faults: []faultblob.Fault{before, none, before}, want: blob.ErrRetryable},
		{name: "exists, cannot look", present: "mine", faults: []faultblob.Fault{none, before}, want: blob.ErrRetryable, left: "mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, inner := t.Context(), memblob.New()
			if c.present != "" {
				if err := inner.Create(ctx, "key", []byte(c.present)); err != nil {
					t.Fatal(err)
				}
			}
			b := faultblob.New(inner, func(call faultblob.Call) faultblob.Fault {
				if int(call.Number) <= len(c.faults) {
					return c.faults[call.Number-1]
				}
				return none
			})
			if err := blob.CreateOnce(ctx, b, "key", []byte("mine")); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if left, _ := inner.Get(ctx, "key", blob.Range{}); string(left) != c.left {
				t.Errorf("left %q, want %q", left, c.left)
			}
		})
	}
}

// TestCreateOnceLarge stores a large object twice, and then objects that differ from it in their last byte or in size.
func TestCreateOnceLarge(t *testing.T) {
	bucket, content := memblob.New(), make([]byte, 20<<20)
	for range 2 {
		if err := blob.CreateOnce(t.Context(), bucket, "key", content); err != nil {
			t.Fatal(err)
		}
	}
	other := bytes.Clone(content)
	other[len(other)-1]++
	for _, content := range [][]byte{other, content[1:], append(other, 0)} {
		if err := blob.CreateOnce(t.Context(), bucket, "key", content); !errors.Is(err, blob.ErrExists) {
			t.Errorf("other content of %d bytes: got %v", len(content), err)
		}
	}
}

func TestCreateOnceOtherError(t *testing.T) {
	full := errors.New("no")
	err := blob.CreateOnce(t.Context(), refusing{memblob.New(), full}, "key", nil)
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

// refusing is a bucket whose Create always fails with err.
type refusing struct {
	blob.Bucket
	err error
}

func (r refusing) Create(context.Context, string, []byte) error { return r.err }

func TestRangeWithin(t *testing.T) {
	for _, c := range []struct {
		r        blob.Range
		size     int64
		from, to int64
		want     error
	}{
		{blob.Range{}, 10, 0, 10, nil},
		{blob.Range{}, 0, 0, 0, nil},
		{blob.Range{Offset: 3}, 10, 3, 10, nil},
		{blob.Range{Offset: 3, Length: 4}, 10, 3, 7, nil},
		{blob.Range{Length: 1}, 10, 0, 1, nil},
		{blob.Range{Offset: 9, Length: 5}, 10, 9, 10, nil},
		{blob.Range{Offset: 9, Length: math.MaxInt64}, 10, 9, 10, nil},
		{blob.Range{Offset: -3}, 10, 7, 10, nil},
		{blob.Range{Offset: -30}, 10, 0, 10, nil},
		{blob.Range{Offset: 10}, 10, 0, 0, blob.ErrRange},
		{blob.Range{Offset: math.MaxInt64, Length: 1}, 10, 0, 0, blob.ErrRange},
		{blob.Range{Length: 1}, 0, 0, 0, blob.ErrRange},
		{blob.Range{Offset: -1}, 0, 0, 0, blob.ErrRange},
	} {
		from, to, err := c.r.Within(c.size)
		if from != c.from || to != c.to || !errors.Is(err, c.want) {
			t.Errorf("%+v within %d: got %d, %d, %v; want %d, %d, %v", c.r, c.size, from, to, err, c.from, c.to, c.want)
		}
	}
}

func TestRangeCheck(t *testing.T) {
	for _, r := range []blob.Range{{Length: -1}, {Offset: -1, Length: 1}, {Offset: math.MinInt64}} {
		if err := r.Check(); err == nil || errors.Is(err, blob.ErrRange) {
			t.Errorf("%+v: got %v, want an error of its own", r, err)
		}
		if _, _, err := r.Within(10); err == nil {
			t.Errorf("%+v within 10: no error", r)
		}
	}
}

func TestTail(t *testing.T) {
	damaged, short := errors.New("damaged"), errors.New("short")
	for _, c := range []struct {
		content string
		size    int64 // size of the tail that the end of the object gives; 0 if it is damaged
		want    string
		gets    int64
		err     error
	}{
		{"0123456789", 3, "6789", 1, nil},
		{"0123456789", 4, "6789", 1, nil},
		{"0123456789", 7, "3456789", 2, nil},
		{"0123456789", 70, "0123456789", 2, nil},
		{"012", 7, "012", 1, nil},
		{"0123456789", 0, "", 1, short},
		{"", 3, "", 1, damaged},
	} {
		bucket := countblob.New(memblob.New())
		if err := bucket.Create(t.Context(), "key", []byte(c.content)); err != nil {
			t.Fatal(err)
		}
		end, err := blob.Tail(t.Context(), bucket, "key", 4, damaged, func([]byte) (int64, error) {
			if c.size == 0 {
				return 0, short
			}
			return c.size, nil
		})
		if string(end) != c.want || !errors.Is(err, c.err) || c.err != nil && !errors.Is(err, damaged) || bucket.Counts().Get != c.gets {
			t.Errorf("%d of %q: got %q, %v by %d GETs", c.size, c.content, end, err, bucket.Counts().Get)
		}
	}
	if _, err := blob.Tail(t.Context(), memblob.New(), "key", 4, damaged, nil); !errors.Is(err, blob.ErrAbsent) || errors.Is(err, damaged) {
		t.Errorf("got %v, want it absent", err)
	}
}
