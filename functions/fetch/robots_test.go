package fetch

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// site serves pages, and a robots.txt by the handler.
func site(robots http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", respond(200, "text/html", "<p>page"))
	mux.HandleFunc("/robots.txt", robots)
	return mux
}

func TestRobots(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /no\n"
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	stored, skipped := end{book.Stored, ""}, end{book.Skipped, "robots"}
	retry, failed := end{book.Retry, "robots unreachable"}, end{book.Failed, "robots unreachable"}
	for name, c := range map[string]struct {
		robots http.HandlerFunc
		status int
		body   string
		want   []end // of /no, /yes, /denied, and /yes? for the last time
	}{
		"rules":             {respond(200, "application/octet-stream", rules), 200, rules, []end{skipped, stored, skipped, stored}},
		"absent":            {respond(404, "text/html", "<p>no"), 404, "", []end{stored, stored, skipped, stored}},
		"server error":      {respond(500, "", ""), 500, "", []end{retry, retry, skipped, failed}},
		"no answer":         {raw(""), 0, "", []end{retry, retry, skipped, failed}},
		"cut short":         {raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent"), 0, "", []end{retry, retry, skipped, failed}},
		"redirect":          {redirect("/moved"), 200, "<p>page", []end{stored, stored, skipped, stored}},
		"redirect loop":     {redirect("/robots.txt"), 302, "", []end{stored, stored, skipped, stored}},
		"redirect far away": {redirect("http://elsewhere.test/robots.txt"), 302, "", []end{stored, stored, skipped, stored}},
		"too long":          {respond(200, "", rules+strings.Repeat("#", robots.MaxBytes)), 200, (rules + strings.Repeat("#", robots.MaxBytes))[:robots.MaxBytes], []end{skipped, stored, skipped, stored}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, site(c.robots))
			b := w.batch("/no", "/yes", "/denied", "/yes?")
			b.Robots = []string{w.server.URL}
			b.Targets[2].Denied = true
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
	w.Transport = Transport(Options{})
	b := w.batch("/")
	b.Robots = []string{w.server.URL}
	if diff := cmp.Diff([]end{{book.Failed, "address refused"}}, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
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
