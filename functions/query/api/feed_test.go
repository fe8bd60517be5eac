package api_test

import (
	"encoding/xml"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// TestFeeds reads the feeds of a query as a reader of feeds does: by the namespaces and names of
// their elements.
func TestFeeds(t *testing.T) {
	dated := harbour
	dated.Date = time.Date(2024, 10, 3, 0, 0, 0, 0, time.UTC)
	_, h := newStore(t, dated)
	const target = "/v1/search?q=hafen&format="
	type item struct {
		Title, Link, Text, Date string
	}
	want := item{"Müllers Hafen & Kai", harbour.URL, "Über 20 Schiffe liegen im Hafen <ruhig>.", "2026-11-21T12:00:01Z"}

	var atom struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"http://www.w3.org/2005/Atom id"`
		Updated string   `xml:"http://www.w3.org/2005/Atom updated"`
		Author  string   `xml:"http://www.w3.org/2005/Atom author>name"`
		Total   int      `xml:"http://a9.com/-/spec/opensearch/1.1/ totalResults"`
		Entries []struct {
			Title   string `xml:"title"`
			ID      string `xml:"id"`
			Updated string `xml:"updated"`
			Date    string `xml:"published"`
			Summary string `xml:"summary"`
			Link    struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	w := querytest.Ask(h, "GET", target+"atom", "X-Forwarded-Proto: https")
	if err := xml.Unmarshal(w.Body.Bytes(), &atom); err != nil || w.Header().Get("Content-Type") != "application/atom+xml" {
		t.Fatalf("%d %v: %v in %s", w.Code, w.Header(), err, w.Body)
	}
	if atom.ID != "https://example.com"+target+"atom" || atom.Updated != want.Date || atom.Author == "" || atom.Total != 1 || len(atom.Entries) != 1 {
		t.Fatalf("%+v", atom)
	}
	e := atom.Entries[0]
	if diff := cmp.Diff(want, item{e.Title, e.Link.Href, e.Summary, e.Updated}); diff != "" || e.ID != harbour.URL || e.Date != "2024-10-03T00:00:00Z" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}

	var rss struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Channel struct {
			Link  string `xml:"link"`
			Total int    `xml:"http://a9.com/-/spec/opensearch/1.1/ totalResults"`
			Items []struct {
				Title       string `xml:"title"`
				Link        string `xml:"link"`
				Date        string `xml:"pubDate"`
				Description string `xml:"description"`
			} `xml:"item"`
		} `xml:"channel"`
	}
	w = querytest.Ask(h, "GET", target+"rss")
	if err := xml.Unmarshal(w.Body.Bytes(), &rss); err != nil || w.Header().Get("Content-Type") != "application/rss+xml" || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %v in %s", w.Code, w.Header(), err, w.Body)
	}
	if rss.Version != "2.0" || rss.Channel.Link != "http://example.com/search?q=hafen" || rss.Channel.Total != 1 || len(rss.Channel.Items) != 1 {
		t.Fatalf("%+v", rss)
	}
	want.Date = "Thu, 03 Oct 2024 00:00:00 +0000"
	i := rss.Channel.Items[0]
	if diff := cmp.Diff(want, item{i.Title, i.Link, i.Description, i.Date}); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}
