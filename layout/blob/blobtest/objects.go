package blobtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func checkAbsent(t *testing.T, f fixture) {
	ctx, key := t.Context(), f.prefix+"absent"
	_, err := f.Get(ctx, key, blob.Range{})
	wantError(t, "get", err, blob.ErrAbsent)
	_, err = f.Get(ctx, key, blob.Range{Offset: 5, Length: 5})
	wantError(t, "get of a range", err, blob.ErrAbsent)
	_, err = f.Head(ctx, key)
	wantError(t, "head", err, blob.ErrAbsent)
}

func checkGet(t *testing.T, f fixture) {
	key := f.create(t, "a/b/c.txt", "hello")
	f.want(t, key, blob.Range{}, "hello")
	if size, err := f.Head(t.Context(), key); err != nil || size != 5 {
		t.Errorf("head: got %d, %v; want 5", size, err)
	}
}

func checkRanges(t *testing.T, f fixture) {
	key := f.create(t, "digits", "0123456789")
	for r, want := range map[blob.Range]string{
		{}:                                 "0123456789",
		{Length: 1}:                        "0",
		{Length: 10}:                       "0123456789",
		{Length: 11}:                       "0123456789",
		{Length: math.MaxInt64}:            "0123456789",
		{Offset: 1}:                        "123456789",
		{Offset: 3, Length: 4}:             "3456",
		{Offset: 7, Length: 100}:           "789",
		{Offset: 9}:                        "9",
		{Offset: 9, Length: 1}:             "9",
		{Offset: 9, Length: math.MaxInt64}: "9",
		{Offset: -1}:                       "9",
		{Offset: -10}:                      "0123456789",
		{Offset: -11}:                      "0123456789",
		{Offset: -math.MaxInt64}:           "0123456789",
	} {
		f.want(t, key, r, want)
	}
	for _, r := range []blob.Range{{Offset: 10}, {Offset: 10, Length: 1}, {Offset: 1 << 40}, {Offset: math.MaxInt64, Length: 9}} {
		_, err := f.Get(t.Context(), key, r)
		wantError(t, "get behind the end", err, blob.ErrRange)
	}
	for _, r := range []blob.Range{{Length: -1}, {Offset: -5, Length: 2}} {
		if content, err := f.Get(t.Context(), key, r); err == nil {
			t.Errorf("get %+v: got %q, want an error", r, content)
		}
	}
}

func checkEmpty(t *testing.T, f fixture) {
	key := f.create(t, "empty", "")
	f.want(t, key, blob.Range{}, "")
	if size, err := f.Head(t.Context(), key); err != nil || size != 0 {
		t.Errorf("head: got %d, %v; want 0", size, err)
	}
	for _, r := range []blob.Range{{Length: 1}, {Offset: 1}, {Offset: -1}} {
		_, err := f.Get(t.Context(), key, r)
		wantError(t, "get of a range", err, blob.ErrRange)
	}
}

func checkLarge(t *testing.T, f fixture) {
	content := make([]byte, 20<<20+7) // more than clients send in one part of a multipart upload
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	key := f.prefix + "large"
	if err := f.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
	got, err := f.Get(t.Context(), key, blob.Range{})
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, %v; want the %d that were stored", len(got), err, len(content))
	}
	f.want(t, key, blob.Range{Offset: 17 << 20, Length: 99}, string(content[17<<20:17<<20+99]))
	wantError(t, "create again", f.Create(t.Context(), key, content), blob.ErrExists)
}

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
