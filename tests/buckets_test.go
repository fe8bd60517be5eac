package tests

import (
	"archive/zip"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/why"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Every bucket in testdata was written by an earlier version of this program, which crawled a site
// of nine pages three times. Between the crawls, one page changed, one vanished, and one was erased
// by a takedown. The present version must be able to read, search and verify each bucket, and to
// commit a generation to it. Whoever changes a format adds a bucket that the version before the
// change has written.
func TestEarlierBuckets(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/buckets/*.zip")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			const served = "http://127.0.0.1:8731/"
			now := func() time.Time { return time.Date(2026, 11, 22, 23, 40, 0, 0, time.UTC) }
			bucket := unpacked(t, file, now)

			verifier := verify.Verifier{Bucket: bucket, Now: now()}
			report, err := verifier.Run(t.Context())
			if err != nil || !report.Sound() || report.Stored != 6 || report.Skipped != 2 || report.Failed != 2 || report.Pending != 0 {
				t.Errorf("verify: %+v, %v", report, err)
			}

			cache := &settings.Cache{Bucket: bucket, Now: now, Age: time.Minute}
			answers, err := engine.New(bucket, engine.Options{Settings: cache, Now: now, Age: time.Minute, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			for text, want := range map[string][]string{
				"lighthouse granite": {served + "lighthouse.html"},
				"forty-two":          {served + "lighthouse.html"},
				"Leuchtturm":         {served + "hafen.html"},
				"phare":              {served + "port.html"},
				"маяк":               nil, // page that is gone
				"灯台":                 nil, // page that is forgotten
			} {
				hits, err := answers.Search(t.Context(), engine.Query{Query: search.Query{Text: "+" + strings.ReplaceAll(text, " ", " +"), Size: 10}})
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				var got []string
				for _, hit := range hits.Hits {
					got = append(got, hit.URL)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", text, diff)
				}
			}

			at := func(url string) address.Address {
				a, err := address.Parse(url)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			page, err := answers.Page(t.Context(), at(served+"lighthouse.html"), time.Time{})
			if err != nil || !strings.Contains(string(page.Data), "forty-two metres") {
				t.Errorf("page: %.200s, %v", page.Data, err)
			}
			before := time.Date(2026, 11, 22, 23, 31, 55, 0, time.UTC)
			if page, err := answers.Page(t.Context(), at(served+"lighthouse.html"), before); err != nil || !strings.Contains(string(page.Data), "forty metres") {
				t.Errorf("page as of %v: %.200s, %v", before, page.Data, err)
			}
			inForce, err := settings.Read(t.Context(), bucket, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			story, err := why.Tell(t.Context(), bucket, inForce, at(served+"museum.html"))
			if err != nil || story.State == "" || len(story.Problems) > 0 || !slices.ContainsFunc(story.Asked, func(a why.Asked) bool { return a.Status == 200 }) {
				t.Errorf("why: %+v, %v", story, err)
			}

			p, err := partition.Open(t.Context(), bucket, 0, now)
			if err == nil {
				err = p.Commit(t.Context(), func(*partition.Edit) error { return nil })
			}
			if err != nil {
				t.Fatal(err)
			}
			if report, err := verifier.Run(t.Context()); err != nil || !report.Sound() {
				t.Errorf("verify after a commit: %+v, %v", report, err)
			}
		})
	}
}

// unpacked returns a bucket in memory with the files of an archive as its objects.
func unpacked(t *testing.T, file string, now func() time.Time) *memblob.Bucket {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	bucket := memblob.NewAt(now)
	for _, member := range archive.File {
		r, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err == nil {
			err = bucket.Create(t.Context(), member.Name, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return bucket
}
