package literal

import (
	"fmt"
	"slices"
	"strings"
)

// Languages reads primary subtags of languages (RFC 5646) separated by commas, such as de,fr: each once,
// in lower case, and at most as many as the parameter most. An empty text has none. name is that of
// the setting.
func Languages(name, text string, most int) (languages []string, err error) {
	for language := range strings.SplitSeq(strings.ToLower(text), ",") {
		language = strings.TrimSpace(language)
		switch {
		case language == "" || slices.Contains(languages, language):
			continue
		case len(language) < 2 || len(language) > 3 || strings.Trim(language, "abcdefghijklmnopqrstuvwxyz") != "":
			return nil, Wrong(name, text, "languages such as de,fr")
		case len(languages) == most:
			return nil, Wrong(name, text, fmt.Sprintf("at most %d languages", most))
		}
		languages = append(languages, language)
	}
	return languages, nil
}
