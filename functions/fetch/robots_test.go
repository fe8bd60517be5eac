package fetch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// site returns a handler of a site with pages. The given handler serves the site's robots.txt.
func site(robots http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", respond(200, "text/html", "<p>page"))
	mux.HandleFunc("/robots.txt", robots)
	return mux
}

// hops returns a handler for a robots.txt that redirects n times on its own host, and then to the
// given address.
func hops(n int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var done int
		_, _ = fmt.Sscanf(r.URL.RawQuery, "hop=%d", &done)
		if done++; done <= n {
			http.Redirect(w, r, fmt.Sprintf("/robots.txt?hop=%d", done), http.StatusMovedPermanently)
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	}
}

func TestRobots(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /no\n"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			busy(429, "100")(w, r)
		case "/moved":
			http.Redirect(w, r, "/rules", http.StatusPermanentRedirect)
		default:
			_, _ = io.WriteString(w, rules)
		}
	}))
	t.Cleanup(elsewhere.Close)
	stored, skipped := end{book.Stored, ""}, end{book.Skipped, "robots"}
	retry, failed := end{book.Retry, "robots unreachable"}, end{book.Failed, "robots unreachable"}
	obeyed, free, down := []end{skipped, stored, skipped, stored}, []end{stored, stored, skipped, stored}, []end{retry, retry, skipped, failed}
	for name, c := range map[string]struct {
		robots http.HandlerFunc
		status int
		body   string
		want   []end // ends of /no, /yes, /denied, and of /yes? at its last attempt
	}{
		"rules":                      {respond(200, "application/octet-stream", rules), 200, rules, obeyed},
		"absent":                     {respond(404, "text/html", "<p>no"), 404, "", free},
		"server error":               {respond(500, "", ""), 500, "", down},
		"too many requests":          {respond(429, "", ""), 429, "", down},
		"no status":                  {respond(999, "", ""), 999, "", down},
		"no answer":                  {raw(""), 0, "", down},
		"cut short":                  {raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent"), 0, "", down},
		"redirect":                   {hops(0, "/moved"), 200, "<p>page", free},
		"redirect loop":              {hops(0, "/robots.txt"), 302, "", free},
		"redirect far away":          {hops(0, elsewhere.URL+"/rules"), 200, rules, obeyed},
		"five redirects":             {hops(3, elsewhere.URL+"/moved"), 200, rules, obeyed},
		"six redirects":              {hops(4, elsewhere.URL+"/moved"), 308, "", free},
		"redirect to a file":         {hops(0, "file:///robots.txt"), 302, "", free},
		"redirect to nobody":         {hops(0, "http://elsewhere.test/robots.txt"), 0, "", down},
		"redirect to a busy address": {hops(0, elsewhere.URL+"/busy"), 429, "", down},
		"too long":                   {respond(200, "", rules+strings.Repeat("#", robots.MaxBytes)), 200, (rules + strings.Repeat("#", robots.MaxBytes))[:robots.MaxBytes], obeyed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, site(c.robots))
			b := w.batch("/no", "/yes", "/denied", "/yes?")
			b.Robots = []string{w.server.URL}
			b.Targets[2].Denied = "robots"
			b.Targets[3].Attempts = MaxAttempts - 1
			got := w.run(t, b)
			if diff := cmp.Diff(c.want, ends(got)); diff != "" {
				t.Error(diff)
			}
			var body []byte
			if c.body != "" {
				body = []byte(c.body)
			}
			want := []spool.Robots{{Origin: w.server.URL, Status: c.status, Body: body, Fetched: start}}
			if diff := cmp.Diff(want, got.Ledger.Robots, cmp.Comparer(bytes.Equal)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRobotsOfPrivateAddress(t *testing.T) {
	w := newWorld(t, site(respond(200, "", "")))
	w.Transport = Transport(false)
	b := w.batch("/")
	b.Robots = []string{w.server.URL}
	if diff := cmp.Diff([]end{{book.Failed, "address refused"}}, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
	}
}

// guarded is a transport that refuses requests to one host, as fetch refuses addresses that are not
// allowed.
type guarded struct {
	http.RoundTripper
	host string
}

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == g.host {
		return nil, errPort
	}
	return g.RoundTripper.RoundTrip(r)
}

// TestRobotsLedAstray fetches a robots.txt that redirects to an address that is not allowed. All
// URLs of the origin must be retried later, and not fail for good.
func TestRobotsLedAstray(t *testing.T) {
	w := newWorld(t, site(hops(0, "http://169.254.169.254/latest/meta-data/")))
	w.Transport = guarded{w.Transport, "169.254.169.254"}
	b := w.batch("/")
	b.Robots = []string{w.server.URL}
	got := w.run(t, b)
	if diff := cmp.Diff([]end{{book.Retry, "robots unreachable"}}, ends(got)); diff != "" {
		t.Error(diff)
	}
	if detail := got.Ledger.Outcomes[0].Detail; !strings.HasPrefix(detail, "robots.txt, moved to 169.254.169.254: port refused: ") {
		t.Errorf("detail %q", detail)
	}
}

// TestRobotsOutOfTurn fetches a robots.txt that redirects to another host, from where a further
// redirect leads back. The request to the other host must be sent without a delay. Each request to
// the batch's own host must be sent after the host's delay.
func TestRobotsOutOfTurn(t *testing.T) {
	var back string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, back, http.StatusFound) }))
	t.Cleanup(elsewhere.Close)
	w := newWorld(t, site(hops(1, elsewhere.URL)))
	back = w.server.URL + "/back"
	b := w.batch("/")
	b.Robots, b.DelayMillis = []string{w.server.URL}, 1000
	w.run(t, b)
	// The second hop, the way back, and the page each come after a delay.
	if diff := cmp.Diff([]time.Duration{time.Second, time.Second, time.Second}, w.clock.slept); diff != "" {
		t.Error(diff)
	}
}

