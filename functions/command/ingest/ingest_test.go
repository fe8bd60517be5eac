package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/ingest"
	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

var now = functionstest.Start

// at returns the time that is the given number of hours before now, in the format of WARC records.
func at(hours int) string {
	return now.Add(time.Duration(-hours) * time.Hour).Format("2006-01-02T15:04:05Z")
}

// record returns a WARC record. fields are lines of its header.
func record(kind, url, date, block string, fields ...string) string {
	head := append([]string{"WARC/1.1", "WARC-Type: " + kind, "WARC-Target-URI: " + url, "WARC-Date: " + date}, fields...)
	return strings.Join(head, "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
}

// answer returns the block of a response record: an HTTP response.
func answer(status int, body string, fields ...string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\n%s", status, strings.Join(append(fields, ""), "\r\n"), body)
}

// page returns a WARC record with a page that has the given text.
func page(url, date, text string) string {
	return record("response", url, date, answer(200, "<title>T</title><p>This page says "+text, "Content-Type: text/html"))
}

// squeeze compresses content as one gzip member.
func squeeze(content string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(content))
	_ = z.Close()
	return b.String()
}

// write writes a file with a gzip member for each record.
func write(t testing.TB, records ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		b.WriteString(squeeze(r))
	}
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func newBucket(t testing.TB, partitions int) *memblob.Bucket {
	t.Helper()
	bucket := memblob.New()
	functionstest.Publish(t, bucket, partitions, nil, "http://crawled.example/")
	for p := range partitions {
		functionstest.Begin(t, bucket, layout.Partition(p))
	}
	return bucket
}

func task(bucket blob.Bucket, files ...string) *ingest.Task {
	clock := func() time.Time { return now }
	cache := &settings.Cache{Bucket: bucket, Now: clock, Age: time.Hour}
	limits := fetch.DefaultLimits()
	limits.Batch = 1 << 20
	f := &fetch.Function{Settings: cache, Now: clock, Agent: "testbot/1.0", Worker: "import", Limits: limits, Log: functionstest.Log()}
	return &ingest.Task{Files: files, Collection: "archive", Bucket: bucket, Settings: cache, Fetch: f, Now: clock}
}

func run(t testing.TB, bucket blob.Bucket, files ...string) *ingest.Report {
	t.Helper()
	report, err := task(bucket, files...).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// outcomes returns a line for each outcome in the spool of all partitions. The line does not name
// the batch of the outcome.
func outcomes(t testing.TB, bucket blob.Bucket) (all []string) {
	t.Helper()
	for _, key := range functionstest.Keys(t, bucket, layout.Spool) {
		s, err := spool.Read(t.Context(), bucket, key)
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]bool)
		for _, l := range s.Ledger.Links {
			found[l.Target] = found[l.Target] || l.Kind == book.Listed && l.Source == layout.IdentityOf(l.Target)
		}
		for _, o := range s.Ledger.Outcomes {
			if !found[o.URL] {
				t.Errorf("nothing tells how %s was found", o.URL)
			}
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %dh %v %s", o.URL, o.State, int(now.Sub(o.Time).Hours()), o.Collections, o.Reason)))
		}
	}
	slices.Sort(all)
	return all
}

