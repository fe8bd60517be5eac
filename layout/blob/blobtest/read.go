package blobtest

import (
	"bytes"
	"crypto/rand"
	"math"
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
