package api

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"net/url"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// The formats of an answer that is a feed: Atom (RFC 4287) and RSS 2.0. Both have the numbers of the
// results in elements of OpenSearch 1.1. Feeds have the results in the order of the search.
const (
	asAtom = "atom"
	asRSS  = "rss"
)

const openSearch = "http://a9.com/-/spec/opensearch/1.1/"

// counts are the elements of OpenSearch in a feed.
type counts struct {
	Total int `xml:"opensearch:totalResults"`
	First int `xml:"opensearch:startIndex"` // number of the first result, counted from 1
	Size  int `xml:"opensearch:itemsPerPage"`
}

type atomFeed struct {
	XMLName    xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	OpenSearch string   `xml:"xmlns:opensearch,attr"`
	Title      string   `xml:"title"`
	ID         string   `xml:"id"`
	Updated    string   `xml:"updated"`
	Author     string   `xml:"author>name"`
	Links      []link   `xml:"link"`
	counts
	Entries []atomEntry `xml:"entry"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Lang    string `xml:"xml:lang,attr,omitempty"`
	Title   string `xml:"title"`
	ID      string `xml:"id"`
	Updated string `xml:"updated"` // time at which the page was fetched; 1970 if no page is stored for the address
	// the page's own date; "" if it is not known
	Published string `xml:"published,omitempty"`
	Link      link   `xml:"link"`
	Summary   string `xml:"summary"`
}

type rssFeed struct {
	XMLName    xml.Name   `xml:"rss"`
	Version    string     `xml:"version,attr"`
	OpenSearch string     `xml:"xmlns:opensearch,attr"`
	Channel    rssChannel `xml:"channel"`
}

type rssChannel struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	counts
	Items []rssItem `xml:"item"`
}

type rssItem struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	GUID        string `xml:"guid"`
	Date        string `xml:"pubDate,omitempty"` // the page's own date, or else the time at which it was fetched
	Description string `xml:"description"`
}

// writeFeed answers a request with an answer as asAtom or asRSS.
func writeFeed(w http.ResponseWriter, r *http.Request, answer Answer, format string) error {
	origin := request.Origin(r)
	var feed any
	media := "application/rss+xml"
	if format == asAtom {
		feed, media = atomOf(answer, origin, r.URL.RequestURI()), "application/atom+xml"
	} else {
		feed = rssOf(answer, origin+Search+"?"+url.Values{"q": {answer.Query.Text}}.Encode(), origin)
	}
	content, err := xml.Marshal(feed)
	if err != nil {
		return err
	}
	content = append([]byte(xml.Header), content...)
	write(w, r, media, content, content)
	return nil
}

// titleOf returns the title of a feed.
func titleOf(answer Answer) string { return answer.Query.Text + " – Bucketsearch" }

func countsOf(answer Answer) counts {
	return counts{answer.Total, answer.Query.From + 1, answer.Query.N}
}

// atomOf returns an answer as an Atom feed. The parameter origin is the scheme and host of this server (see
// request.Origin); path is the path of the request with its parameters.
func atomOf(answer Answer, origin, path string) atomFeed {
	feed := atomFeed{
		OpenSearch: openSearch, Title: titleOf(answer), ID: origin + path, Author: "Bucketsearch", counts: countsOf(answer),
		Links: []link{{"self", "application/atom+xml", origin + path}},
	}
	for _, to := range []link{{Rel: "next", Href: answer.Next}, {Rel: "previous", Href: answer.Previous}} {
		if to.Href != "" {
			feed.Links = append(feed.Links, link{to.Rel, "application/atom+xml", origin + to.Href})
		}
	}
	newest := time.Unix(0, 0)
	for _, result := range answer.Results {
		fetched := result.Fetched
		if fetched.IsZero() {
			fetched = time.Unix(0, 0)
		}
		if fetched.After(newest) {
			newest = fetched
		}
		published := ""
		if result.Date != "" {
			published = result.Date + "T00:00:00Z"
		}
		feed.Entries = append(feed.Entries, atomEntry{
			Published: published, Lang: result.Lang, Title: cmp.Or(result.Title, result.URL), ID: result.URL, Updated: fetched.UTC().Format(time.RFC3339),
			Link: link{Rel: "alternate", Href: result.URL}, Summary: result.Snippet.Snippet,
		})
	}
	feed.Updated = newest.UTC().Format(time.RFC3339)
	return feed
}

// rssOf returns an answer as an RSS feed. The parameter page is the address of the results page for people;
// origin is the scheme and host of this server (see request.Origin).
func rssOf(answer Answer, page, origin string) rssFeed {
	feed := rssFeed{Version: "2.0", OpenSearch: openSearch, Channel: rssChannel{
		Title: titleOf(answer), Link: page, Description: "Results of a search for " + answer.Query.Text + " by " + origin, counts: countsOf(answer),
	}}
	for _, result := range answer.Results {
		item := rssItem{Title: cmp.Or(result.Title, result.URL), Link: result.URL, GUID: result.URL, Description: result.Snippet.Snippet}
		if date, err := time.Parse(time.DateOnly, result.Date); err == nil {
			item.Date = date.Format(time.RFC1123Z)
		} else if !result.Fetched.IsZero() {
			item.Date = result.Fetched.UTC().Format(time.RFC1123Z)
		}
		feed.Channel.Items = append(feed.Channel.Items, item)
	}
	return feed
}
