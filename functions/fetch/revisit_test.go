package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// look holds those parts of an outcome that tests compare after a page was requested again.
type look struct {
	end
	ETag, Modified string
	Digest         uint64
	Exponent       int16
}

func lookOf(o book.Outcome) look {
	return look{end{o.State, o.Reason}, o.ETag, o.Modified, o.Digest, o.Exponent}
}

const (
	oldPage  = `<title>Title</title><p>What the page says since 3 hours.`
	samePage = `<title>Title</title><!-- visitor 8 --><p>What <b>the page</b> says since 3 hours.`
	latePage = `<title>Title</title><p>What the page says since 4 hours.`
	newPage  = `<title>Title</title><p>What the page says today.`
)

// sent returns a handler that answers with a status, a body and header fields, such as an ETag or
// noindex. The header is given as alternating names and values of its fields.
func sent(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// digestOf returns the digest (hash of the text) that a page with the given body and header fields
// gets when it is stored.
func digestOf(t *testing.T, body string, header ...string) uint64 {
	t.Helper()
	w := newWorld(t, sent(200, body, header...))
	return w.run(t, w.batch("/")).Ledger.Outcomes[0].Digest
}

// TestRevisit requests a stored page again, with different answers of the server. At its last fetch
// the page got the expiry class 3, the ETag "e" and the Last-Modified "then".
func TestRevisit(t *testing.T) {
	late := digestOf(t, latePage)
	was, is, hidden := digestOf(t, oldPage), digestOf(t, newPage), digestOf(t, oldPage, "X-Robots-Tag", "noindex")
	if was == is || was == hidden || was == late || was == 0 {
		t.Fatalf("digests %x, %x and %x", was, is, hidden)
	}
	const e, then = `"e"`, "then"
	unchanged := func(reason string, exponent int16) look {
		return look{end{book.Unchanged, reason}, e, then, was, exponent}
	}
	gone := func(state book.State, reason string) look { return look{end{state, reason}, "", "", was, 3} }
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		missing  bool // the page was missing at the last look
		attempts uint8
		want     look
	}{
		"not modified":           {handler: sent(304, ""), want: unchanged("", 4)},
		"not modified, new tag":  {handler: sent(304, "", "ETag", `"f"`), want: look{end{book.Unchanged, ""}, `"f"`, "", was, 4}},
		"back again":             {handler: sent(304, ""), missing: true, want: unchanged("", 4)},
		"says the same":          {handler: sent(200, samePage), want: unchanged("", 4)},
		"says the same, new tag": {handler: sent(200, samePage, "Last-Modified", "now"), want: look{end{book.Unchanged, ""}, "", "now", was, 4}},
		"says something else":    {handler: sent(200, newPage, "ETag", `"f"`), want: look{end{book.Stored, ""}, `"f"`, "", is, 2}},
		"says another number":    {handler: sent(200, latePage, "ETag", `"f"`), want: look{end{book.Stored, ""}, `"f"`, "", late, 4}},
		"is to be hidden":        {handler: sent(200, oldPage, "X-Robots-Tag", "noindex"), want: look{end{book.Stored, ""}, "", "", hidden, 2}},

		"missing":                 {handler: sent(404, "", "ETag", `"f"`), want: unchanged("http 404", -2)},
		"still missing":           {handler: sent(404, ""), missing: true, want: gone(book.Failed, "http 404")},
		"gone":                    {handler: sent(410, ""), want: unchanged("http 410", -2)},
		"missing, then forbidden": {handler: sent(403, ""), missing: true, want: gone(book.Failed, "http 403")},

		"busy":                         {handler: sent(429, ""), want: look{end: end{book.Retry, "http 429"}, Exponent: 3}},
		"busy for the last time":       {handler: sent(429, ""), attempts: MaxAttempts - 1, want: unchanged("http 429", 3)},
		"missing, then busy":           {handler: sent(429, ""), missing: true, attempts: MaxAttempts - 1, want: unchanged("http 429", 3)},
		"broken":                       {handler: sent(503, ""), want: look{end: end{book.Retry, "http 503"}, Exponent: 3}},
		"broken for the last time":     {handler: sent(503, ""), attempts: MaxAttempts - 1, want: unchanged("http 503", 3)},
		"missing, then broken":         {handler: sent(503, ""), missing: true, attempts: MaxAttempts - 1, want: unchanged("http 503", 3)},
		"no answer for the last time":  {handler: raw(""), attempts: MaxAttempts - 1, want: unchanged("connection", 3)},
		"in a coding that nobody asks": {handler: sent(200, "x", "Content-Encoding", "lzw"), want: unchanged("encoding", 3)},
		"redirect to nowhere":          {handler: sent(302, "", "Location", "ftp://a/"), want: unchanged("bad redirect", 3)},

		"moved":        {handler: sent(301, "", "Location", "/elsewhere"), want: gone(book.Skipped, "redirect")},
		"other type":   {handler: sent(200, "\x89PNG\r\n\x1a\n", "Content-Type", "image/png"), want: gone(book.Skipped, "type")},
		"other name":   {handler: sent(200, `<link rel=canonical href="/page"><p>What it says.`), want: look{end{book.Skipped, "canonical"}, "", "", was, 4}},
		"without end":  {handler: sent(200, oldPage, "Content-Length", "99999999999"), want: gone(book.Skipped, "too big")},
		"out of paper": {handler: sent(200, ""), want: look{end{book.Stored, ""}, "", "", digestOf(t, ""), 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked http.Header
			w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery != "" { // a request for the page itself
					asked = r.Header
				}
				c.handler(w, r)
			}))
			b := w.batch("/page?by=date")
			b.Targets[0].Attempts = c.attempts
			b.Targets[0].Last = &batch.Look{Time: start.Add(-time.Hour), ETag: e, Modified: then, Digest: was, Missing: c.missing, Collections: []string{"c"}}
			got := w.run(t, b)
			if o := lookOf(got.Ledger.Outcomes[0]); o != c.want {
				t.Errorf("%+v, want %+v", o, c.want)
			}
			if asked.Get("If-None-Match") != e || asked.Get("If-Modified-Since") != then {
				t.Errorf("asked with %v", asked)
			}
			if stored := c.want.State == book.Stored; len(got.Pages) != 0 != stored {
				t.Errorf("%d pages", len(got.Pages))
			}
			if !got.Ledger.Outcomes[0].Time.Equal(start) {
				t.Errorf("looked at %s", got.Ledger.Outcomes[0].Time)
			}
		})
	}
}

