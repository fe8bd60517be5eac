package search

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestJoinedWords checks that the words e-mail and email find each other, and that pages with one
// of these come before pages that have only the words e and mail.
func TestJoinedWords(t *testing.T) {
	ix := indexOf(t, []segment.Document{
		page("http://a/hyphen", "an e-mail of the UTF-8 kind"),
		page("http://a/joined", "an email of the utf8 kind"),
		page("http://a/apart", "e is a letter, and mail is sent; utf has 8 bits"),
		page("http://a/other", "nothing of the kind"),
	})
	for query, want := range map[string][]string{ // in any order
		"e-mail":       {"http://a/apart", "http://a/hyphen", "http://a/joined"},
		"email":        {"http://a/hyphen", "http://a/joined"},
		"utf8":         {"http://a/hyphen", "http://a/joined"},
		`"e-mail"`:     {"http://a/hyphen"},
		"mail -e-mail": {"http://a/apart"},
	} {
		got := urls(t, ix, query)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if got := urls(t, ix, "e-mail"); got[2] != "http://a/apart" {
		t.Errorf("e-mail finds %s, the parts alone before the whole", got)
	}
	if got := urls(t, ix, "UTF-8 mail"); got[0] != "http://a/hyphen" {
		t.Errorf("UTF-8 mail finds %s first", got[0])
	}
}

// TestWrittenForms checks which written forms of a name find each other. The form of the query comes first.
func TestWrittenForms(t *testing.T) {
	pages := []segment.Document{
		page("http://a/HttpClient", "the HttpClient of the library"), page("http://a/http_client", "the http_client of the library"),
		page("http://a/http-client", "the http-client of the library"), page("http://a/http client", "the http client of the library"),
		page("http://a/apart", "the http library of a client"),
	}
	joined, split := []string{"http://a/HttpClient", "http://a/http-client", "http://a/http_client"}, []string{"http://a/http client", "http://a/http-client", "http://a/http_client"}
	for _, test := range []struct {
		query string
		pages []segment.Document
		want  []string // in any order
	}{
		{"HttpClient", pages, append(joined[:3:3], "http://a/http client")},
		{"httpclient", pages, joined},
		{"http_client", pages, []string{"http://a/HttpClient", "http://a/apart", "http://a/http client", "http://a/http-client", "http://a/http_client"}},
		{"http-client", pages, []string{"http://a/HttpClient", "http://a/apart", "http://a/http client", "http://a/http-client", "http://a/http_client"}},
		{`"http client"`, pages, split},
		{"http client", pages, append(split[:3:3], "http://a/apart", "http://a/HttpClient")},
		{"+http +client", pages, append(split[:3:3], "http://a/apart")},
		{"HttpClient", pages[3:], []string{"http://a/http client"}},
		{"HttpClient", pages[4:], []string{"http://a/apart"}}, // as nothing else is found
		{"+HttpClient", pages[3:], []string{"http://a/http client"}},
		{"XMLReader", pages[3:], []string{}},
	} {
		got := urls(t, indexOf(t, test.pages), test.query)
		if len(got) > 0 && len(test.pages) == len(pages[3:]) && got[0] != "http://a/http client" {
			t.Errorf("%s finds %s first", test.query, got[0])
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.query, diff)
		}
	}
	if got := find(t, indexOf(t, pages[3:]), Query{Text: "(HttpClient OR nothing) collection:MyDocs", Size: 9}); got.Total != 0 {
		t.Errorf("%d pages of another collection", got.Total)
	}
	if got := urls(t, indexOf(t, pages), "HttpClient"); got[3] != "http://a/http client" {
		t.Errorf("HttpClient finds %s last", got[3])
	}
	if got := find(t, indexOf(t, pages[4:]), Query{Text: "HttpClient", Size: 9}); len(got.Notes) != 1 {
		t.Errorf("notes %q", got.Notes)
	}
	for text, want := range map[string]string{"HttpClient": "Http-Client", "XMLReader": "XML-Reader", "getHTTPProxy": "get-HTTP-Proxy", "HTTP Client é": "HTTP Client é", "": ""} {
		if got := apart(text); got != want {
			t.Errorf("%s apart is %s, want %s", text, got, want)
		}
	}
}

