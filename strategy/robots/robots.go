// Package robots decides by a site's robots.txt (RFC 9309) which of its paths
// may be asked for, and how often.
//
// Groups of our own product token are merged and replace those of "*"; the
// longest matching pattern wins, at equal length an allowing one; '*' in a
// pattern matches any run of characters and a final '$' the end. Lines that
// cannot be understood are passed over and spoil nothing. Crawl-delay and
// Sitemap, which the RFC does not define, are understood too.
//
// Where the RFC is silent this package does as Google's parser does: a missing
// colon and common misspellings are forgiven, and no reserved character equals
// its escape, '*' and '$' excepted, which only their escapes can name.
//
// What pages ask for themselves, in meta elements and in X-Robots-Tag headers,
// is read here as well.
package robots

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// MaxBytes of a robots.txt are read (RFC 9309, section 2.5).
	MaxBytes = 500 << 10
	// MaxDelay is the longest Crawl-delay that is obeyed.
	MaxDelay = 60 * time.Second
	// MaxSitemaps of a robots.txt are kept.
	MaxSitemaps = 100
)

// Rules are what a robots.txt says to one crawler. The zero Rules allow all.
type Rules struct {
	refuseAll bool
	lines     []line // longest pattern first, allowing ones first of equals
	delay     time.Duration
	sitemaps  []string
}

// line is an Allow or Disallow.
type line struct {
	allow   bool
	pattern pattern
}

// Parse returns the rules for a crawler from the answer to a request for a
// robots.txt. Status 0 stands for no answer. Without an answer, or with a
// server's error (5xx), nothing is allowed; if there is no file (4xx), or a
// redirect led nowhere (3xx), all is (RFC 9309, section 2.3.1). A server that
// is asked too often (429) has an error. The agent is
// known by its product token, of letters, '_' and '-': "ExampleBot/1.0 (…)" and
// "Mozilla/5.0 (compatible; ExampleBot/1.0; …)" are both called examplebot.
func Parse(status int, body []byte, agent string) Rules {
	switch {
	case status/100 == 2:
		return parse(body, agent)
	case Reachable(status):
		return Rules{}
	}
	return Rules{refuseAll: true}
}

// Reachable reports whether an answer to a request for a robots.txt tells the
// rules. Else it is to be asked for again before anything else.
func Reachable(status int) bool {
	return status/100 >= 2 && status/100 <= 4 && status != http.StatusTooManyRequests
}

func parse(body []byte, agent string) Rules {
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1] // a line cut short would say something else
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

// Allows reports whether the path, with its query, may be asked for.
func (r Rules) Allows(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	if r.refuseAll {
		return false
	}
	path = comparable(path)
	for _, l := range r.lines {
		if l.pattern.matches(path) {
			return l.allow
		}
	}
	return true
}

// Delay returns the pause that the site asks for between requests, at most
// MaxDelay, or 0 when it asks for none.
func (r Rules) Delay() time.Duration { return r.delay }

// Sitemaps returns the addresses of http and https that Sitemap lines give, as
// written, each once, at most MaxSitemaps. They belong to no group.
func (r Rules) Sitemaps() []string { return r.sitemaps }

// ownToken returns what names the crawler in its User-Agent, in lower case.
func ownToken(agent string) string {
	if _, rest, found := strings.Cut(agent, "(compatible; "); found && strings.HasPrefix(agent, "Mozilla/") {
		agent = rest
	}
	return productToken(agent)
}

// productToken returns the product token with which a name begins, in lower
// case.
func productToken(name string) string {
	end := strings.IndexFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-'
	})
	if end >= 0 {
		name = name[:end]
	}
	return strings.ToLower(name)
}
