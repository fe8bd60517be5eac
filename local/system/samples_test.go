package system

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// newSampleSite serves pages that can be samples of a topic, and others that cannot, such as an
// image. The text of the page /asked says how often that page was requested: "version 1", "version
// 2" and so on.
func newSampleSite(t *testing.T) *httptest.Server {
	asked := 0
	serve := func(contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			fmt.Fprint(w, body)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/page.html", serve("text/html; charset=iso-8859-1",
		"<title>Boats</title><nav>Home, contents</nav><script>no()</script><p>A caf\xe9 on a boat."))
	mux.Handle("/plain.txt", serve("text/plain", "  Sails & <b>masts</b>\n"))
	mux.Handle("/long.txt", serve("text/plain", strings.Repeat("sail ", 10_000)))
	mux.Handle("/moved", http.RedirectHandler("/page.html", http.StatusFound))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	mux.Handle("/image.png", serve("image/png", "\x89PNG\r\n\x1a\n"))
	mux.Handle("/blank.html", serve("text/html", "<title>Blank</title><p> "))
	mux.Handle("/endless.txt", serve("text/plain", strings.Repeat("sail ", 100_000)))
	mux.HandleFunc("/agent", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.UserAgent()) })
	mux.HandleFunc("/asked", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprintf(w, "version %d", asked)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// on returns a collection with the given topic, as if it was read from a file.
func on(t collection.Topic) collection.Collection {
	c := file("boats", collection.Seed{URL: "http://127.0.0.1/", Scope: collection.Host})
	c.Topic, c.Agent = &t, "ExampleBot/1.0"
	return c
}

func TestSamples(t *testing.T) {
	t.Parallel()
	served := newSampleSite(t)
	s := newSamples(fetch.Transport(true))
	s.most = 100_000
	defer s.client.CloseIdleConnections()
	for _, test := range []struct{ path, want string }{
		{"/page.html", "A café on a boat."},
		{"/moved", "A café on a boat."},
		{"/plain.txt", "Sails & <b>masts</b>"},
		{"/long.txt", strings.Repeat("sail ", 10_000)[:32<<10]},
		{"/agent", "ExampleBot/1.0"},
	} {
		given := on(collection.Topic{Words: []string{"boat"}, Texts: []string{"of a file"}, Pages: []string{served.URL + test.path}})
		got, err := s.read(t.Context(), given)
		if err != nil {
			t.Error(err)
			continue
		}
		want := *given.Topic
		want.Texts = []string{"of a file", test.want}
		if diff := cmp.Diff(&want, got.Topic); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
		if len(given.Topic.Texts) != 1 {
			t.Errorf("%s: the collection that was given has changed", test.path)
		}
	}
	for path, want := range map[string]string{
		"/none":        "404 Not Found",
		"/round":       "10 redirects",
		"/image.png":   "nobody reads image/png",
		"/blank.html":  "no text",
		"/endless.txt": "more than 100000 bytes",
	} {
		page := served.URL + path
		_, err := s.read(t.Context(), on(collection.Topic{Words: []string{"boat"}, Pages: []string{served.URL + "/plain.txt", page}}))
		if err == nil || !strings.HasPrefix(err.Error(), "cannot read sample "+page+" of collection boats: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := s.read(t.Context(), on(collection.Topic{Pages: []string{served.URL + "/agent"}})); err == nil || !strings.Contains(err.Error(), "says nothing") {
		t.Errorf("a topic of a sample that repeats no word: %v", err)
	}
	public := newSamples(fetch.Transport(false))
	if _, err := public.read(t.Context(), on(collection.Topic{Pages: []string{served.URL + "/page.html"}})); err == nil {
		t.Error("a sample was read from an address that is not public")
	}
}

// TestPlanReadsSamples: whenever a collection from a file is published, Plan downloads the sample
// pages of its topic again. Plan publishes nothing until it has downloaded the samples of all
// collections. So if one sample is missing, no collection is published.
func TestPlanReadsSamples(t *testing.T) {
	t.Parallel()
	served := newSampleSite(t)
	s := open(t, options(t))
	publish := func(collections ...collection.Collection) error {
		return s.Plan(t.Context(), Plan{Collections: collections})
	}
	published := func() []collection.Collection {
		t.Helper()
		all, err := collection.LoadAll(t.Context(), s.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	good := on(collection.Topic{Words: []string{"boat"}, Pages: []string{served.URL + "/asked"}, Threshold: 0.3})
	bad := on(collection.Topic{Words: []string{"boat"}, Pages: []string{served.URL + "/none"}})
	bad.Name = "bad"
	if err := publish(good, bad); err == nil || !strings.Contains(err.Error(), served.URL+"/none") {
		t.Errorf("a sample that cannot be had: %v", err)
	}
	if all := published(); len(all) > 0 {
		t.Errorf("%+v is published, although a sample is missing", all)
	}
	for _, text := range []string{"version 2", "version 3"} {
		if err := publish(good); err != nil {
			t.Fatal(err)
		}
		want := *good.Topic
		want.Texts = []string{text}
		if diff := cmp.Diff(&want, published()[0].Topic); diff != "" {
			t.Errorf("topic (-want +published):\n%s", diff)
		}
	}
	if err := s.Plan(t.Context(), Plan{Renew: true}); err != nil {
		t.Fatal(err)
	}
	if topic := published()[0].Topic; topic.Texts[0] != "version 3" {
		t.Errorf("what is published already was read again: %q", topic.Texts)
	}
}
