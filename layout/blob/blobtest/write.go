package blobtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func checkCreate(t *testing.T, f fixture) {
	key := f.create(t, "once", "first")
	wantError(t, "create with other content", f.Create(t.Context(), key, []byte("second")), blob.ErrExists)
	wantError(t, "create with the same content", f.Create(t.Context(), key, []byte("first")), blob.ErrExists)
	f.want(t, key, blob.Range{}, "first")
}

func checkCreateRace(t *testing.T, f fixture) {
	const racers = 50
	key := f.prefix + "race"
	errs := make([]error, racers)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range racers {
		group.Go(func() {
			<-start
			errs[i] = f.Create(t.Context(), key, fmt.Appendf(nil, "racer %d", i))
			for errors.Is(errs[i], blob.ErrRetryable) { // a store may answer "conflict, try again"
				errs[i] = f.Create(t.Context(), key, fmt.Appendf(nil, "racer %d", i))
			}
		})
	}
	close(start)
	group.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner >= 0:
			t.Errorf("racers %d and %d both won", winner, i)
		case err == nil:
			winner = i
		default:
			wantError(t, fmt.Sprintf("racer %d", i), err, blob.ErrExists)
		}
	}
	f.want(t, key, blob.Range{}, fmt.Sprintf("racer %d", winner))
}

func checkReplace(t *testing.T, f fixture) {
	key := f.prefix + "hint"
	for _, content := range []string{"first", "second, longer", "3"} {
		if err := f.Replace(t.Context(), key, []byte(content)); err != nil {
			t.Fatal(err)
		}
		f.want(t, key, blob.Range{}, content)
	}
	wantError(t, "create", f.Create(t.Context(), key, nil), blob.ErrExists)
}

func checkDelete(t *testing.T, f fixture) {
	key, neighbour := f.create(t, "d/one", "1"), f.create(t, "d/two", "2")
	for range 2 {
		if err := f.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.Get(t.Context(), key, blob.Range{})
	wantError(t, "get", err, blob.ErrAbsent)
	f.want(t, neighbour, blob.Range{}, "2")
	f.create(t, "d/one", "again")
	f.want(t, key, blob.Range{}, "again")
	if err := f.Delete(t.Context(), f.prefix+"never/was/here"); err != nil {
		t.Errorf("delete of an absent object: %v", err)
	}
}

func checkCopied(t *testing.T, f fixture) {
	key, content := f.prefix+"copied", []byte("original")
	if err := f.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
	copy(content, "else")
	got, err := f.Get(t.Context(), key, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	copy(got, "YYYY")
	f.want(t, key, blob.Range{}, "original")

	hint := []byte("original")
	if err := f.Replace(t.Context(), key, hint); err != nil {
		t.Fatal(err)
	}
	copy(hint, "ZZZZ")
	f.want(t, key, blob.Range{}, "original")
}

func checkCancelled(t *testing.T, f fixture) {
	key := f.create(t, "present", "here")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, errGet := f.Get(ctx, key, blob.Range{})
	_, errHead := f.Head(ctx, key)
	var errList error
	for _, err := range f.List(ctx, f.prefix, "") {
		errList = err
	}
	for what, err := range map[string]error{
		"get":     errGet,
		"head":    errHead,
		"list":    errList,
		"create":  f.Create(ctx, f.prefix+"new", nil),
		"replace": f.Replace(ctx, key, nil),
		"delete":  f.Delete(ctx, key),
	} {
		wantError(t, what, err, context.Canceled)
		if errors.Is(err, blob.ErrRetryable) {
			t.Errorf("%s: %v: a cancelled call must not be tried again", what, err)
		}
	}
	f.want(t, key, blob.Range{}, "here")
}
