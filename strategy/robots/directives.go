package robots

import "strings"

// Directives are a page's requests to crawlers, in its markup or HTTP header: not to
// show it in results, and not to follow its links. If there are several, the strictest
// applies.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// Add returns the directives in d together with those in more.
func (d Directives) Add(more Directives) Directives {
	return Directives{d.NoIndex || more.NoIndex, d.NoFollow || more.NoFollow}
}

// ParseMeta returns the directives of a meta element with the attributes name and content.
// It returns none unless name is "robots" or the product token of agent.
func ParseMeta(name, content, agent string) Directives {
	name = strings.ToLower(strings.TrimSpace(name))
	if name != "robots" && (name == "" || name != ownToken(agent)) {
		return Directives{}
	}
	return parseWords(content)
}

// ParseTag returns the directives of the values of X-Robots-Tag headers, such as
// "noindex, nofollow" and "examplebot: none". The name of a crawler applies to the words
// after it in the same value; words for other crawlers are skipped.
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

// concerns reports whether a crawler's name in an X-Robots-Tag header stands for agent: it
// is the agent's product token, "*" or "robots".
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
