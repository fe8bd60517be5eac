package messages

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/feature/plural"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// placeholders returns the placeholders of a form of a message, sorted.
func (c *Catalogue) placeholders(key string, form plural.Form) []string {
	found := placeholder.FindAllString(c.messages[key][form], -1)
	slices.Sort(found)
	return found
}

// TestCatalogues checks that every catalogue has every message, with the same placeholders as in
// English, and with exactly the plural forms that its language has.
func TestCatalogues(t *testing.T) {
	english := For(nil)
	for _, name := range Languages {
		c := For([]string{name})
		if diff := cmp.Diff(english.Keys(), c.Keys()); diff != "" {
			t.Errorf("%s: messages (-en +%s):\n%s", name, name, diff)
		}
		wanted := map[plural.Form]bool{plural.Other: true}
		for n := range 2000 {
			wanted[c.form(n)] = true
		}
		for key, texts := range c.messages {
			inNumber := len(english.messages[key]) > 1
			if inNumber && !maps.Equal(wanted, maps.Collect(formsOf(texts))) || !inNumber && len(texts) != 1 {
				t.Errorf("%s: %s has other plural forms than its language", name, key)
			}
			for form, text := range texts {
				want, got := english.placeholders(key, plural.Other), c.placeholders(key, form)
				if name == "ar" && form != plural.Other { // صفحتان is two pages: the word says the number
					want, got = without(want, "{n}"), without(got, "{n}")
				}
				if text == "" || !slices.Equal(want, got) {
					t.Errorf("%s: %s is %q, with placeholders %v, want %v", name, key, text, got, want)
				}
			}
		}
		if len(c.months) != 12 || c.Direction != "ltr" && c.Direction != "rtl" {
			t.Errorf("%s: months %v, direction %q", name, c.months, c.Direction)
		}
	}
}

func formsOf(texts forms) func(yield func(plural.Form, bool) bool) {
	return func(yield func(plural.Form, bool) bool) {
		for form := range texts {
			if !yield(form, true) {
				return
			}
		}
	}
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}

func TestSay(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		language, key string
		arguments     []any
		want          string
	}{
		{"en", "searched sites", []any{"n", 1}, "1 site"},
		{"en", "searched sites", []any{"n", 12345}, "12,345 sites"},
		{"de", "searched pages", []any{"n", 12345}, "12.345 Seiten durchsuchen"},
		{"ru", "searched sites", []any{"n", 1}, "1 сайт"},
		{"ru", "searched sites", []any{"n", 22}, "22 сайта"},
		{"ru", "searched sites", []any{"n", 11}, "11 сайтов"},
		{"ar", "searched sites", []any{"n", 2}, "موقعان"},
		{"ar", "searched sites", []any{"n", 5}, "٥ مواقع"},
		{"ar", "searched sites", []any{"n", 99}, "٩٩ موقعًا"},
		{"ar", "searched sites", []any{"n", 100}, "١٠٠ موقع"},
		{"ja", "searched sites", []any{"n", 1}, "1 サイト"},
		{"en", "copy from", []any{"date", noon}, "This is a copy from 21 November 2026. The page may look different today."},
		{"zh", "after", []any{"date", noon}, "2026年11月21日起"},
		{"en", "results", []any{"query", "שלום {n}"}, "Results for \u2068שלום {n}\u2069"},
		{"en", "results", []any{"query", "fox"}, "Results for fox"},
		{"ar", "results", []any{"query", "fox"}, "نتائج \u2068fox\u2069"},
	} {
		got, err := For([]string{test.language}).Say(test.key, test.arguments...)
		if err != nil || got != test.want {
			t.Errorf("%s, %s %v: %q, %v; want %q", test.language, test.key, test.arguments, got, err, test.want)
		}
	}
	for _, wrong := range [][]any{{"nonsense"}, {"results", "query"}, {"results", "query", 1.5}} {
		if said, err := For(nil).Say(wrong[0].(string), wrong[1:]...); err == nil {
			t.Errorf("%v: %q", wrong, said)
		}
	}
}

func TestFor(t *testing.T) {
	for reader, want := range map[string]string{"": "en", "tlh": "en", "tlh de fr": "de", "ar": "ar"} {
		if got := For(strings.Fields(reader)).Language; got != want {
			t.Errorf("a reader of %q gets %s, want %s", reader, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Microsecond: "1.2 ms", 999 * time.Millisecond: "999 ms", 1250 * time.Millisecond: "1.2 s",
	} {
		if got := For(nil).Duration(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
	if got := For([]string{"fr"}).Duration(1250 * time.Millisecond); got != "1,2 s" {
		t.Errorf("in French %s", got)
	}
}

func TestName(t *testing.T) {
	for of, want := range map[[2]string]string{{"en", "de"}: "German", {"de", "zh"}: "Chinesisch", {"ja", "en"}: "英語", {"en", "not a code"}: "not a code", {"en", ""}: ""} {
		if got := For([]string{of[0]}).Name(of[1]); got != want {
			t.Errorf("%s in %s is %q, want %q", of[1], of[0], got, want)
		}
	}
}
