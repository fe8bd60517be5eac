package blob_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestCreateOnce(t *testing.T) {
	const before, after, none = faultblob.Before, faultblob.After, faultblob.None
	for _, c := range []struct {
		name    string
		present string
		faults  []faultblob.Fault // of the calls in their order
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

func TestCreateOnceOtherError(t *testing.T) {
	full := errors.New("no")
	err := blob.CreateOnce(t.Context(), refusing{memblob.New(), full}, "key", nil)
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

// refusing fails every Create.
type refusing struct {
	blob.Bucket
	err error
}

func (r refusing) Create(context.Context, string, []byte) error { return r.err }
