package main

import (
	"slices"
	"strings"
	"testing"
)

func TestLocaleLanguages(t *testing.T) {
	for environment, want := range map[string]string{
		"":                                  "",
		"LANG=C.UTF-8":                      "",
		"LANG=en_US.UTF-8":                  "en",
		"LANG=de_AT.UTF-8@euro LC_ALL=C":    "",
		"LANG=C LC_MESSAGES=fr":             "fr",
		"LANG=en LC_MESSAGES=fr LC_ALL=ja":  "ja",
		"LANG=en LANGUAGE=pt_BR:pt:es":      "pt es",
		"LANG=POSIX LANGUAGE=de":            "",
		"LANG=sr_RS@latin LC_NUMERIC=de_DE": "sr",
	} {
		getenv := func(name string) string {
			for setting := range strings.FieldsSeq(environment) {
				if value, found := strings.CutPrefix(setting, name+"="); found {
					return value
				}
			}
			return ""
		}
		if got := localeLanguages(getenv); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: languages %q, want %q", environment, got, want)
		}
	}
}
