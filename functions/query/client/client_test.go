package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/client"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// TestParameters sends a query with all fields, and checks that the server takes each of them, alone
// and among several searches.
func TestParameters(t *testing.T) {
	s, server := newServer(t)
	defer server.Close()
	c := client.Client{URL: server.URL + "/"}
	all := client.Query{
		Text: "table", N: 7, From: 1, Site: []string{"example.org", "example.com"}, Lang: []string{"en"}, Collection: []string{"docs"}, Type: []string{"text/html"},
		After: querytest.Noon, Before: querytest.Noon.Add(48 * time.Hour), ByDate: true, AsOf: s.Clock.Now().Add(time.Minute), Across: []string{"de", "fr"}, FoldSites: true,
		Facets: []string{"site", "lang"}, Timeout: time.Second, Highlight: true, ExplainScore: true, ExplainCost: true,
	}
	for _, q := range []client.Query{all, {Text: "table", ExplainCost: true, ExplainScore: true, Highlight: true}} {
		answer, err := c.Search(t.Context(), q)
		if err != nil || answer.Cost == nil {
			t.Errorf("%+v: %+v, %v", q, answer, err)
		}
		for _, r := range answer.Results {
			if r.Explanation == nil || !strings.Contains(r.SnippetHTML, "<mark>table</mark>") || r.Fetched.IsZero() {
				t.Errorf("%+v: %+v", q, r)
			}
		}
		several, err := c.Multi(t.Context(), q, q)
		if err != nil || len(several) != 2 || several[1].Err != nil || several[1].Answer.Total != answer.Total {
			t.Errorf("several of %+v: %+v, %v", q, several, err)
		}
		counts, err := c.Facets(t.Context(), q)
		if err != nil || counts.Total != answer.Total || len(counts.Facets) == 0 || len(counts.Results) > 0 {
			t.Errorf("counts of %+v: %+v, %v", q, counts, err)
		}
	}
}

// TestMembers checks that the client's types have all members of the API's answers, and no others. Only the
// member query of an answer is left out, because the client knows its query.
func TestMembers(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var compare func(ours, theirs reflect.Type)
	compare = func(ours, theirs reflect.Type) {
		for ours.Kind() == reflect.Pointer || ours.Kind() == reflect.Slice || ours.Kind() == reflect.Map {
			ours, theirs = ours.Elem(), theirs.Elem()
		}
		if ours.Kind() != reflect.Struct || ours == theirs || seen[ours] {
			return
		}
		seen[ours] = true
		known, answered := querytest.Members(ours), querytest.Members(theirs)
		for name, field := range answered {
			if own, found := known[name]; found {
				compare(own.Type, field.Type)
			} else if name != "query" {
				t.Errorf("%v lacks %s of %v; add it to types.go", ours, name, theirs)
			}
		}
		for name := range known {
			if _, found := answered[name]; !found {
				t.Errorf("%v has %s, which %v has not", ours, name, theirs)
			}
		}
	}
	compare(reflect.TypeFor[client.Answer](), reflect.TypeFor[api.Answer]())
	compare(reflect.TypeFor[client.Suggestion](), reflect.TypeFor[api.Suggestion]())
	compare(reflect.TypeFor[client.Page](), reflect.TypeFor[structured.Page]())
	if len(seen) < 9 {
		t.Errorf("only %v were compared", seen)
	}
}

func TestStoredPage(t *testing.T) {
	_, server := newServer(t)
	defer server.Close()
	c := client.Client{URL: server.URL}
	const address = "https://example.org/vacuum"
	text, err := c.Markdown(t.Context(), address, time.Time{})
	if err != nil || !strings.Contains(text, "# Vacuum") {
		t.Errorf("%q, %v", text, err)
	}
	stored, err := c.Stored(t.Context(), address, time.Time{})
	if err != nil || !strings.Contains(string(stored), "<h1>Vacuum</h1>") {
		t.Errorf("%q, %v", stored, err)
	}
	_, err = c.Page(t.Context(), address+"nowhere", time.Time{})
	if p, is := errors.AsType[*client.Problem](err); !is || p.Status != http.StatusNotFound {
		t.Errorf("%v", err)
	}
}

// TestKey checks that the client sends its key, and waits when the key's requests are used up.
func TestKey(t *testing.T) {
	s, server := newServer(t)
	defer server.Close()
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		s.Check(d.AddKey(control.NewKey("a", "secret", []string{control.Search}, 2, s.Clock.Now())))
		return true
	})
	s.Check(err)
	s.Clock.Advance(time.Hour)
	var waited []time.Duration
	c := client.Client{URL: server.URL, Wait: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		s.Clock.Advance(d)
		return nil
	}}
	_, err = c.Search(t.Context(), client.Query{Text: "table"})
	if p, is := errors.AsType[*client.Problem](err); !is || p.Status != http.StatusUnauthorized || len(waited) > 0 {
		t.Errorf("without a key: %v", err)
	}
	c.Key = "secret"
	for range 3 {
		if answer, err := c.Search(t.Context(), client.Query{Text: "table"}); err != nil || answer.Total != 2 {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	if !slices.Equal(waited, []time.Duration{30 * time.Second}) {
		t.Errorf("waited %v", waited)
	}
}

// TestRetry checks after which answers the client asks again, and how often.
func TestRetry(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header string // Retry-After
		asked  int
	}{
		"busy":                    {503, "5", 4},
		"too many requests":       {429, "1", 4},
		"it does not say when":    {503, "", 1},
		"by a date":               {503, "Sat, 21 Nov 2026 12:00:01 GMT", 1},
		"in too long a time":      {429, "61", 1},
		"in a time out of bounds": {429, "9999999999999", 1},
		"an error of the server":  {500, "5", 1},
		"a wrong request":         {400, "5", 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Retry-After", test.header)
				http.Error(w, "not now", test.status)
			}))
			defer server.Close()
			var waited time.Duration
			c := client.Client{URL: server.URL, Wait: func(_ context.Context, d time.Duration) error { waited += d; return nil }}
			_, err := c.Search(t.Context(), client.Query{Text: "a"})
			p, is := errors.AsType[*client.Problem](err)
			if !is || p.Status != test.status || p.Detail != "not now" || p.Title != http.StatusText(test.status) {
				t.Errorf("%v", err)
			}
			if asked != test.asked {
				t.Errorf("asked %d times, want %d", asked, test.asked)
			}
		})
	}
}

// TestImpatient checks that a request stops waiting when its context ends, and that the error says why it
// had to wait.
func TestImpatient(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "not now", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	c := client.Client{URL: server.URL}
	c.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r.WithContext(t.Context()))
		cancel()
		return response, err
	})}
	_, err := c.Search(ctx, client.Query{Text: "a"})
	if _, is := errors.AsType[*client.Problem](err); !is || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestEarlyEnd checks that All requests no further page when the caller stops asking for results.
func TestEarlyEnd(t *testing.T) {
	_, server := newServer(t)
	defer server.Close()
	var paths []string
	c := client.Client{URL: server.URL, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		paths = append(paths, r.URL.RequestURI())
		return http.DefaultTransport.RoundTrip(r)
	})}}
	n := 0
	for _, err := range c.All(t.Context(), client.Query{Text: "manual", N: 5}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 6 {
			break
		}
	}
	if diff := cmp.Diff([]string{"/v1/search?n=5&q=manual", "/v1/search?from=5&n=5&q=manual"}, paths); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
