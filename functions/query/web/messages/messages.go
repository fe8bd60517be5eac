// Package messages has the texts of the search page in the languages of its readers: a catalogue for
// each language, which also writes numbers, dates and names of languages as the language does.
//
// A catalogue is a file in TOML, such as de.toml. A message may have placeholders in braces. If its
// words depend on the number n, it is a table with a text for each plural form of the language (Unicode
// CLDR, https://cldr.unicode.org/index/cldr-spec/plural-rules):
//
//	site = "Site"
//	page = "Page {number}"
//	alike = { one = "{n} alike", other = "{n} alike" }
package messages

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// Languages are the languages of the interface, as primary subtags (RFC 5646). The first is used for
// readers of other languages.
var Languages = []string{"en", "zh", "es", "fr", "de", "ar", "hi", "ru", "ja", "pt"}

//go:embed *.toml
var files embed.FS

// Catalogue has the messages in one language. It is safe for concurrent use.
type Catalogue struct {
	Language  string // primary subtag of the language
	Direction string // direction of the script, as the HTML attribute dir has it: ltr or rtl

	tag      language.Tag
	messages map[string]forms
	months   []string
	printer  *message.Printer
	names    display.Namer
}

// forms has the texts of a message by plural form. A message that does not depend on a number has only the
// form plural.Other.
type forms map[plural.Form]string

var pluralForms = map[string]plural.Form{
	"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few, "many": plural.Many, "other": plural.Other,
}

// catalogues has a function for each language, which reads the catalogue when it is called first.
var catalogues = func() map[string]func() *Catalogue {
	all := make(map[string]func() *Catalogue)
	for _, name := range Languages {
		all[name] = sync.OnceValue(func() *Catalogue { return read(name) })
	}
	return all
}()

// For returns the catalogue of the first of a reader's languages that has one, else the English one.
// The languages are primary subtags, such as "de".
func For(reader []string) *Catalogue {
	for _, name := range reader {
		if catalogue, found := catalogues[name]; found {
			return catalogue()
		}
	}
	return catalogues[Languages[0]]()
}

// read reads the catalogue of a language. It panics if the embedded file is wrong.
func read(name string) *Catalogue {
	content, err := files.ReadFile(name + ".toml")
	texts := make(map[string]any)
	if err == nil {
		err = toml.Unmarshal(content, &texts)
	}
	if err != nil {
		panic(fmt.Sprintf("cannot read the messages in %s: %v", name, err))
	}
	tag := language.MustParse(name)
	c := &Catalogue{
		Language: name, tag: tag, messages: make(map[string]forms), printer: message.NewPrinter(tag), names: display.Languages(tag),
	}
	for key, value := range texts {
		switch value := value.(type) {
		case string:
			c.messages[key] = forms{plural.Other: value}
		case map[string]any:
			c.messages[key] = make(forms)
			for form, text := range value {
				c.messages[key][pluralForms[form]] = fmt.Sprint(text)
			}
		default:
			panic(fmt.Sprintf("the message %s in %s is neither a text nor a table", key, name))
		}
	}
	c.Direction = c.messages["direction"][plural.Other]
	c.months = strings.Fields(c.messages["months"][plural.Other])
	return c
}

// Say returns a message with its placeholders filled in. The arguments are names and values of placeholders
// in turn: "n", 3, "site", "example.org". A value is a string, an int, which is written as a number of the
// language, or a time.Time, which is written as a day. If there is an int with the name n, it chooses the
// plural form. Say fails if there is no message with the key, if a value is missing, or if a value has
// another type.
func (c *Catalogue) Say(key string, arguments ...any) (string, error) {
	texts, found := c.messages[key]
	if !found || len(arguments)%2 != 0 {
		return "", fmt.Errorf("there is no message %q in %s with %d arguments", key, c.Language, len(arguments))
	}
	text, replace := texts[plural.Other], make([]string, 0, len(arguments))
	for i := 0; i < len(arguments); i += 2 {
		name, value := fmt.Sprint(arguments[i]), ""
		switch v := arguments[i+1].(type) {
		case int:
			value = c.Count(v)
			if chosen, found := texts[c.form(v)]; found && name == "n" {
				text = chosen
			}
		case time.Time:
			value = c.Date(v)
		case string:
			value = c.isolated(v)
		default:
			return "", fmt.Errorf("the message %q cannot have a %T as its %s", key, v, name)
		}
		replace = append(replace, "{"+name+"}", value)
	}
	return strings.NewReplacer(replace...).Replace(text), nil
}