// TestNeighbours checks for which words of a query pages with the joined word are found, too (see
// plan.joinNeighbours). Pages with the words as the query has them must come first.
func TestNeighbours(t *testing.T) {
	ix := indexOf(t, []segment.Document{
		page("http://a/joined", "the TcpSocket of this library"), page("http://a/exact", "the tcp socket of this library"),
		page("http://a/open", "call openTcpSocket() at first"), page("http://a/into", "it goes into this"), page("http://a/utf8", "texts in utf8"),
		page("http://a/four", "redgreenbluewhite"), page("http://a/five", "redgreenbluewhiteblack"), page("http://a/cafe", "the CaféBar"), page("http://a/42", "number 4711"),
	})
	for query, want := range map[string][]string{
		"tcp socket":                            {"http://a/exact", "http://a/joined"},
		"Tcp SOCKET zebra":                      {"http://a/exact", "http://a/joined"},
		"open tcp socket":                       {"http://a/open", "http://a/exact", "http://a/joined"},
		"utf 8":                                 {"http://a/utf8"},
		"café bar":                              {"http://a/cafe"},
		"red green blue white black":            {"http://a/four"},  // five words are too many
		"a2 b2 c2 d2 e2 f2 g2 h2 i2 tcp socket": {"http://a/exact"}, // the tenth pair
		"in to":                                 {"http://a/utf8"},  // not the stop word into
		"47 11":                                 {},                 // no letters
		`"tcp socket"`:                          {"http://a/exact"},
		`tcp +socket`:                           {"http://a/exact"},
		"tcp -socket":                           {},
		"tcp socket*":                           {"http://a/exact"},
		"tcp (socket OR zebra)":                 {"http://a/exact"},
		"+tcp tcp socket":                       {"http://a/exact"},
		"intitle:tcp tcp socket":                {},
	} {
		if diff := cmp.Diff(want, urls(t, ix, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	twice := indexOf(t, []segment.Document{page("http://a/joined", "bora bora borabora"), page("http://a/twice", "bora bora")})
	if r := find(t, twice, Query{Text: "bora bora", Size: 9}); r.Total != len(r.Hits) || len(r.Hits) != 2 {
		t.Errorf("%d hits of %d", len(r.Hits), r.Total)
	}
	if snippet := find(t, ix, Query{Text: "café bar", Size: 1}).Hits[0].Snippet; !slices.Contains(snippet, Fragment{"CaféBar", true}) {
		t.Errorf("the snippet %v has the word without a mark", snippet)
	}
	if marked := ix.Mark(Query{Text: "tcp socket"}, "en", []string{"a TcpSocket"}); !slices.Contains(marked[0], Fragment{"TcpSocket", true}) {
		t.Errorf("%v has the word without a mark", marked)
	}
}

// TestJoinedWordsCompete checks that, in a query with joined words such as e-mail, a scan skips
// only documents that cannot be among the best matches.
func TestJoinedWordsCompete(t *testing.T) {
	var docs []segment.Document
	for i := range 600 {
		docs = append(docs, page(fmt.Sprint("http://a/", i), []string{
			"pg control", "pg control system view", "control of the system", "pg_control_system()", "pgcontrolsystem", "system pg",
		}[i*i%6]+fmt.Sprint(" filler", i%7)))
	}
	ix := indexOf(t, docs[:300], docs[300:])
	pruning := *ix
	pruning.exactly = 0
	for _, query := range []string{"pg_control_system", "pg_control_system view", "pg-control", "+pg pg_control_system", "pg control system", "view pg control system"} {
		all, passed := find(t, ix, Query{Text: query, Size: 50}), find(t, &pruning, Query{Text: query, Size: 50})
		for i, hit := range all.Hits {
			if passed.Hits[i].URL != hit.URL || passed.Hits[i].Score != hit.Score {
				t.Fatalf("%s: hit %d is %s with %v, want %s with %v", query, i, passed.Hits[i].URL, passed.Hits[i].Score, hit.URL, hit.Score)
			}
		}
	}
}
