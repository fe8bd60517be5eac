package robots

import "strings"

// Directives are what a page, or the answer that it came with, asks of
// crawlers: to keep it out of what is shown, and not to follow its links.
// Nothing asks for the contrary, so that of two the stricter holds.
type Directives struct {
	NoIndex  bool
	NoFollow bool
}

// Add returns what d and more ask for together.
func (d Directives) Add(more Directives) Directives {
	return Directives{d.NoIndex || more.NoIndex, d.NoFollow || more.NoFollow}
}

// ParseMeta reads a meta element. One that is named neither "robots" nor after
// the agent's product token asks for nothing.
func ParseMeta(name, content, agent string) Directives {
	name = strings.ToLower(strings.TrimSpace(name))
	if name != "robots" && (name == "" || name != ownToken(agent)) {
		return Directives{}
	}
	return parseWords(content)
}

// ParseTag reads the values of X-Robots-Tag headers, such as "noindex,
// nofollow" and "examplebot: none". The name of a crawler holds for what
// follows it in its value; what is meant for others is passed over.
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

// hasValue reports whether a colon behind the word begins its value instead of
// a crawler's part: "unavailable_after: 25 Jun 2010 15:00:00 PST". With the
// space it also knows the rest of a date behind a comma.
func hasValue(word string) bool {
	word = strings.ToLower(word)
	return word == "unavailable_after" || strings.HasPrefix(word, "max-") || strings.ContainsAny(word, " \t")
}

// concerns reports whether what is addressed to the name is meant for the agent.
func concerns(name, agent string) bool {
	token := ownToken(agent)
	return name == "*" || strings.EqualFold(name, "robots") || token != "" && productToken(name) == token
}

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
