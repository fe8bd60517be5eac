package export

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/inventory"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

var later = functionstest.Start.Add(time.Hour)

// object returns page n. Pages with an even number are in English and on host0, the others are in
// German and on host1.
func object(n int) webobject.Object {
	o := functionstest.Page(layout.Version{Epoch: 1, Token: 1}, fmt.Sprintf("http://host%d.example.org/%d", n%2, n))
	o.Data = fmt.Appendf(nil, "<html lang=en><title>Page %d</title><p>The text of page %d says <b>something</b>.", n, n)
	if n%2 == 1 {
		o.Data = fmt.Appendf(nil, "<html lang=de><title>Seite %d</title><p>Der Text der Seite %d sagt <b>etwas</b> über Eulen.", n, n)
	}
	o.Downloaded = functionstest.Start.Add(time.Duration(n) * time.Minute)
	o.Header = []webobject.Field{{Name: "Content-Encoding", Value: "gzip"}, {Name: "Content-Length", Value: "7"}, {Name: "Server", Value: "a\r\nb"}}
	return o
}

// bucketOf returns a bucket with the given number of pages, three in each package. One more page is
// stored, but gone: its server no longer has it.
func bucketOf(t *testing.T, pages int) (*memblob.Bucket, *settings.Settings) {
	t.Helper()
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://host0.example.org/", "http://host1.example.org/")
	for from := 0; from <= pages; from += 3 {
		var objects []webobject.Object
		for n := from; n < min(from+3, pages+1); n++ {
			objects = append(objects, object(n))
		}
		listed, outcomes := functionstest.Package(t, bucket, 0, objects...)
		for i := range outcomes {
			outcomes[i].Time = objects[i].Downloaded
		}
		functionstest.Learn(t, bucket, 0, book.Book{Outcomes: outcomes}, listed)
	}
	gone := functionstest.Outcome(t, layout.Version{Epoch: 1, Token: 2}, object(pages).URL, book.Failed)
	functionstest.Learn(t, bucket, 0, book.Book{Outcomes: []book.Outcome{gone}})
	return bucket, s
}

