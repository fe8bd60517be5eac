package dates

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	const day = "2026-11-26"
	for _, test := range []struct {
		text, lang string
		want       []string
	}{
		{"2026-11-26", "", []string{day}},
		{"2026-11-26T10:00:00+01:00", "", []string{day}},
		{"2026/11/26", "", []string{day}},
		{"2026. 11. 26.", "hu", []string{day}},
		{"November 26, 2026", "", []string{day}},
		{"NOV. 26TH, 2026", "", []string{day}},
		{"26th of November, 2026", "", []string{day}},
		{"26-Nov-2026", "", []string{day}},
		{"2026 Nov 26", "", []string{day}},
		{"Thu Nov 26 10:00:00 UTC 2026", "", []string{day}},
		{"Thu Nov 26 10:00 2026", "", []string{day}},
		{"Thu, 26 Nov 2026 10:00:00 GMT", "", []string{day}},
		{"Donnerstag, 26. November 2026, 10:00 Uhr", "de", []string{day}},
		{"1er août 2026 · le 26 nov. 2026", "fr", []string{"2026-08-01", day}},
		{"jueves, 26 de noviembre de 2026", "es", []string{day}},
		{"26 de março de 2026", "pt", []string{"2026-03-26"}},
		{"mar 26 maggio 2026", "it", []string{"2026-05-26"}},
		{"26 ноября 2026 г.", "ru", []string{day}},
		{"26 листопада 2026", "uk", []string{day}},
		{"26 listopada 2026", "pl", []string{day}},
		{"26. listopada 2026.", "hr", nil},
		{"2026年11月26日 (木)", "ja", []string{day}},
		{"本页面最后修订于2026年3月6日", "zh", []string{"2026-03-06"}},
		{"２０２６年１１月２６日", "ja", []string{day}},
		{"2026년 11월 26일", "ko", []string{day}},
		{"26 نوفمبر 2026", "ar", []string{day}},
		{"٢٦ نوفمبر ٢٠٢٦", "ar", []string{day}},
		{"26 Kasım 2026", "tr", []string{day}},
		{"26. marraskuuta 2026", "fi", []string{day}},

		{"26.11.2026", "", []string{day}},
		{"3.4.2026", "en", []string{"2026-04-03"}},
		{"11/26/2026", "", []string{day}},
		{"26/11/2026", "", []string{day}},
		{"03/04/2026", "en", nil},
		{"03/04/2026", "en-US", []string{"2026-03-04"}},
		{"03/04/2026", "en-GB", []string{"2026-04-03"}},
		{"03/04/2026", "fr", []string{"2026-04-03"}},
		{"03-04-2026", "nl", []string{"2026-04-03"}},
		{"03/04/2026", "ja", nil},
		{"04/04/2026", "", []string{"2026-04-04"}},

		{"30 February 2026", "", nil},
		{"2026-13-01", "", nil},
		{"v2026.11.26", "", nil},
		{"1.2026.11.26", "", nil},
		{"26.11.2026.1", "", nil},
		{"26 people in November 2026", "", nil},
		{"November 2026", "", nil},
		{"26.11.26", "", nil},
		{"Nov 26 10 2026", "", nil},
		{"port 202611260", "", nil},
	} {
		var got []string
		for _, d := range Find(test.text, test.lang, 9) {
			got = append(got, d.Day.Format(time.DateOnly))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q in %q: (-want +got)\n%s", test.text, test.lang, diff)
		}
	}
	if found := Find("1 May 2026, 2 May 2026, 3 May 2026", "", 2); len(found) != 2 {
		t.Errorf("found %d dates instead of 2", len(found))
	}
}

// No name may mean one month in one language and another month in another one.
func TestMonths(t *testing.T) {
	for _, language := range namesOfMonths {
		for name, month := range monthsByName([]string{language}) {
			if months[name] != month {
				t.Errorf("%s is month %d and month %d", name, month, months[name])
			}
		}
		if n := len(strings.Fields(language)); n != 12 {
			t.Errorf("%d months: %s", n, language)
		}
	}
}

