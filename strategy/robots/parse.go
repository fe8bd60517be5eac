package robots

import (
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// group gathers all that the groups of one name say.
type group struct {
	named bool // the file has such a group, if only an empty one
	lines []line
	delay time.Duration // the longest
}

// collect reads a robots.txt into the groups of the crawler and of everyone.
func collect(body, token string, ours, everyones *group) {
	var open []*group // those to which the present lines belong
	begun := false    // a rule has ended the run of user-agent lines
	body = strings.TrimPrefix(body, "\uFEFF")
	for text := range strings.FieldsFuncSeq(body, func(c rune) bool { return c == '\r' || c == '\n' }) {
		text, _, _ = strings.Cut(text, "#")
		key, value, found := strings.Cut(text, ":")
		if !found {
			continue
		}
		value = strings.TrimSpace(value)
		switch key = strings.ToLower(strings.TrimSpace(key)); key {
		case "user-agent":
			if begun {
				open, begun = nil, false
			}
			switch {
			case value == "*":
				open = append(open, everyones)
				everyones.named = true
			case token != "" && productToken(value) == token:
				open = append(open, ours)
				ours.named = true
			}
		case "allow", "disallow":
			begun = true
			if p, ok := newPattern(value); ok {
				for _, g := range open {
					g.lines = append(g.lines, line{allow: key == "allow", pattern: p})
				}
			}
		case "crawl-delay":
			for _, g := range open {
				g.delay = max(g.delay, delay(value))
			}
		}
	}
}

// delay reads a number of seconds; what is none counts as 0.
func delay(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, MaxDelay.Seconds()) * float64(time.Second))
}

// pattern matches the beginning of a path.
type pattern struct {
	parts []string // the literal text between the stars
	whole bool     // it must match to the end
	size  int      // octets, by which the most specific pattern wins
}

// newPattern refuses the empty pattern, which stands for no rule, and one too
// long to match any address.
func newPattern(value string) (pattern, bool) {
	if value == "" || len(value) > address.MaxBytes {
		return pattern{}, false
	}
	value = address.NormalEscapes(value)
	text, whole := strings.CutSuffix(value, "$")
	return pattern{parts: strings.Split(text, "*"), whole: whole, size: len(value)}, true
}

// matches takes time in proportion to the path and the pattern: each part is
// found at its first place, which leaves the most for the parts behind it.
func (p pattern) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, p.parts[0])
	if !ok {
		return false
	}
	middle := p.parts[1:]
	if !p.whole {
		return follow(rest, middle)
	}
	if len(middle) == 0 {
		return rest == ""
	}
	last := len(middle) - 1
	rest, ok = strings.CutSuffix(rest, middle[last])
	return ok && follow(rest, middle[:last])
}

// follow reports whether text holds the parts one behind the other.
func follow(text string, parts []string) bool {
	for _, part := range parts {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
