package cloud

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// get sends a request with headers, given as "Name: value", and returns the answer, and whether it was cached.
func get(t *testing.T, url string, headers ...string) (status int, body string, cached bool) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	content, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(content), strings.HasPrefix(got.Header.Get("X-Cache"), "Hit")
}

// With CloudFront before the function query, the function answers nobody else. Answers of the API are cached for ten
// seconds, each for requests alike; pages for persons and what needs a key are not. A changed index is seen after that.
func TestFront(t *testing.T) {
	t.Parallel()
	c, said := startWith(t, Options{Dir: t.TempDir(), Parameters: onDomain})
	if status, body, _ := get(t, c.front.origin+"/v1/search?q=one"); status != http.StatusForbidden {
		t.Errorf("the function's own URL: status %d, %s", status, body)
	}
	if _, body, _ := get(t, c.URL+"/opensearch.xml"); !strings.Contains(body, "//"+onDomain["Domain"]+"/search?") {
		t.Errorf("want searches on the domain, not at the function's own URL: %s", body)
	}
	for _, test := range []struct {
		path    string
		headers []string
		cached  bool // the second answer is
	}{
		{"/v1/search?q=one", nil, true},
		{"/v1/search?q=two", nil, true},
		{"/v1/search?q=one", []string{"Accept-Language: de"}, true},
		{"/v1/search?q=one", []string{"Origin: https://example.org"}, true},
		{"/v1/search?q=one", []string{"X-API-Key: of ann"}, true},
		{"/v1/search?q=one&explain=cost", nil, false},
		{"/search?q=one", []string{"Accept: application/json"}, true},
		{"/search?q=one", []string{"Accept: text/html"}, false},
		{"/search?q=one", []string{"Accept: text/html", "Accept-Language: de"}, false},
		{"/", nil, false},
	} {
		_, _, first := get(t, c.URL+test.path, test.headers...)
		if status, body, second := get(t, c.URL+test.path, test.headers...); status != http.StatusOK || first || second != test.cached {
			t.Errorf("%s %q: cached at first %v, then %v, want %v; status %d, %s", test.path, test.headers, first, second, test.cached, status, body)
		}
	}

	s := c.crawl(t, said)
	_, before, _ := get(t, c.URL+"/v1/search?q="+s.words["/"])
	c.front.advance(10 * time.Second)
	c.renew(t)
	if _, after, cached := get(t, c.URL+"/v1/search?q="+s.words["/"]); cached || !strings.Contains(after, s.origin+"/") {
		t.Errorf("after ten seconds, cached %v: %s; before: %s", cached, after, before)
	}

	const secret = "of ann, who may search"
	_, err := control.Change(t.Context(), c.Bucket, func(d *control.Document) bool {
		return d.AddKey(control.NewKey("ann", secret, control.Scopes, 0, time.Now())) == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.front.advance(10 * time.Second)
	c.renew(t)
	for range 2 {
		if status, _, cached := get(t, c.URL+"/v1/search?q=one", "X-API-Key: "+secret); status != http.StatusOK || cached {
			t.Errorf("with a key: status %d, cached %v", status, cached)
		}
		if status, _, cached := get(t, c.URL+"/v1/search?q=one"); status != http.StatusUnauthorized || cached {
			t.Errorf("without a key: status %d, cached %v", status, cached)
		}
	}
}

// renew makes the function query read the bucket and the settings anew, as it does by itself after some seconds.
func (c *Cloud) renew(t *testing.T) {
	t.Helper()
	if err := c.functions["Query"].cool(); err != nil {
		t.Fatal(err)
	}
}