func TestImport(t *testing.T) {
	const a = "http://a.example/"
	bucket := newBucket(t, 3)
	file := write(t,
		record("warcinfo", "", at(9), "software: test"),
		page(a+"page", at(5), "something"),
		page(a+"page", at(6), "what it said before"),
		record("response", a+"zip", at(5), answer(200, squeeze("<p>A page that was sent compressed."), "Content-Type: text/html", "Content-Encoding: gzip")),
		record("response", a+"moved", at(5), answer(301, "", "Location: /page")),
		record("response", a+"gone", at(5), answer(404, "no", "Content-Type: text/html")),
		record("response", a+"short", at(5), answer(200, "no", "Content-Type: text/html", "Content-Length: 9")),
		record("response", a+"picture", at(5), answer(200, "\x89PNG", "Content-Type: image/png")),
		record("response", a+"bomb", at(5), answer(200, squeeze(strings.Repeat("0", 4<<20)), "Content-Type: text/html", "Content-Encoding: gzip")),
		record("response", a+"robots.txt", at(5), answer(200, "User-agent: *", "Content-Type: text/plain")),
		record("request", a+"form", at(5), "POST /form HTTP/1.1\r\n\r\n", "Content-Type: application/http", "WARC-Record-ID: <urn:q>", "WARC-Concurrent-To: <urn:r>"),
		record("response", a+"form", at(5), answer(200, "<p>Your answer.", "Content-Type: text/html"), "WARC-Record-ID: <urn:r>"),
		record("request", a+"page", at(5), "GET /page HTTP/1.1\r\n\r\n", "Content-Type: application/http", "WARC-Concurrent-To: <urn:p>"),
		record("resource", a+"resource", at(5), "<p>A page that is a resource.", "Content-Type: text/html"),
		record("resource", "urn:screenshot", at(5), "png", "Content-Type: image/png"),
		record("revisit", a+"zip", at(2), "", "WARC-Refers-To-Target-URI: "+a+"zip", "WARC-Refers-To-Date: "+at(5)),
		record("revisit", a+"elsewhere", at(2), "", "WARC-Refers-To: <urn:unknown>"),
		record("response", "http://[bad/", at(5), answer(200, "x", "Content-Type: text/html")),
		page(a+"dateless", "yesterday", "nothing"),
		page(a+"future", at(-48), "nothing"),
		page("http://b.example/", at(5), "something else"),
	)
	report := run(t, bucket, file)
	want := []string{
		"http://a.example/bomb skipped 5h [archive] bomb",
		"http://a.example/moved skipped 5h [archive] redirect",

		"http://a.example/page stored 5h [archive]",
		"http://a.example/resource stored 5h [archive]",
		"http://a.example/zip stored 2h [archive]",
		"http://b.example/ stored 5h [archive]",
	}
	if diff := cmp.Diff(want, outcomes(t, bucket)); diff != "" {
		t.Error(diff)
	}
	passed := map[string]int{
		"another capture in the files is newer": 2, "http 404": 1, "cut short": 1, "type": 1, "robots.txt": 1, "an answer to another request than GET": 1,
		"not of the web": 1, "revisit of a record that is not in the files": 1, "bad address": 1,
	}
	if diff := cmp.Diff(passed, report.Passed); diff != "" {
		t.Error(diff)
	}
	if report.Stored != 4 || report.Faulty != 2 || !strings.Contains(report.Faults[0].Error(), "x.warc.gz, byte ") {
		t.Errorf("report %+v", report)
	}
	if again := run(t, bucket, file); len(again.Batches) > 0 || again.Passed["already imported"] != len(want) {
		t.Errorf("the second import is not in vain: %+v", again)
	}
	if epochs := functionstest.Keys(t, bucket, layout.Epochs); len(epochs) != 1 {
		t.Errorf("epochs %q", epochs)
	}
}

// TestKnown imports a capture of a URL that a crawl has requested, too. The capture must not be imported
// if the crawl has an answer from the time of the capture or later: the page, a redirect, or an error
// such as 404. It must be imported if the answer is older, or if the crawl got no answer or only an
// error such as 503.
func TestKnown(t *testing.T) {
	const url = "http://crawled.example/page"
	for name, c := range map[string]struct {
		state  book.State
		status uint16
		hours  int // hours before now
		want   string
	}{
		"stored before":          {book.Stored, 200, 9, "stored"},
		"stored since":           {book.Stored, 200, 1, ""},
		"stored then":            {book.Stored, 200, 5, ""},
		"redirected since":       {book.Skipped, 301, 1, ""},
		"gone since":             {book.Failed, 404, 1, ""},
		"gone before":            {book.Failed, 404, 9, "stored"},
		"overloaded since":       {book.Failed, 503, 1, "stored"},
		"not reached since":      {book.Failed, 0, 1, "stored"},
		"forbidden to the crawl": {book.Skipped, 0, 1, "stored"},
		"lost":                   {book.Lost, 200, 1, "stored"},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := newBucket(t, 1)
			v := layout.Version{Epoch: 1, Token: 1}
			o := functionstest.Outcome(t, v, url, c.state)
			o.Status, o.Time = c.status, now.Add(time.Duration(-c.hours)*time.Hour)
			if c.state == book.Stored {
				_, stored := functionstest.Package(t, bucket, 0, functionstest.Page(v, url))
				o.Package, o.Offset, o.Length, o.Digest, o.Depth = stored[0].Package, stored[0].Offset, stored[0].Length, 1, 7
			}
			functionstest.Learn(t, bucket, 0, book.Book{Outcomes: []book.Outcome{o}})
			run(t, bucket, write(t, page(url, at(5), "something")))
			var want []string
			if c.want != "" {
				of := "[archive]"
				if c.state != book.Lost {
					of = "[test archive]" // the page stays with the collection that found it
				}
				want = []string{url + " stored 5h " + of}
			}
			if diff := cmp.Diff(want, outcomes(t, bucket)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForgotten(t *testing.T) {
	bucket := newBucket(t, 1)
	gone, err := address.Parse("http://a.example/gone")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), bucket, takedown.URL(gone, now)); err != nil {
		t.Fatal(err)
	}
	report := run(t, bucket, write(t, page(gone.URL, at(5), "a secret"), page("http://a.example/", at(5), "nothing secret")))
	if report.Stored != 1 || report.Passed["forgotten"] != 1 {
		t.Errorf("report %+v", report)
	}
}

// TestPublishedCollection imports pages into a published collection. Only those that its rules
// admit may be imported, and a seed must have depth 0.
func TestPublishedCollection(t *testing.T) {
	bucket := newBucket(t, 1)
	job := task(bucket, write(t, page("http://crawled.example/", at(5), "a seed"), page("http://crawled.example/1", at(5), "a page"), page("http://other.example/", at(5), "another site")))
	job.Collection = functionstest.Collection
	report, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Stored != 2 || report.Passed["out of scope"] != 1 {
		t.Errorf("report %+v", report)
	}
	for _, key := range functionstest.Keys(t, bucket, layout.Spool) {
		ledger, err := spool.ReadLedger(t.Context(), bucket, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range ledger.Outcomes {
			if want := uint16(strings.Count(o.URL, "1")); o.Depth != want {
				t.Errorf("depth %d of %s", o.Depth, o.URL)
			}
		}
	}
}

// pages returns the records of pages on many hosts.
func pages(n int) (records []string) {
	for i := range n {
		records = append(records, page(fmt.Sprintf("http://host%d.example/%d", i%7, i), at(5), fmt.Sprintf("that it is the page %d", i)))
	}
	return records
}

// TestFaults lets each call of the object store fail in turn. After another import of the same
// file, every page must be stored exactly once.
func TestFaults(t *testing.T) {
	file := write(t, pages(6)...)
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		bucket := newBucket(t, 2)
		first, err := task(faultblob.New(bucket, decide), file).Run(t.Context())
		if err == nil && first.Stored != 6 {
			t.Errorf("report %+v", first)
		}
		run(t, bucket, file)
		all := outcomes(t, bucket)
		if stored := len(slices.Compact(slices.Clone(all))); len(all) != 6 || stored != 6 {
			t.Errorf("outcomes %q", all)
		}
	})
}

