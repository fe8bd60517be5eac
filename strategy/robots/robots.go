// Package robots decides by a site's robots.txt (RFC 9309) which of its paths
// may be asked for, and how often.
//
// Groups of our own product token are merged and replace those of "*"; the
// longest matching pattern wins, at equal length an allowing one; '*' in a
// pattern matches any run of characters and a final '$' the end. Lines that
// cannot be understood are passed over and spoil nothing. Crawl-delay, which
// the RFC does not know, is obeyed.
package robots

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const (
	// MaxBytes of a robots.txt are read (RFC 9309, section 2.5).
	MaxBytes = 500 << 10
	// MaxDelay is the longest Crawl-delay that is obeyed.
	MaxDelay = 60 * time.Second
)

// Rules are what a robots.txt says to one crawler. The zero Rules allow all.
type Rules struct {
	refuseAll bool
	lines     []line // longest pattern first, allowing ones first of equals
	delay     time.Duration
}

// line is an Allow or Disallow.
type line struct {
	allow   bool
	pattern pattern
}

// Parse returns the rules for a crawler from the answer to a request for a
// robots.txt. Status 0 stands for no answer. Without an answer, or with a
// server's error (5xx), nothing is allowed; if there is no file (4xx), or a
// redirect led nowhere (3xx), all is (RFC 9309, section 2.3.1). The agent is
// known by the product token at its beginning: letters, '_' and '-'.
func Parse(status int, body []byte, agent string) Rules {
	switch status / 100 {
	case 2:
		return parse(body, agent)
	case 3, 4:
		return Rules{}
	}
	return Rules{refuseAll: true}
}

func parse(body []byte, agent string) Rules {
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1] // a line cut short would say something else
	}
	ours, everyones := group{}, group{}
	collect(string(body), productToken(agent), &ours, &everyones)
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
	return Rules{lines: chosen.lines, delay: chosen.delay}
}

// Allows reports whether the path, with its query, may be asked for.
func (r Rules) Allows(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	if r.refuseAll {
		return false
	}
	path = address.NormalEscapes(path)
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

// productToken returns what names the crawler at the beginning of its
// User-Agent, in lower case.
func productToken(agent string) string {
	end := strings.IndexFunc(agent, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-'
	})
	if end >= 0 {
		agent = agent[:end]
	}
	return strings.ToLower(agent)
}
