package robots

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// group holds the merged rules of all groups of a robots.txt for one crawler, or for "*".
type group struct {
	named bool // the robots.txt has at least one group for this crawler, perhaps an empty one
	lines []line
	delay time.Duration // longest Crawl-delay in the groups; 0: none
}

// collect parses a robots.txt for the crawler with this product token, and returns the sitemaps. It
// adds the rules for this crawler to the parameter ours, and the rules for "*" to the parameter
// everyones.
//
// The file consists of groups: one or more user-agent lines, and then the Allow and Disallow lines for
// these agents. Only an Allow or Disallow line ends the user-agent lines of a group. For example, two
// user-agent lines with a Crawl-delay line between them belong to one group (RFC 9309, section 2.2.4).
func collect(body, token string, ours, everyones *group) (sitemaps []string) {
	var open []*group // the groups to which the current lines belong
	begun := false    // the rules of the groups have begun: the next user-agent line begins a new group
	body = strings.TrimPrefix(body, "\uFEFF")
	for text := range strings.FieldsFuncSeq(body, func(c rune) bool { return c == '\r' || c == '\n' }) {
		key, value := record(text)
		switch key {
		case userAgent:
			if begun {
				open, begun = nil, false
			}
			switch {
			case value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t"):
				open = append(open, everyones)
				everyones.named = true
			case token != "" && productToken(value) == token:
				open = append(open, ours)
				ours.named = true
			}
		case allow, disallow:
			begun = true
			if p, ok := newPattern(value); ok {
				for _, g := range open {
					g.lines = append(g.lines, line{allow: key == allow, pattern: p})
				}
			}
		case crawlDelay:
			for _, g := range open {
				g.delay = max(g.delay, delay(value))
			}
		case sitemap:
			if len(sitemaps) < MaxSitemaps && isAbsolute(value) && !slices.Contains(sitemaps, value) {
				sitemaps = append(sitemaps, value)
			}
		}
	}
	return sitemaps
}

// isAbsolute reports whether the text looks like an absolute http or https address.
func isAbsolute(text string) bool {
	scheme, rest, found := strings.Cut(text, "://")
	return found && rest != "" && len(text) <= address.MaxBytes &&
		(strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// delay parses the value of a Crawl-delay, a number of seconds. It returns at most
// MaxDelay, and 0 if the value is not a positive number.
func delay(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, MaxDelay.Seconds()) * float64(time.Second))
}
