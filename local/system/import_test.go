package system

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// archive writes a WARC file with a page at each address.
func archive(t *testing.T, at time.Time, text string, urls ...string) string {
	t.Helper()
	var b strings.Builder
	for _, url := range urls {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Archived</title><p>" + text + " <a href='/more'>more</a>"
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			url, at.UTC().Format(time.RFC3339Nano), len(block), block)
	}
	path := filepath.Join(t.TempDir(), "x.warc")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// importFile imports a file and waits until its pages are indexed. It returns the number
// of pages.
func importFile(t *testing.T, o Options, path, collection string) int {
	t.Helper()
	i, err := OpenImporter(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	}()
	ignore := func(string, int64, int64) {}
	report, err := i.Import(t.Context(), []string{path}, collection, ignore)
	if err == nil {
		err = i.Wait(t.Context(), ignore)
	}
	if err != nil {
		t.Fatal(err)
	}
	return report.Stored
}

// live returns the stored page that a query would find at an address.
func live(t *testing.T, bucket blob.Reader, url string) webobject.Object {
	t.Helper()
	inForce, err := settings.Read(t.Context(), bucket, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	at, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	var standing book.Standing
	for _, p := range inForce.Partitions() {
		m, err := partition.Read(t.Context(), bucket, p)
		if err != nil {
			t.Fatal(err)
		}
		books, err := partition.OpenBooks(t.Context(), bucket, m.Books)
		if err != nil {
			t.Fatal(err)
		}
		found, err := books.Find(t.Context(), at.Place, at.ID)
		if err != nil {
			t.Fatal(err)
		}
		for n := range found {
			standing.Add(&found[n])
		}
	}
	if !standing.Stands() {
		t.Fatalf("%s is not stored: %+v", url, standing.Final)
	}
	page, err := webobject.Read(t.Context(), bucket, standing.Page.Package, webobject.Place{Offset: standing.Page.Offset, Length: standing.Page.Length})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// verified opens the bucket, and checks that verify finds no problem and that it has these
// numbers of stored and pending URLs.
func verified(t *testing.T, o Options, stored, pending int) {
	t.Helper()
	a, err := Attach(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if report := mustVerify(t, a.Bucket); report.Stored != stored || report.Pending != pending {
		t.Errorf("%d stored, %d pending, want %d and %d", report.Stored, report.Pending, stored, pending)
	}
}

// Imported pages are indexed without a request to the web, and a second import changes
// nothing.
func TestImport(t *testing.T) {
	asked := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the import asks for %s", r.URL) }))
	defer asked.Close()
	o := options(t)
	o.Partitions = 3
	at := time.Date(2024, 5, 6, 7, 8, 9, 123e6, time.UTC)
	urls := []string{asked.URL + "/a", asked.URL + "/b", "http://other.example/c"}
	path := archive(t, at, "Words of an archive.", urls...)
	for _, want := range []int{3, 0} {
		if stored := importFile(t, o, path, "archive"); stored != want {
			t.Errorf("%d pages are imported, want %d", stored, want)
		}
		verified(t, o, 3, 0)
	}
	a, err := Attach(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if page := live(t, a.Bucket, urls[0]); !page.Downloaded.Equal(at) || page.Collections[0] != "archive" {
		t.Errorf("page of %s, %q", page.Downloaded, page.Collections)
	}
	status, err := ReadStatus(t.Context(), a.Bucket, countblob.Counts{}, "")
	if err != nil || status.Documents != 3 {
		t.Errorf("%d documents, error %v", status.Documents, err)
	}
}

// The newest capture of a page counts, whether it was crawled or imported. A page that is
// crawled after an import replaces the imported one.
func TestImportBetweenCrawls(t *testing.T) {
	web := newSite(t, 3)
	o := options(t)
	s := open(t, o)
	crawl(t, s, Plan{Seeds: seeds(web.URL + "/")})
	closeSystem(t, s)
	url := web.URL + "/1.html"
	isArchived := func(want bool) {
		t.Helper()
		a, err := Attach(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if got := strings.Contains(string(live(t, a.Bucket, url).Data), "Archived"); got != want {
			t.Errorf("the archived page is live: %v, want %v", got, want)
		}
	}
	if stored := importFile(t, o, archive(t, time.Now().Add(-time.Hour), "Old words.", url), "archive"); stored != 0 {
		t.Errorf("%d old captures are imported", stored)
	}
	isArchived(false)
	if stored := importFile(t, o, archive(t, time.Now(), "New words.", url), "archive"); stored != 1 {
		t.Errorf("%d new captures are imported", stored)
	}
	isArchived(true)
	verified(t, o, 3, 1) // its link waits for the collection that has the page, too
	s = open(t, o)
	crawl(t, s, Plan{Renew: true})
	closeSystem(t, s)
	isArchived(false)
	verified(t, o, 3, 0)
}

// The next crawl follows the links of pages that were imported into a published collection.
func TestImportedPagesLeadOn(t *testing.T) {
	web := newSite(t, 1)
	o := options(t)
	s := open(t, o)
	crawl(t, s, Plan{Seeds: seeds(web.URL + "/")})
	closeSystem(t, s)
	if stored := importFile(t, o, archive(t, time.Now().Add(-time.Hour), "Words.", web.URL+"/archived.html", "http://other.example/"), DefaultCollection); stored != 1 {
		t.Errorf("%d pages are imported", stored)
	}
	verified(t, o, 2, 1) // its link waits
	web.mu.Lock()
	defer web.mu.Unlock()
	if web.asked["/more"]+web.asked["/archived.html"] > 0 {
		t.Errorf("the import asks: %v", web.asked)
	}
}

// A file is imported while a system crawls in the same data directory. The crawling system must
// pack and index the imported pages.
func TestImportBesideCrawl(t *testing.T) {
	web := newSite(t, 40)
	o := options(t)
	s := open(t, o)
	begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
	var urls []string
	for n := range 10 {
		urls = append(urls, fmt.Sprintf("http://archived.example/%d", n))
	}
	if stored := importFile(t, o, archive(t, time.Now().Add(-time.Hour), "Words.", urls...), "archive"); stored != 10 {
		t.Errorf("%d pages are imported", stored)
	}
	wait(t, s, func(Progress, error) {})
	if report := mustVerify(t, s.Bucket); report.Stored != 50 {
		t.Errorf("%d stored", report.Stored)
	}
}
