// Package robots decides by the robots.txt (RFC 9309) of an origin which of its paths may
// be requested, and how often.
//
// The groups for the crawler's own product token are merged and replace those for "*".
// The longest matching pattern wins, and Allow wins at equal length. In a pattern,
// '*' matches any run of characters, and a final '$' matches the end of the path.
// Lines that cannot be understood are skipped. Crawl-delay and Sitemap, which the
// RFC does not define, are understood too.
//
// Where the RFC is silent, this package follows Google's parser: a missing colon and
// common misspellings are accepted, and a reserved character such as '/' does not match
// its escape (%2F). But the escapes %2A and %24 in a pattern do match '*' and '$' in a
// path, because these two characters have a special meaning in a pattern.
//
// The directives of pages themselves, in meta elements and X-Robots-Tag headers,
// are read here as well.
package robots

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// MaxBytes is the number of bytes at the beginning of a robots.txt that are used
	// (RFC 9309, section 2.5).
	MaxBytes = 500 << 10
	// MaxDelay is the longest pause between requests: it replaces a longer Crawl-delay.
	MaxDelay = 60 * time.Second
	// MaxSitemaps is the maximum number of sitemaps that are taken from a robots.txt.
	MaxSitemaps = 100
)

// Rules are the rules of a robots.txt for one crawler. The zero Rules allow all.
type Rules struct {
	refuseAll bool
	lines     []line // Allow and Disallow lines, longest pattern first; of equal length, Allow first
	delay     time.Duration
	sitemaps  []string
}

// line is an Allow or Disallow line.
type line struct {
	allow   bool
	pattern pattern
}

// Parse returns the rules for a crawler from the answer to a request for a
// robots.txt (RFC 9309, section 2.3.1):
//
//	status                           allowed
//	2xx                              the paths that the file allows
//	3xx (too many), 4xx              everything
//	429, 5xx, no answer (status 0)   nothing
//
// agent is the crawler's User-Agent. The lines for the crawler are found by the product
// token in it, which consists of letters, '_' and '-': that of "ExampleBot/1.0 (…)" and
// of "Mozilla/5.0 (compatible; ExampleBot/1.0; …)" is examplebot.
func Parse(status int, body []byte, agent string) Rules {
	switch {
	case status/100 == 2:
		return parse(body, agent)
	case Reachable(status):
		return Rules{}
	}
	return Rules{refuseAll: true}
}

// Reachable reports whether the rules of a robots.txt are known after a request for it. The
// parameter status is the HTTP status of the answer. If status is 429, 5xx or 0 (no answer), the
// result is false: the robots.txt must be requested again before any other URL of its origin.
func Reachable(status int) bool {
	return status/100 >= 2 && status/100 <= 4 && status != http.StatusTooManyRequests
}

// parse returns the rules for the crawler from the content of a robots.txt.
func parse(body []byte, agent string) Rules {
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1] // a line that is cut off may have another meaning
	}
	ours, everyones := group{}, group{}
	sitemaps := collect(string(body), ownToken(agent), &ours, &everyones)
	chosen := everyones
	if ours.named {
		chosen = ours
	}
	slices.SortStableFunc(chosen.lines, func(a, b line) int {
		if a.pattern.size != b.pattern.size {
			return b.pattern.size - a.pattern.size
		}
		if a.allow == b.allow {
			return 0
		}
		if a.allow {
			return -1
		}
		return 1
	})
	return Rules{lines: chosen.lines, delay: chosen.delay, sitemaps: sitemaps}
}

// Allows reports whether the path, with its query, may be requested.
func (r Rules) Allows(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	if r.refuseAll {
		return false
	}
	path = escapePath(path)
	for _, l := range r.lines {
		if l.pattern.matches(path) {
			return l.allow
		}
	}
	return true
}

// Delay returns the Crawl-delay, which is the pause that the site wants between requests, at most
// MaxDelay; 0 if the robots.txt has none.
func (r Rules) Delay() time.Duration { return r.delay }

// Sitemaps returns the http and https addresses of the Sitemap lines, as they are written there:
// the first MaxSitemaps different ones. These lines apply to every crawler.
func (r Rules) Sitemaps() []string { return r.sitemaps }

// ownToken returns the product token in a User-Agent, in lower case (see Parse).
func ownToken(agent string) string {
	if _, rest, found := strings.Cut(agent, "(compatible; "); found && strings.HasPrefix(agent, "Mozilla/") {
		agent = rest
	}
	return productToken(agent)
}

// productToken returns the product token at the start of a name, in lower case.
func productToken(name string) string {
	end := strings.IndexFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-'
	})
	if end >= 0 {
		name = name[:end]
	}
	return strings.ToLower(name)
}
