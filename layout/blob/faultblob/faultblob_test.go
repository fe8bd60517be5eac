package faultblob

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blob.Bucket {
		return New(memblob.New(), func(Call) Fault { return None })
	})
}

func always(f Fault) func(Call) Fault { return func(Call) Fault { return f } }

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault  Fault
		listed []string
		left   []string
	}{
		{Before, nil, []string{"a", "b", "gone"}},
		{After, []string{"a"}, []string{"a", "b", "created", "replaced"}},
	} {
		t.Run(c.fault.String(), func(t *testing.T) {
			ctx, inner := t.Context(), memblob.New()
			for _, key := range []string{"a", "b", "gone"} {
				if err := inner.Create(ctx, key, []byte(key)); err != nil {
					t.Fatal(err)
				}
			}
			b := New(inner, always(c.fault))
			content, errGet := b.Get(ctx, "a", blob.Range{})
			size, errHead := b.Head(ctx, "a")
			listed, errList := keys(b)
			for op, err := range map[Op]error{
				Get: errGet, Head: errHead, List: errList,
				Create:  b.Create(ctx, "created", nil),
				Replace: b.Replace(ctx, "replaced", nil),
				Delete:  b.Delete(ctx, "gone"),
			} {
				if !errors.Is(err, blob.ErrRetryable) {
					t.Errorf("%s: got %v, want ErrRetryable", op, err)
				}
			}
			if content != nil || size != 0 {
				t.Errorf("an answer came through: %q, %d", content, size)
			}
			if diff := cmp.Diff(c.listed, listed); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			left, err := keys(inner)
			if diff := cmp.Diff(c.left, left); diff != "" || err != nil {
				t.Errorf("left behind (-want +got):\n%s%v", diff, err)
			}
		})
	}
}

func TestHang(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	inner := memblob.New()
	b := New(inner, func(Call) Fault { cancel(); return Hang })
	if err := b.Create(ctx, "a", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if left, err := keys(inner); left != nil || err != nil {
		t.Errorf("the call happened: %v, %v", left, err)
	}
}

func TestEachFailsEveryCallOnce(t *testing.T) {
	var failed []Call
	Each(t, func(t *testing.T, decide func(Call) Fault) {
		b := New(memblob.New(), func(c Call) Fault {
			fault := decide(c)
			if fault != None {
				failed = append(failed, c)
			}
			return fault
		})
		_ = b.Create(t.Context(), "a", nil)
		for range stride - 1 {
			_, _ = b.Head(t.Context(), "left out")
		}
		_, _ = b.Head(t.Context(), "b")
	})
	want := []Call{{1, Create, "a"}, {stride + 1, Head, "b"}, {1, Create, "a"}}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Errorf("failed calls (-want +got):\n%s", diff)
	}
}

func keys(r blob.Reader) ([]string, error) {
	var names []string
	for object, err := range r.List(context.Background(), "", "") {
		if err != nil {
			return names, err
		}
		names = append(names, object.Key)
	}
	return names, nil
}
