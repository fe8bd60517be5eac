package main

import (
	"cmp"
	"slices"
	"strings"
)

// localeLanguages returns the languages of the environment, such as de, the preferred one first, in the way of gettext:
// those of LANGUAGE, such as de_AT:fr, or else that of the first of LC_ALL, LC_MESSAGES and LANG that is set. A program
// without one of the last three, or in the locale C or POSIX, has none.
func localeLanguages(getenv func(string) string) (languages []string) {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"))
	if localeLanguage(locale) == "" {
		return nil
	}
	for name := range strings.SplitSeq(cmp.Or(getenv("LANGUAGE"), locale), ":") {
		if language := localeLanguage(name); language != "" && !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	return languages
}

// localeLanguage returns the language of a locale, such as de of de_AT.UTF-8@euro; "" if it has none.
func localeLanguage(locale string) string {
	if i := strings.IndexAny(locale, "_.@-"); i >= 0 {
		locale = locale[:i]
	}
	if locale == "C" || locale == "POSIX" {
		return ""
	}
	return strings.ToLower(locale)
}
