// Package robots decides by a site's robots.txt (RFC 9309) which of its paths may be
// requested, and how often.
//
// The groups for the crawler's own product token are merged and replace those for "*".
// The longest matching pattern wins, and Allow wins at equal length. '*' in a
// pattern matches any run of characters and a final '$' the end.
// Lines that cannot be understood are skipped. Crawl-delay and Sitemap, which the
// RFC does not define, are understood too.
//
// Where the RFC is silent, this package follows Google's parser: a missing colon and
// common misspellings are accepted, and no reserved character equals its escape,
// except '*' and '$', which only their escapes can express.
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
	// MaxBytes is the number of bytes that are read of a robots.txt (RFC 9309,
	// section 2.5).
	MaxBytes = 500 << 10
	// MaxDelay is the longest Crawl-delay that is obeyed.
	MaxDelay = 60 * time.Second
	// MaxSitemaps is the number of Sitemap lines that are kept of a robots.txt.
	MaxSitemaps = 100
)

// Rules are the rules of a robots.txt for one crawler. The zero Rules allow all.
type Rules struct {
	refuseAll bool
	lines     []line // longest pattern first; of equal length, Allow first
	delay     time.Duration
	sitemaps  []string
}

// line is an Allow or Disallow.
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
// The crawler is identified by its product token, of letters, '_' and '-', in lower
// case: "ExampleBot/1.0 (…)" and "Mozilla/5.0 (compatible; ExampleBot/1.0; …)" are
// both examplebot.
func Parse(status int, body []byte, agent string) Rules {
	switch {
	case status/100 == 2:
		return parse(body, agent)
	case Reachable(status):
		return Rules{}
	}
	return Rules{refuseAll: true}
}

// Reachable reports whether an answer with this status decides what is allowed. If
// not, the robots.txt must be requested again before any other URL of its origin.
func Reachable(status int) bool {
	return status/100 >= 2 && status/100 <= 4 && status != http.StatusTooManyRequests
}

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

// Delay returns the pause between requests that the site asks for, at most MaxDelay;
// 0 when it asks for none.
func (r Rules) Delay() time.Duration { return r.delay }

// Sitemaps returns the http and https addresses of Sitemap lines, as written,
// without repetitions, at most MaxSitemaps. They belong to no group.
func (r Rules) Sitemaps() []string { return r.sitemaps }

// ownToken returns the product token in a User-Agent, in lower case.
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
