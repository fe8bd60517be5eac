package robots

import "strings"

// Directives are demands of a page to crawlers, in its markup or HTTP header: not to show the page
// in results (NoIndex), or not to follow its links (NoFollow). If a page has several directives,
// the strictest applies.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// Add returns the union of the directives in d and in more.
func (d Directives) Add(more Directives) Directives {
	return Directives{d.NoIndex || more.NoIndex, d.NoFollow || more.NoFollow}
}

// ParseMeta returns the directives for a crawler in a meta element with the attributes name and
// content. The parameter agent is the crawler's User-Agent. There are no directives for the crawler
// unless name is "robots" or the product token in agent (see Parse).
func ParseMeta(name, content, agent string) Directives {
	name = strings.ToLower(strings.TrimSpace(name))
	if name != "robots" && (name == "" || name != ownToken(agent)) {
		return Directives{}
	}
	return parseWords(content)
}

// ParseTag returns the directives for a crawler in the values of X-Robots-Tag headers, such as
// "noindex, nofollow" and "examplebot: none". The parameter agent is the crawler's User-Agent.
// After the name of another crawler, the words in the same value are skipped up to the next name.
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

// hasValue reports whether word, the text before a colon, belongs to a directive with a value,
// and so is not the name of a crawler:
//
//	examplebot: none                           a crawler's name: false
//	unavailable_after: 25 Jun 2010 15:00:00    a directive with a value: true
//	25 Jun 2010 15:00:00                       the rest of a date that was cut at its
//	                                           comma (its word has a space): true
func hasValue(word string) bool {
	word = strings.ToLower(word)
	return word == "unavailable_after" || strings.HasPrefix(word, "max-") || strings.ContainsAny(word, " \t")
}

// concerns reports whether a name in an X-Robots-Tag header means the crawler with the User-Agent
// agent: the name is "*", "robots" or the product token in agent.
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
