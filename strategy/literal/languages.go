package literal

import (
	"fmt"
	"slices"
	"strings"
)

// Languages parses the value of a setting as primary subtags of languages (RFC 5646) separated by
// commas, such as de,fr. It returns each subtag once, in lower case; none for an empty text. It fails
// if there are more subtags than the given maximum. The name of the setting is for the error.
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