// TestCancelled cancels an import. It must have stored the number of pages that its report says,
// and the next import must store all others.
func TestCancelled(t *testing.T) {
	bucket, file := newBucket(t, 1), write(t, pages(3000)...)
	ctx, cancel := context.WithCancel(t.Context())
	first := task(bucket, file)
	first.Progress = func(stage string, done, total int64) {
		if stage == "import" && done > total*3/4 {
			cancel()
		}
	}
	report, err := first.Run(ctx)
	if !errors.Is(err, context.Canceled) || report.Stored == 0 || report.Stored == 3000 {
		t.Fatalf("stored %d, error %v", report.Stored, err)
	}
	if rest := run(t, bucket, file); rest.Stored+report.Stored != 3000 || rest.Passed["already imported"] != report.Stored {
		t.Errorf("first %d, then %+v", report.Stored, rest)
	}
}

// TestBatches imports more and larger pages than fit into one batch, because a batch is limited in
// pages and bytes. All pages must be stored, and no two batches may have the same version (number).
func TestBatches(t *testing.T) {
	bucket := newBucket(t, 3)
	records := pages(2500)
	for i := range 5 {
		records = append(records, page(fmt.Sprintf("http://big.example/%d", i), at(5), strings.Repeat("a word or two ", 40_000)))
	}
	report := run(t, bucket, write(t, records...))
	if report.Stored != 2505 || len(report.Batches) < 4 || len(report.Batches) > 12 {
		t.Errorf("%d pages in %d batches", report.Stored, len(report.Batches))
	}
	versions := make(map[layout.Version]bool)
	for _, b := range report.Batches {
		if versions[b.Version] {
			t.Errorf("version %s twice", b.Version)
		}
		versions[b.Version] = true
	}
}

// An import after the claims of epochs are lost, as in a copy of a bucket that was cut short, takes no epoch of a batch
// that is there. Otherwise its pages could count as pages of an earlier batch, and pack would drop them.
func TestLostClaims(t *testing.T) {
	bucket := newBucket(t, 2)
	functionstest.Put(t, bucket, layout.SpoolKey(1, layout.Version{Epoch: 9, Token: 4}), []byte("damaged"))
	report := run(t, bucket, write(t, pages(1)...))
	if len(report.Batches) != 1 || report.Batches[0].Version.Epoch != 10 {
		t.Errorf("batches %+v, want one of epoch 10", report.Batches)
	}
}

func TestOtherArchives(t *testing.T) {
	bucket := newBucket(t, 1)
	path := filepath.Join(t.TempDir(), "x")
	for content, want := range map[string]string{"PK\x03\x04…": "cut short", "\x28\xB5\x2F\xFD…": "zstd -d"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := task(bucket, path).Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := task(bucket, t.TempDir()).Run(t.Context()); err == nil {
		t.Error("a folder is imported")
	}
	file := write(t, pages(1)...)
	if _, err := task(bucket, file, file).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("error %v", err)
	}
}
