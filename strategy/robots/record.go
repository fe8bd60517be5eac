package robots

import "strings"

// The records of a robots.txt that are understood.
const (
	userAgent  = "user-agent"
	allow      = "allow"
	disallow   = "disallow"
	crawlDelay = "crawl-delay"
	sitemap    = "sitemap"
)

// record splits a line. As in Google's parser, white space may replace the colon
// when exactly two words are left, and common misspellings are accepted: the
// meaning is plain, and ignoring it would mean to request what is forbidden.
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

// recordName returns the record that a key, in lower case, stands for.
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