// Texts returns messages with their placeholders not filled in, for a script that does so. The result has
// them by their keys. A message is a string, or a map[string]string by the names of plural forms, such as
// "one" and "other", if it has several. Texts fails if there is no message with one of the keys.
func (c *Catalogue) Texts(keys ...string) (map[string]any, error) {
	all := make(map[string]any)
	for _, key := range keys {
		texts, found := c.messages[key]
		if !found {
			return nil, fmt.Errorf("there is no message %q in %s", key, c.Language)
		}
		if len(texts) == 1 {
			all[key] = texts[plural.Other]
			continue
		}
		byName := make(map[string]string)
		for name, form := range pluralForms {
			if text, found := texts[form]; found {
				byName[name] = text
			}
		}
		all[key] = byName
	}
	return all, nil
}

// isolated returns a text as it is put into a message. If the message or the text is written from right to
// left, the text is enclosed in the characters FSI and PDI of Unicode (Standard Annex #9), so that its
// direction does not change that of the message around it.
func (c *Catalogue) isolated(text string) string {
	if c.Direction == "ltr" && !strings.ContainsFunc(text, isRightToLeft) {
		return text
	}
	return "\u2068" + text + "\u2069"
}

// isRightToLeft reports whether a character is in one of the blocks of Unicode for scripts that run from
// right to left, such as Hebrew and Arabic.
func isRightToLeft(r rune) bool {
	return 0x590 <= r && r <= 0x8FF || 0xFB1D <= r && r <= 0xFDFF || 0xFE70 <= r && r <= 0xFEFF ||
		0x10800 <= r && r <= 0x10FFF || 0x1E800 <= r && r <= 0x1EFFF
}

// form returns the plural form that the language uses with a whole number of at least 0.
func (c *Catalogue) form(n int) plural.Form {
	return plural.Cardinal.MatchPlural(c.tag, n%1_000_000_000, 0, 0, 0, 0)
}

// Count writes a number with the digits and separators of the language: 12,345.
func (c *Catalogue) Count(n int) string { return c.printer.Sprint(number.Decimal(n)) }

// Date writes the day of a time, in UTC: 2 January 2006.
func (c *Catalogue) Date(t time.Time) string {
	year, month, day := t.UTC().Date()
	return strings.NewReplacer(
		"{day}", c.Count(day), "{month}", c.months[month-1], "{year}", c.printer.Sprint(number.Decimal(year, number.NoSeparator())),
	).Replace(c.messages["date"][plural.Other])
}

// Duration writes a short time in milliseconds, or in seconds from one second on: 12.3 ms.
func (c *Catalogue) Duration(d time.Duration) string {
	unit, value, digits := "milliseconds", float64(d.Microseconds())/1000, 0
	switch {
	case d >= time.Second:
		unit, value, digits = "seconds", d.Seconds(), 1
	case d < 10*time.Millisecond:
		digits = 1
	}
	amount := c.printer.Sprint(number.Decimal(value, number.Scale(digits)))
	return strings.ReplaceAll(c.messages[unit][plural.Other], "{amount}", amount)
}

// Name returns the name of a language, in the language of the catalogue; the code itself if it has no
// name. Example: "German" for "de".
func (c *Catalogue) Name(code string) string {
	tag, err := language.Parse(code)
	if err != nil {
		return code
	}
	if name := c.names.Name(tag); name != "" {
		return name
	}
	return code
}

// Keys returns the keys of all messages, sorted.
func (c *Catalogue) Keys() []string { return slices.Sorted(maps.Keys(c.messages)) }
