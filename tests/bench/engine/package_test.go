package engine

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/tests/bench/corpus"
)

const (
	packageBytes = 32 << 20 // size of the HTML in a package, in bytes
	memoryGB     = 2        // memory of the function index in Lambda, in GB
)

// BenchmarkPackages measures the function index on whole packages of HTML pages.
func BenchmarkPackages(b *testing.B) {
	for b.Loop() {
		bucket := countblob.New(memblob.New())
		keys, pages, length := packages(b, bucket)
		var log bytes.Buffer
		f := index.Function{
			Bucket: bucket, Settings: new(functionstest.Fixed), Redis: redistest.Embedded(b), Sender: &functionstest.Sender{}, Now: time.Now,
			Worker: "bench", Ranges: index.NewRanges(bucket), Log: slog.New(slog.NewJSONHandler(&log, nil)),
		}
		before, used := bucket.Counts(), processorTime(b)
		began := time.Now()
		for _, key := range keys {
			if err := f.Run(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		}
		took := time.Since(began)
		used = processorTime(b) - used
		extract, build := logged(b, &log)
		requests := bucket.Counts().Minus(before)
		b.ReportMetric(float64(length)/mega/took.Seconds(), "HTML-MB/s")
		b.ReportMetric(float64(length)/mega/used.Seconds(), "HTML-MB/cpu-s")
		b.ReportMetric(extract.Seconds()/took.Seconds()*100, "%-extraction")
		b.ReportMetric(build.Seconds()/took.Seconds()*100, "%-build-and-commit")
		b.ReportMetric(float64(requests.Requests())/float64(len(keys)), "requests/package")
		usd := meter.USEast1().Of(requests, int64(len(keys)), took.Seconds()*memoryGB)
		b.ReportMetric(usd/float64(pages)*1e6, "USD/million-pages")
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// packages stores the HTML pages of the small corpus in a bucket, in packages as the crawler
// makes them. It returns the keys of the packages, the number of pages, and the number of bytes of
// their HTML.
func packages(b *testing.B, bucket *countblob.Bucket) (keys []string, pages int, length int64) {
	b.Helper()
	var objects []webobject.Object
	held := 0
	store := func() {
		pkg, _ := functionstest.Package(b, bucket, 0, objects...)
		functionstest.Commit(b, bucket, 0, func(m *manifest.Manifest) { m.Add(pkg) })
		keys = append(keys, pkg.Key)
		objects, held = nil, 0
	}
	for _, name := range corpus.Small {
		files, err := corpus.Files(os.Getenv("BUCKETSEARCH_SITES"), name)
		if err != nil {
			b.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file.Path)
			if err != nil {
				b.Fatal(err)
			}
			objects = append(objects, webobject.Object{
				URL: file.URL, MIME: "text/html", Data: data, Downloaded: functionstest.Start, Expires: functionstest.Start.Add(time.Hour),
				Status: 200, Version: layout.Version{Epoch: 1, Token: 1},
			})
			pages, held, length = pages+1, held+len(data), length+int64(len(data))
			if held >= packageBytes {
				store()
			}
		}
	}
	if held > 0 {
		store()
	}
	return keys, pages, length
}

// logged returns the total times that the function index took to extract texts and to build
// segments, read from its log.
func logged(b *testing.B, log *bytes.Buffer) (extract, build time.Duration) {
	b.Helper()
	for line := range bytes.Lines(log.Bytes()) {
		var l struct {
			Msg            string
			Extract, Build time.Duration
		}
		if err := json.Unmarshal(line, &l); err != nil {
			b.Fatal(err)
		}
		if l.Msg == "indexed" {
			extract, build = extract+l.Extract, build+l.Build
		}
	}
	return extract, build
}