// TestRevisitWithoutAnswer runs a batch with a stored page that is due again, but that is not
// requested because of the robots.txt. If the robots.txt forbids the page, the URL must be skipped.
// If the robots.txt cannot be fetched, the outcome must be a retry, and after the last attempt
// "unchanged", so that the page stays stored.
func TestRevisitWithoutAnswer(t *testing.T) {
	last := &batch.Look{Time: start, ETag: `"e"`, Digest: 5, Collections: []string{"c"}}
	for name, c := range map[string]struct {
		robots   http.HandlerFunc
		denied   string
		attempts uint8
		want     look
	}{
		"forbidden now":      {robots: respond(200, "", "User-agent: *\nDisallow: /"), want: look{end{book.Skipped, "robots"}, "", "", 5, 3}},
		"forbidden before":   {robots: respond(404, "", ""), denied: "robots", want: look{end{book.Skipped, "robots"}, "", "", 5, 3}},
		"robots unreachable": {robots: respond(500, "", ""), want: look{end: end{book.Retry, "robots unreachable"}, Exponent: 3}},
		"robots unreachable for the last time": {robots: respond(500, "", ""), attempts: MaxAttempts - 1,
			want: look{end{book.Unchanged, "robots unreachable"}, `"e"`, "", 5, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, site(c.robots))
			b := w.batch("/page")
			b.Robots = []string{w.server.URL}
			b.Targets[0].Denied, b.Targets[0].Attempts, b.Targets[0].Last = c.denied, c.attempts, last
			if got := lookOf(w.run(t, b).Ledger.Outcomes[0]); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestDiedOnRevisit requests a stored page again. This page now crashes every fetch, but must stay
// stored.
func TestDiedOnRevisit(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", newPage))
	b := w.batch("/page")
	b.Targets[0].Attempts, b.Targets[0].Last = MaxAttempts-1, &batch.Look{Digest: 5}
	w.clock.now = b.Deadline
	w.deliver(t, b, 2)
	ledger, _ := w.ledger(t, b)
	want := look{end: end{book.Unchanged, "fetch died"}, Digest: 5, Exponent: 3}
	if got := lookOf(ledger.Outcomes[0]); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNeverStored requests a page again whose last fetch stored nothing. The outcome must be the
// same as that of a first fetch. For example, if the page is missing, it must have failed, and not
// count as a stored page that is gone.
func TestNeverStored(t *testing.T) {
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		attempts uint8
		want     look
	}{
		"not modified":   {sent(304, ""), 0, look{end: end{book.Failed, "http 304"}, Exponent: 3}},
		"missing":        {sent(404, ""), 0, look{end: end{book.Failed, "http 404"}, Exponent: 3}},
		"no answer":      {raw(""), MaxAttempts - 1, look{end: end{book.Failed, "connection"}, Exponent: 3}},
		"bad redirect":   {sent(302, "", "Location", "ftp://a/"), 0, look{end: end{book.Failed, "bad redirect"}, Exponent: 3}},
		"moved":          {sent(301, "", "Location", "/elsewhere"), 0, look{end: end{book.Skipped, "redirect"}, Exponent: 3}},
		"other type":     {sent(200, "\x89PNG\r\n\x1a\n", "Content-Type", "image/png"), 0, look{end: end{book.Skipped, "type"}, Exponent: 3}},
		"stored at last": {sent(200, newPage), 0, look{end{book.Stored, ""}, "", "", digestOf(t, newPage), 3}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked http.Header
			w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Header
				c.handler(w, r)
			}))
			b := w.batch("/page")
			b.Targets[0].Attempts = c.attempts
			b.Targets[0].Last = &batch.Look{Time: start, ETag: `"e"`, Collections: []string{"c"}}
			o := w.run(t, b).Ledger.Outcomes[0]
			if got := lookOf(o); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if asked.Get("If-None-Match") != "" {
				t.Errorf("asked with %v", asked)
			}
		})
	}
}