// TestBusyRobots requests a robots.txt that is answered with 429: the host must not be requested
// for as long as its Retry-After says.
func TestBusyRobots(t *testing.T) {
	w := newWorld(t, site(busy(429, "600")))
	b := w.batch("/")
	b.Robots = []string{w.server.URL}
	if got, want := w.run(t, b).Ledger.Rest, start.Add(10*time.Minute); !got.Equal(want) {
		t.Errorf("rests until %v, want %v", got, want)
	}
}

func TestCrawlDelay(t *testing.T) {
	w := newWorld(t, site(respond(200, "", "User-agent: *\nCrawl-delay: 3\n")))
	b := w.batch("/1", "/2")
	b.Robots = []string{w.server.URL}
	b.DelayMillis = 1000
	w.run(t, b)
	if diff := cmp.Diff([]time.Duration{3 * time.Second, 3 * time.Second}, w.clock.slept); diff != "" {
		t.Error(diff)
	}
}

// TestSitemapsOfRobots fetches a robots.txt that names sitemaps. The sitemaps must become links for
// each collection that has targets at the origin. If the answer has the status 404, there must be no
// links.
func TestSitemapsOfRobots(t *testing.T) {
	const body = "Sitemap: https://cdn.test/1.xml#x\nUser-agent: *\nSitemap: http://[bad/\nSitemap: http://a.test/%s\n"
	for status, want := range map[int][]string{
		200: {"a http://a.test/%s", "a https://cdn.test/1.xml", "b http://a.test/%s", "b https://cdn.test/1.xml"},
		404: nil,
	} {
		w := newWorld(t, site(respond(status, "text/plain", body)))
		b := w.batch("/1", "/2", "/3")
		b.Robots = []string{w.server.URL}
		b.Targets[0].Collections = []string{"b", "a"}
		b.Targets[1].Collections = nil
		b.Targets[2].Collections = []string{"a"}
		var got []string
		for _, l := range w.run(t, b).Ledger.Links {
			if l.Kind != book.Sitemap || l.Depth != 0 || l.Source != layout.IdentityOf(w.server.URL+"/robots.txt") {
				t.Errorf("status %d: %+v", status, l)
			}
			got = append(got, l.Collection+" "+l.Target)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status %d: %s", status, diff)
		}
	}
}