func TestWritten(t *testing.T) {
	for text, want := range map[string]string{
		"20261126":                   "2026-11-26",
		" 20261126T100000Z":          "2026-11-26",
		"2026-11-26T10:00:00.5+0100": "2026-11-26",
		"January 2, 2023":            "2023-01-02",
		"202611261":                  "",
		"last summer":                "",
		"1795687200":                 "",
		"":                           "",
	} {
		got := ""
		if day, ok := Written(text, ""); ok {
			got = day.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLabelOf(t *testing.T) {
	for line, want := range map[string]Label{
		// Sphinx, MDN, Docusaurus, MediaWiki in six languages
		"© Copyright 2001-2026, Python Software Foundation. Last updated on Nov 26, 2026. Created using Sphinx": Whole,
		"This page was last modified on Nov 26, 2026 by MDN contributors.":                                      Whole,
		"Last updated on Nov 26, 2026 by Ann":                                                                   Whole,
		"This page was last edited on 26 November 2026, at 10:00 (UTC).":                                        Whole,
		"Diese Seite wurde zuletzt am 26. November 2026 um 10:00 Uhr bearbeitet.":                               Whole,
		"La dernière modification de cette page a été faite le 26 novembre 2026 à 10:00.":                       Whole,
		"Esta página foi editada pela última vez às 10h00min de 26 de novembro de 2026.":                        Whole,
		"Эта страница в последний раз была отредактирована 26 ноября 2026 в 10:00.":                             Whole,
		"最終更新 2026年11月26日 (木) 10:00":                                                                            Whole,
		"本页面最后修订于2026年11月26日":                                                                                   Whole,

		"Zuletzt geändert: 26.11.2026":            Whole,
		"Última actualización: 26/11/2026":        Whole,
		"Ultimo aggiornamento: 26 novembre 2026":  Whole,
		"آخر تحديث: 26 نوفمبر 2026":               Whole,
		"Last Modified: Thu Nov 26 10:00:00 2026": Whole,
		"Site Last Updated: November 26, 2026":    None,

		"Published 26 November 2026":              Own,
		"By Ann Smith, updated November 26, 2026": Own,
		"Ann Smith Posted on November 26, 2026":   Own,
		"Stand: 26.11.2026":                       Own,
		"Publié le 26 novembre 2026":              Own,
		"公開日：2026年11月26日":                         Own,
		"2026年11月26日 更新":                          Own,
		"26.11.2026 päivitetty":                   Own,

		"Signed in Rome on 26 November 2026.":                 None,
		"The treaty was published on 26 November 2026.":       None,
		"An update: see below. On 26 November 2026 it rained": None,
		"Posted by Ann. The meeting was on 26 November 2026":  None,
		"An outdated version of 26 November 2026":             None,
		"November 26, 2026":                                   None,
	} {
		found := Find(line, "en", 1)
		if len(found) != 1 {
			t.Errorf("%q has %d dates", line, len(found))
			continue
		}
		if got := LabelOf(line, found[0]); got != want {
			t.Errorf("%q: label %d, want %d", line, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"Last updated on Nov 26, 2026.", "Thu Nov 26 10:00:00 UTC 2026", "26. 11. 2026", "2026年11月26日 更新", "٢٦ نوفمبر ٢٠٢٦",
		"İ 26th of\u00A0November, 2026-1", "Nov 26 1:2:3 a 2026",
	} {
		f.Add(text, "en-GB")
	}
	f.Fuzz(func(t *testing.T, text, language string) {
		end := 0
		for _, d := range Find(text, language, 100) {
			if d.Start < end || d.End <= d.Start || d.End > len(text) || utf8.ValidString(text) && !utf8.ValidString(text[d.Start:d.End]) {
				t.Errorf("date %v behind %d in %q", d, end, text)
			}
			if year := d.Day.Year(); year < 1000 || year > 9999 {
				t.Errorf("year %d in %q", year, text)
			}
			LabelOf(text, d)
			end = d.End
		}
		Written(text, language)
	})
}
