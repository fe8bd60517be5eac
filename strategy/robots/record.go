package robots

import "strings"

// The keys of lines in a robots.txt. Lines with other keys are ignored.
const (
	userAgent  = "user-agent"
	allow      = "allow"
	disallow   = "disallow"
	crawlDelay = "crawl-delay"
	sitemap    = "sitemap"
)

// record splits a line of a robots.txt into its key, in lower case, and its value, without a
// comment. As in Google's parser, white space may replace the colon if the line has exactly two
// words, and common misspellings of keys are accepted: their meaning is clear, and a crawler that
// ignored them would request forbidden paths.
func record(text string) (key, value string) {
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	key, value, found := strings.Cut(text, ":")
	if !found {
		i := strings.IndexAny(text, " \t")
		if i < 0 {
			return "", ""
		}
		key, value = text[:i], strings.TrimSpace(text[i:])
		if strings.ContainsAny(value, " \t") {
			return "", ""
		}
	}
	return recordName(strings.ToLower(strings.TrimSpace(key))), strings.TrimSpace(value)
}

// recordName returns a key in its right spelling: "disallow" for "disalow". The key must be in
// lower case.
func recordName(key string) string {
	switch key {
	case "useragent", "user agent":
		return userAgent
	case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		return disallow
	case "site-map":
		return sitemap
	}
	return key
}