// TestUnconditional lets the server answer 304 (Not Modified) to unconditional requests, which no
// correct server does. The outcome of a page that was never stored must be a failure. A stored page
// must be kept as unchanged.
func TestUnconditional(t *testing.T) {
	w := newWorld(t, sent(304, ""))
	b := w.batch("/never seen", "/stored")
	b.Targets[1].Last = &batch.Look{Digest: 5}
	if diff := cmp.Diff([]end{{book.Failed, "http 304"}, {book.Unchanged, "http 304"}}, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
	}
}

// TestWithoutWords checks the digests of pages that have only numbers: they must be equal for equal
// pages, and differ for others.
func TestWithoutWords(t *testing.T) {
	first, again, other := digestOf(t, "<p>1 2 3"), digestOf(t, "<p>1 2 3"), digestOf(t, "<p>4 5 6")
	if first != again || first == other {
		t.Errorf("digests %x, %x and %x", first, again, other)
	}
}

func TestValidator(t *testing.T) {
	for value, want := range map[string]string{
		`W/"a"`:                               `W/"a"`,
		strings.Repeat("x", 255):              strings.Repeat("x", 255),
		strings.Repeat("x", 256):              "",
		"caf\xc3\xa9":                         "",
		"a\x00":                               "",
		"\"a\tb\"":                            "",
		"Fri, 02 Jan 2026 03:04:05 GMT":       "Fri, 02 Jan 2026 03:04:05 GMT",
		"Fri, 02 Jan 2026 03:04:05 GMT\x7fGM": "",
	} {
		if got := validator(answer{header: http.Header{"Etag": {value}}}, "ETag"); got != want {
			t.Errorf("%.40q: %.40q", value, got)
		}
	}
}

func TestExponents(t *testing.T) {
	for e, want := range map[int16][3]int16{
		-100: {-4, -4, -4}, -4: {-4, -3, -4}, -1: {-2, 0, -3}, 0: {-1, 1, -2}, 6: {5, 6, -2}, 100: {6, 6, -2},
	} {
		o := book.Outcome{Status: 404, Exponent: e}
		conclude(&o, batch.Target{Last: &batch.Look{Digest: 5}}, verdict{book.Failed, "http 404", ""})
		if got := [3]int16{sooner(e), later(e), o.Exponent}; got != want {
			t.Errorf("%d: changed, unchanged, missing: %d, want %d", e, got, want)
		}
	}
}
