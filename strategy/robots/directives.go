package robots

import "strings"

// Directives are demands of a page to crawlers, in its markup or HTTP header: not to show the page
// in results (NoIndex), or not to follow its links (NoFollow). If a page has several directives,
// the strictest applies.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// Add returns the union of two sets of directives.
func (d Directives) Add(more Directives) Directives {
	return Directives{d.NoIndex || more.NoIndex, d.NoFollow || more.NoFollow}
}

// ParseMeta returns the directives for a crawler in a meta element with the attributes name and
// content. The parameter agent is the crawler's User-Agent. There are no directives for the crawler
// unless the element's name is "robots" or the product token in the User-Agent (see Parse).
func ParseMeta(name, content, agent string) Directives {
	name = strings.ToLower(strings.TrimSpace(name))
	if name != "robots" && (name == "" || name != ownToken(agent)) {
		return Directives{}
	}
	return parseWords(content)
}

// ParseTag returns the directives for a crawler in the values of X-Robots-Tag headers, such as
// "noindex, nofollow" and "examplebot: none". The parameter agent is the crawler's User-Agent.
// Words after the name of another crawler are skipped, up to the next name in the same value.
func ParseTag(values []string, agent string) Directives {
	var d Directives
	for _, value := range values {
		ours := true
		for item := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == ';' }) {
			name, rest, found := strings.Cut(item, ":")
			name = strings.TrimSpace(name)
			switch {
			case !found:
				rest = item
			case hasValue(name):
				continue
			default:
				ours = concerns(name, agent)
			}
			if ours {
				d = d.Add(parseWords(rest))
			}
		}
	}
	return d
}

// hasValue looks at a text that stands before a colon in an X-Robots-Tag header. It returns false if
// the text is the name of a crawler, and true if it belongs to a directive with a value:
//
//	header                                            text                 result
//	examplebot: none                                  examplebot           false
//	unavailable_after: 25 Jun 2010 15:00:00           unavailable_after    true
//	unavailable_after: Friday, 25 Jun 2010 15:00:00   25 Jun 2010 15       true
//
// In the last header, the text begins behind the comma, which usually separates directives. It is no
// name of a crawler, because it has spaces.
func hasValue(word string) bool {
	word = strings.ToLower(word)
	return word == "unavailable_after" || strings.HasPrefix(word, "max-") || strings.ContainsAny(word, " \t")
}

// concerns reports whether a name in an X-Robots-Tag header means the crawler with this User-Agent:
// the name is "*", "robots" or the product token in the User-Agent.
func concerns(name, agent string) bool {
	token := ownToken(agent)
	return name == "*" || strings.EqualFold(name, "robots") || token != "" && productToken(name) == token
}

// parseWords returns the directives of words separated by commas, semicolons or spaces.
func parseWords(content string) Directives {
	var d Directives
	for word := range strings.FieldsFuncSeq(content, func(c rune) bool {
		return c == ',' || c == ';' || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
	}) {
		switch strings.ToLower(word) {
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "none":
			return Directives{NoIndex: true, NoFollow: true}
		}
	}
	return d
}