func run(t *testing.T, task Task, bucket blob.Reader, s *settings.Settings) string {
	t.Helper()
	report, err := task.Run(t.Context(), bucket, s)
	if err != nil || len(report.Unread) > 0 {
		t.Fatal(report, err)
	}
	content, err := os.ReadFile(task.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestSelection(t *testing.T) {
	bucket, s := bucketOf(t, 6)
	at := func(n int) time.Time { return object(n).Downloaded }
	for name, c := range map[string]struct {
		inventory.Selection
		want []int
	}{
		"all":        {inventory.Selection{}, []int{0, 1, 2, 3, 4, 5}},
		"collection": {inventory.Selection{Collection: functionstest.Collection}, []int{0, 1, 2, 3, 4, 5}},
		"host":       {inventory.Selection{Site: "host0.example.org"}, []int{0, 2, 4}},
		"domain":     {inventory.Selection{Site: "example.org"}, []int{0, 1, 2, 3, 4, 5}},
		"language":   {inventory.Selection{Lang: "de"}, []int{1, 3, 5}},
		"time":       {inventory.Selection{Since: at(1), Until: at(4)}, []int{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			content := run(t, Task{Selection: c.Selection, Format: "jsonl", Path: filepath.Join(t.TempDir(), "x"), At: later}, bucket, s)
			var got, want []string
			for record := range strings.Lines(content) {
				url, _, _ := strings.Cut(strings.TrimPrefix(record, `{"url":"`), `"`)
				got = append(got, url)
			}
			for _, n := range c.want {
				want = append(want, object(n).URL)
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLanguageOfTheIndex checks that an export takes the language of a page from the index if the
// page is indexed, so that pages in other languages are not read.
func TestLanguageOfTheIndex(t *testing.T) {
	bucket, s := bucketOf(t, 6)
	first := functionstest.Manifest(t, bucket, 0).Packages[0].Key // with pages 0 to 2
	functionstest.Index(t, bucket, 0, first, func(webobject.Object) string { return "fr" })
	for lang, want := range map[string][]int{"fr": {0, 1, 2}, "de": {3, 5}} {
		asked := 0
		watched := faultblob.New(bucket, func(c faultblob.Call) faultblob.Fault {
			if c.Key == first {
				asked++
			}
			return faultblob.None
		})
		content := run(t, Task{Selection: inventory.Selection{Lang: lang}, Format: "jsonl", Path: filepath.Join(t.TempDir(), "x"), At: later}, watched, s)
		if n := strings.Count(content, "\n"); n != len(want) || strings.Count(content, `"lang":"`+lang+`"`) != n || asked > 0 != (lang == "fr") {
			t.Errorf("%s: %d requests for the first package, %s", lang, asked, content)
		}
		for _, n := range want {
			if !strings.Contains(content, object(n).URL) {
				t.Errorf("%s: %s is missing", lang, object(n).URL)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	bucket, s := bucketOf(t, 1)
	export := func(format string) string {
		return run(t, Task{Format: format, Path: filepath.Join(t.TempDir(), "x"), At: later}, bucket, s)
	}
	const text = "Page 0\\n\\nThe text of page 0 says something.\\n"
	want := `{"url":"http://host0.example.org/0","fetched":"` + functionstest.Start.UTC().Format(time.RFC3339) + `","status":200,"mime":"text/html","lang":"en","lang_source":"declared","title":"Page 0","text":"` + text + `"}` + "\n"
	if diff := cmp.Diff(want, export("jsonl")); diff != "" {
		t.Error(diff)
	}
	var pages struct {
		Page []struct {
			URL      string `xml:"url"`
			Encoding string `xml:"encoding"`
			Language string `xml:"language"`
			Headline string `xml:"headline"`
			Content  string `xml:"content"`
		} `xml:"page"`
	}
	content := export("xml")
	if err := xml.Unmarshal([]byte(content), &pages); err != nil {
		t.Fatal(err, content)
	}
	if got := fmt.Sprintf("%q", pages.Page); got != `[{"http://host0.example.org/0" "utf-8" "en" "Page 0" "Page 0\n\nThe text of page 0 says something.\n"}]` {
		t.Error(got)
	}
	root := filepath.Join(t.TempDir(), "folder")
	if _, err := (Task{Format: Markdown, Path: root, At: later}).Run(t.Context(), bucket, s); err != nil {
		t.Fatal(err)
	}
	markdown, err := os.ReadFile(filepath.Join(root, "host0.example.org", "0.md"))
	if err != nil {
		t.Fatal(err)
	}
	want = "---\nurl: \"http://host0.example.org/0\"\ntitle: \"Page 0\"\nfetched: \"" + functionstest.Start.UTC().Format(time.RFC3339) +
		"\"\nlang: \"en\"\n---\n\n# Page 0\n\nThe text of page 0 says **something**.\n"
	if diff := cmp.Diff(want, string(markdown)); diff != "" {
		t.Error(diff)
	}
}

// TestWARC parses an export by itself, without package warc. Each gzip member must have a header, a
// block of the stated length and two empty lines, as the WARC standard says.
func TestWARC(t *testing.T) {
	bucket, s := bucketOf(t, 2)
	content := run(t, Task{Format: "warc", Path: filepath.Join(t.TempDir(), "x.warc.gz"), At: later}, bucket, s)
	compressed := bufio.NewReader(strings.NewReader(content))
	var kinds []string
	for {
		z, err := gzip.NewReader(compressed)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false)
		record, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		head, block, _ := bytes.Cut(record, []byte("\r\n\r\n"))
		block, whole := bytes.CutSuffix(block, []byte("\r\n\r\n"))
		lines := strings.Split(string(head), "\r\n")
		field := func(name string) string {
			for _, one := range lines {
				if value, found := strings.CutPrefix(one, name+": "); found {
					return value
				}
			}
			return ""
		}
		if !whole || lines[0] != "WARC/1.1" || field("Content-Length") != fmt.Sprint(len(block)) || field("WARC-Block-Digest") != digest(block) {
			t.Fatalf("record %q", record)
		}
		kinds = append(kinds, field("WARC-Type"))
		if field("WARC-Type") != "response" {
			continue
		}
		answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != 200 || field("WARC-Payload-Digest") != digest(body) || answer.Header.Get("Server") != "a  b" ||
			!strings.HasPrefix(field("WARC-Target-URI"), "http://host") || answer.Header.Get("X-Archive-Orig-Content-Encoding") != "gzip" {
			t.Errorf("%v, answer %+v", err, answer)
		}
	}
	if want := []string{"warcinfo", "response", "response"}; !slices.Equal(kinds, want) {
		t.Errorf("records %q", kinds)
	}
}

// TestFaults lets each request to the object store fail in turn. If the export fails, it is run
// again, and the file is the same as without the fault.
func TestFaults(t *testing.T) {
	bucket, s := bucketOf(t, 7)
	for _, task := range []Task{{Format: "jsonl"}, {Format: WACZ}, {Format: Webo, Selection: inventory.Selection{Lang: "de"}}} {
		task.At, task.Path = later, filepath.Join(t.TempDir(), "x")
		want := run(t, task, bucket, s)
		t.Run(task.Format, func(t *testing.T) {
			faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
				task.At, task.Path = later, filepath.Join(t.TempDir(), "x")
				_, err := task.Run(t.Context(), faultblob.New(bucket, decide), s)
				if exists(task.Path + ".resume") {
					task.At = later.Add(time.Hour) // the moment of the first run counts, and not this one
				}
				if err == nil { // this fault does no harm
					if err := errors.Join(os.Remove(task.Path), os.RemoveAll(task.Path+descSuffix)); err != nil {
						t.Fatal(err)
					}
				}
				if got := run(t, task, bucket, s); got != want {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// TestGoesOn interrupts an export after each page, and then appends half a line to its file, as a
// killed run may leave it. The finished file must be the same as that of one uninterrupted run.
func TestGoesOn(t *testing.T) {
	const pages = 8
	bucket, s := bucketOf(t, pages)
	for _, format := range []string{"jsonl", "xml", WARC, WACZ, Webo} {
		want := run(t, Task{Format: format, Path: filepath.Join(t.TempDir(), "x"), At: later}, bucket, s)
		path := filepath.Join(t.TempDir(), "y")
		for interrupted := 1; interrupted < pages; interrupted++ {
			ctx, cancel := context.WithCancel(t.Context())
			task := Task{Format: format, Path: path, At: later, Progress: func(done, _ int) {
				if done == interrupted {
					cancel()
				}
			}}
			report, err := task.Run(ctx, bucket, s)
			if err == nil || report.Pages != interrupted || report.Resumed != interrupted-1 {
				t.Fatalf("%s: report %+v, error %v", format, report, err)
			}
			cancel()
			for _, suffix := range []string{".part", ".part.pages"} {
				if exists(path + suffix) {
					tear(t, path+suffix)
				}
			}
		}
		if got := run(t, Task{Format: format, Path: path, At: later}, bucket, s); got != want {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
		if err := os.Remove(path + descSuffix); (err == nil) != (format == Webo) {
			t.Errorf("%s: description: %v", format, err)
		}
		if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
			t.Errorf("%s: %q are left", format, left)
		}
	}
}

// tear appends half a line to a file.
func tear(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"url":"http://exam`)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDamage checks that an export leaves out a damaged page, and reports it.
func TestDamage(t *testing.T) {
	bucket, s := bucketOf(t, 5)
	key := functionstest.Keys(t, bucket, layout.PackagePrefix(0))[0]
	content, err := bucket.Get(t.Context(), key, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	content[100] ^= 0xFF
	if err := bucket.Replace(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
	report, err := Task{Format: "jsonl", Path: filepath.Join(t.TempDir(), "x"), At: later}.Run(t.Context(), bucket, s)
	if err != nil || report.Pages != 4 || len(report.Unread) != 1 || !errors.Is(report.Unread[0], webobject.ErrDamaged) {
		t.Errorf("report %+v, error %v", report, err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatal("this system has no /dev/full: ", err)
	}
	bucket, s := bucketOf(t, 5)
	for _, full := range []struct{ format, suffix string }{
		{"xml", ".part"}, {WACZ, ".part"}, {Webo, ".part"}, {Webo, ".desc.part"},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.Symlink("/dev/full", path+full.suffix); err != nil {
			t.Fatal(err)
		}
		task := Task{Format: full.format, Path: path, At: later}
		if _, err := task.Run(t.Context(), bucket, s); err == nil || !strings.Contains(err.Error(), "no space left") || exists(path) {
			t.Errorf("%s, full is %s: error %v", full.format, full.suffix, err)
		}
		if err := os.Remove(path + full.suffix); err != nil { // there is room again
			t.Fatal(err)
		}
		whole := Task{Format: full.format, Path: filepath.Join(t.TempDir(), "y"), At: later}
		if got, want := run(t, task, bucket, s), run(t, whole, bucket, s); got != want {
			t.Errorf("%s, full was %s: got %q, want %q", full.format, full.suffix, got, want)
		}
	}
}

// TestRequests checks that an export of many pages takes few requests to the object store.
func TestRequests(t *testing.T) {
	bucket, s := bucketOf(t, 60)
	counted := countblob.New(bucket)
	run(t, Task{Format: "jsonl", Path: filepath.Join(t.TempDir(), "x"), At: later}, counted, s)
	packages := 61/3 + 1
	if gets := counted.Counts().Get; gets > int64(4*packages+20) {
		t.Errorf("%d GETs for 60 pages in %d packages", gets, packages)
	}
}

func TestFileName(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.org/":           "a.org/index.md",
		"https://a.org/b":          "a.org/b.md",
		"https://a.org/b/":         "a.org/b/index.md",
		"https://a.org/b/c.html":   "a.org/b/c.html.md",
		"https://a.org:8080/ü":     "a.org_8080/ü.md",
		"https://a.org/b?c=d":      "a.org/b_c=d-" + hashOf("https://a.org/b?c=d") + ".md",
		"https://a.org/b%2Fc":      "a.org/b/c.md",
		"https://a.org/..%2F..%2F": "a.org/_/_/index-" + hashOf("https://a.org/..%2F..%2F") + ".md",
	} {
		if got := fileName(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		if path := filepath.Join("root", fileName(url)); !strings.HasPrefix(path, "root"+string(filepath.Separator)) {
			t.Errorf("%s leaves the folder: %s", url, path)
		}
	}
}
