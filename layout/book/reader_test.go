package book

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

const key = "books/0003/test.book"

// stored puts a book into a bucket that counts requests.
func stored(t *testing.T, content []byte) *countblob.Bucket {
	t.Helper()
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
	return countblob.New(bucket)
}

func mustOpen(t *testing.T, bucket blob.Reader) *Reader {
	t.Helper()
	r, err := Open(t.Context(), bucket, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read reads a range of an open book.
func read(ctx context.Context, r *Reader, within layout.Range) (Book, error) {
	var b Book
	for o, err := range r.Outcomes(ctx, within) {
		if err != nil {
			return b, err
		}
		b.Outcomes = append(b.Outcomes, o)
	}
	for l, err := range r.Links(ctx, within) {
		if err != nil {
			return b, err
		}
		b.Links = append(b.Links, l)
	}
	return b, nil
}

func TestRanges(t *testing.T) {
	all := site(7, 120)
	r := mustOpen(t, stored(t, mustEncode(t, all)))
	if outcomes, links := r.Counts(); outcomes != len(all.Outcomes) || links != len(all.Links) {
		t.Errorf("Counts: got %d and %d, want %d and %d", outcomes, links, len(all.Outcomes), len(all.Links))
	}
	const page = layout.Place(0x1234abcd_00000000)
	for _, within := range []layout.Range{
		{}, {From: page}, {To: page}, {From: page + 1<<30, To: page + 1<<31}, {From: page + 5, To: page + 6},
		{From: 1 << 63}, {From: page + 1<<31, To: page + 1<<31 + 1<<25},
	} {
		want := Book{
			Outcomes: slices.DeleteFunc(slices.Clone(all.Outcomes), func(o Outcome) bool { return !within.Contains(o.Place) }),
			Links:    slices.DeleteFunc(slices.Clone(all.Links), func(l Link) bool { return !within.Contains(l.Place) }),
		}
		got, err := read(t.Context(), r, within)
		if err != nil {
			t.Fatalf("%x: %v", within, err)
		}
		if d := difference(want, got); d != "" {
			t.Errorf("%x: (-want +got)\n%s", within, d)
		}
	}
}

func TestSizes(t *testing.T) {
	content := mustEncode(t, site(7, 120))
	r := open(t, content)
	outcomes, links := r.Sizes()
	size, _, err := directorySize(content)
	if err != nil {
		t.Fatal(err)
	}
	if outcomes <= 0 || links <= 0 || int64(len(content)) != outcomes+links+int64(magicSize+size+footerSize) {
		t.Errorf("%d bytes of outcomes, %d of links, %d in all", outcomes, links, len(content))
	}
}

func TestRequests(t *testing.T) {
	all := normal(site(8, 300))
	content := mustEncode(t, all)
	bucket := stored(t, content)
	spent := func(what string, wantGets int64, maxBytes int, do func() error) {
		t.Helper()
		before := bucket.Counts()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		gets, bytes := bucket.Counts().Get-before.Get, bucket.Counts().Read-before.Read
		if gets != wantGets || bytes > int64(maxBytes) {
			t.Errorf("%s: %d requests of %d bytes, want %d of at most %d", what, gets, bytes, wantGets, maxBytes)
		}
	}
	var r *Reader
	spent("open", 1, suffix, func() (err error) {
		r, err = Open(t.Context(), bucket, key)
		return err
	})
	wanted := all.Outcomes[len(all.Outcomes)/2]
	spent("find", 1, 40<<10, func() error {
		found, err := r.Find(t.Context(), wanted.Place, wanted.Identity())
		if diff := cmp.Diff([]Outcome{wanted}, found); err == nil && diff != "" {
			t.Errorf("find: (-want +got)\n%s", diff)
		}
		return err
	})
	spent("find what is not there", 1, 40<<10, func() error {
		found, err := r.Find(t.Context(), wanted.Place, layout.IdentityOf("https://nowhere/"))
		if len(found) > 0 {
			t.Errorf("found %v", found)
		}
		return err
	})
	spent("links of one target; the sources came with the directory", 1, 40<<10, func() error {
		for _, err := range r.Links(t.Context(), layout.Range{From: wanted.Place, To: wanted.Place + 1}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	spent("an empty range", 0, 0, func() error {
		_, err := read(t.Context(), r, layout.Range{From: 1, To: 2})
		return err
	})
	spent("all", 2, len(content), func() error {
		_, err := read(t.Context(), r, wholeSpace)
		return err
	})
}

func TestOpenReadsALargeDirectoryWithASecondRequest(t *testing.T) {
	d := directory{version: version1, outcomes: make([]block, 3000)}
	for i := range d.outcomes {
		d.outcomes[i] = block{first: layout.Place(i), last: layout.Place(i), count: 1, size: 0}
	}
	bucket := stored(t, d.appendTo([]byte(version1.magic())))
	r := mustOpen(t, bucket)
	if n, _ := r.Counts(); n != 3000 || bucket.Counts().Get != 2 {
		t.Errorf("%d outcomes with %d requests, want 3000 with 2", n, bucket.Counts().Get)
	}
}

func TestFindSeesEveryVersion(t *testing.T) {
	b := site(9, 3)
	again := b.Outcomes[1]
	again.Version.Epoch++
	b.Outcomes = append([]Outcome{again}, b.Outcomes...)
	r := mustOpen(t, stored(t, mustEncode(t, b)))
	got, err := r.Find(t.Context(), again.Place, again.Identity())
	if diff := cmp.Diff([]Outcome{b.Outcomes[2], again}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestScanStopsWhenAsked(t *testing.T) {
	r := mustOpen(t, stored(t, mustEncode(t, site(2, 20))))
	n := 0
	for range r.Outcomes(t.Context(), wholeSpace) {
		n++
		break
	}
	for range r.Links(t.Context(), wholeSpace) {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func TestErrorsOfTheStoreAreNoDamage(t *testing.T) {
	content := mustEncode(t, site(8, 300))
	if _, err := Open(t.Context(), memblob.New(), key); !errors.Is(err, blob.ErrAbsent) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), key) {
		t.Errorf("absent: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := mustOpen(t, stored(t, content))
	cancel()
	if _, err := read(ctx, r, wholeSpace); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), key) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestTargets(t *testing.T) {
	all := site(7, 60)
	r := open(t, mustEncode(t, all))
	for _, within := range []layout.Range{{}, {From: 1 << 61}, {To: 0x1234abcd_80000000}} {
		want, got := make(map[Target]int), make(map[Target]int)
		for _, l := range all.Links {
			if within.Contains(l.Place) {
				want[Target{l.Target, layout.IdentityOf(l.Target), l.Place, l.Kind, l.Depth, l.Hops, l.Weight, l.Collection, l.Decision, 0}]++
			}
		}
		rows := 0
		for target, err := range r.Targets(t.Context(), within) {
			if err != nil {
				t.Fatal(err)
			}
			sources := target.Sources
			target.Sources = 0
			got[target] += sources
			rows++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", within, diff)
		}
		if rows > len(all.Links)/2 {
			t.Errorf("%d rows of %d links, want one of those that are alike", rows, len(all.Links))
		}
	}
}

func TestParts(t *testing.T) {
	b := site(8, 150)
	content := mustEncode(t, b)
	r := open(t, content)
	for _, size := range []int64{1, 20_000, 1 << 30} {
		var from layout.Place
		var bytes int64
		var all Book
		parts := r.Parts(layout.Range{}, size)
		for i, part := range parts {
			if part.From != from || (part.To == 0) != (i == len(parts)-1) {
				t.Errorf("part %d of %d is %x, want it to begin at %x", i, len(parts), part.Range, from)
			}
			from, bytes = part.To, bytes+part.Bytes
			some, err := read(t.Context(), r, part.Range)
			if err != nil {
				t.Fatal(err)
			}
			all.Outcomes, all.Links = append(all.Outcomes, some.Outcomes...), append(all.Links, some.Links...)
		}
		if most := int64(len(content)); bytes > most || bytes < most*9/10 {
			t.Errorf("parts have %d bytes of %d", bytes, most)
		}
		if want := min(bytes/size+1, 5); int64(len(parts)) < want/2 || size == 1<<30 && len(parts) > 1 {
			t.Errorf("%d parts of %d bytes", len(parts), size)
		}
		if d := difference(b, all); d != "" {
			t.Errorf("%d parts: (-want +got)\n%s", len(parts), d)
		}
	}
	if parts := open(t, mustEncode(t, Book{})).Parts(layout.Range{}, 1); len(parts) != 1 || parts[0] != (Part{}) {
		t.Errorf("the empty book has parts %v", parts)
	}
}

// TestRows checks that Rows yields the same links as Links. If texts are not wanted, the links of
// Rows lack them.
func TestRows(t *testing.T) {
	r := open(t, mustEncode(t, site(3, 60)))
	table, err := r.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var each []layout.Identity
	if err := r.EachSource(t.Context(), func(id layout.Identity) { each = append(each, id) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table, each); diff != "" {
		t.Errorf("sources (-Sources +EachSource):\n%s", diff)
	}
	for _, texts := range []bool{true, false} {
		var want, got []Link
		for l, err := range r.Links(t.Context(), wholeSpace) {
			if err != nil {
				t.Fatal(err)
			}
			if !texts {
				l.Anchor, l.Around, l.Modified = "", "", time.Time{}
			}
			want = append(want, l)
		}
		for found, err := range r.Rows(t.Context(), wholeSpace, texts) {
			if err != nil {
				t.Fatal(err)
			}
			if found.ID != layout.IdentityOf(found.Target) {
				t.Fatalf("%s has the identity %s", found.Target, found.ID)
			}
			for _, number := range found.Sources {
				found.Source = table[number]
				got = append(got, found.Link)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("texts %v (-want +got):\n%s", texts, diff)
		}
	}
}
