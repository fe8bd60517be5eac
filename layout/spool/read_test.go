package spool

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

const key = "spool/0003/00000002-000000000007.spool"

func stored(t *testing.T, content []byte) *countblob.Bucket {
	t.Helper()
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
	return countblob.New(bucket)
}

func TestRead(t *testing.T) {
	large := batch(7, 100, 20_000)
	wordy := batch(8, 1, 100)
	for range 40 {
		wordy.Ledger.Robots = append(wordy.Ledger.Robots, Robots{Origin: "http://b", Body: make([]byte, 10_000), Fetched: when})
	}
	for name, tc := range map[string]struct {
		spool    Spool
		gets     int64
		maxBytes int64
	}{
		"empty":                    {Spool{Ledger: Ledger{Batch: large.Ledger.Batch}}, 1, 400},
		"small":                    {batch(6, 5, 100), 1, 4_000},
		"bodies stay":              {large, 1, suffix},
		"ledger beyond the suffix": {wordy, 2, 550_000},
	} {
		bucket := stored(t, mustEncode(t, tc.spool))
		want := sorted(tc.spool)
		ledger, err := ReadLedger(t.Context(), bucket, key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want.Ledger, sorted(Spool{Ledger: ledger}).Ledger, wholeBytes); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if c := bucket.Counts(); c.Get != tc.gets || c.Read > tc.maxBytes {
			t.Errorf("%s: ledger took %d requests of %d bytes, want %d of at most %d", name, c.Get, c.Read, tc.gets, tc.maxBytes)
		}
		got, err := Read(t.Context(), bucket, key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, sorted(got), wholeBytes); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if c := bucket.Counts(); c.Get != tc.gets+1 {
			t.Errorf("%s: spool took %d requests, want 1", name, c.Get-tc.gets)
		}
	}
}

func TestReadOfNothing(t *testing.T) {
	_, err := Read(t.Context(), memblob.New(), key)
	_, errLedger := ReadLedger(t.Context(), memblob.New(), key)
	for _, err := range []error{err, errLedger} {
		if !errors.Is(err, blob.ErrAbsent) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), key) {
			t.Errorf("got %v, want that %s is absent", err, key)
		}
	}
}

func TestReadOfDamage(t *testing.T) {
	content := mustEncode(t, batch(7, 100, 20_000))
	for name, damaged := range map[string][]byte{
		"empty":  {},
		"tiny":   content[:10],
		"no end": content[:len(content)-100],
		"tail":   content[len(content)-2000:],
	} {
		bucket := stored(t, damaged)
		_, err := Read(t.Context(), bucket, key)
		_, errLedger := ReadLedger(t.Context(), bucket, key)
		for _, err := range []error{err, errLedger} {
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: got %v, want damage of %s", name, err, key)
			}
		}
	}
}
