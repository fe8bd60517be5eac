package literal_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// goWords are words from error messages of Go packages such as strconv, time and json. Messages for
// users must not contain them.
var goWords = []string{"strconv", "time: ", "json:", "toml:", "parsing", "cannot unmarshal", "invalid syntax", "looking for beginning"}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		read func(text string) (any, error)
		want string // end of each error, behind the wrong value
		bad  []string
		good map[string]any
	}{
		{func(s string) (any, error) { return literal.Duration("delay", s, time.Hour) }, "write a duration such as 500ms, 5s or 2m, 1h at most",
			[]string{"5 sec", "5", "-1s", "2h", "", "1e3s", "NaN"}, map[string]any{"0": time.Duration(0), "1m30s": 90 * time.Second, "1h": time.Hour}},
		{func(s string) (any, error) { return literal.Whole("delay", s, 1, 60) }, "write a whole number from 1 to 60",
			[]string{"many", "0", "61", "1.5", "1e1", "99999999999999999999", ""}, map[string]any{"1": int64(1), "60": int64(60)}},
		{func(s string) (any, error) { return literal.Whole("delay", s, 0, math.MaxInt64) }, "write a whole number, 0 or more",
			[]string{"-1"}, map[string]any{"7": int64(7)}},
		{func(s string) (any, error) { return literal.Amount("delay", s) }, "write a number such as 2.50, 0 or more",
			[]string{"much", "-1", "NaN", "Inf", "1e999"}, map[string]any{"2.5": 2.5}},
		{func(s string) (any, error) { return literal.Size("delay", s) }, "write a size such as 500MB, 50GB or 1.5TiB",
			[]string{"lots", "", "-1", "1XB"}, map[string]any{"1.5KiB": int64(1536), "2kb": int64(2000), "7": int64(7)}},
		{func(s string) (any, error) { return literal.Size("delay", s) }, "write a smaller size, such as 50GB", []string{"9999999999T"}, nil},
		{func(s string) (any, error) { return literal.Time("delay", s) }, "write a date such as 2026-11-21 or a time such as 2026-11-21T09:30:00Z",
			[]string{"yesterday", "2026-13-01", "2026-02-30"}, map[string]any{"2026-11-21": time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), "": time.Time{}}},
		{func(s string) (any, error) { return literal.Switch("delay", s) }, "write true or false",
			[]string{"maybe", "2"}, map[string]any{"1": true, "": false, "true": true, "0": false}},
	} {
		for _, text := range c.bad {
			written := `"` + text + `"`
			if text == "" {
				written = "empty"
			}
			_, err := c.read(text)
			if want := "delay is " + written + "; " + c.want; err == nil || err.Error() != want {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
		}
		for text, want := range c.good {
			if got, err := c.read(text); err != nil || got != want {
				t.Errorf("%q: %v, %v; want %v", text, got, err, want)
			}
		}
	}
	if err := literal.Wrong("name", strings.Repeat("a", 1000), "a name"); len(err.Error()) > 200 {
		t.Errorf("%d bytes of an error", len(err.Error()))
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	type part struct {
		At    time.Time
		Names []string
	}
	type document struct {
		Number float64
		Whole  int
		Text   string
		Is     bool
		Part   part
	}
	for content, want := range map[string]string{
		"":                                      "it is empty; write a document of JSON",
		"{\n\"Text\": \"a\",\n\"Nmber\": 1}":    `line 3: there is no field "Nmber"`,
		"{\n\"Number\": \"a\"}":                 "line 2: Number is a text; write a number",
		"{\"Whole\": 1.5}":                      "line 1: Whole is the number 1.5; write a whole number",
		"{\"Text\": 5}":                         "line 1: Text is a number; write a text in quotes",
		"{\"Is\": \"yes\"}":                     "line 1: Is is a text; write true or false",
		"{\n\n\"Part\": {\"Names\": \"a\"}}":    `line 3: Part.Names is a text; write a list, such as ["a", "b"]`,
		"{\"Part\": []}":                        `line 1: Part is a list; write an object, such as {"name": "value"}`,
		"[]":                                    `line 1: the document is a list; write an object, such as {"name": "value"}`,
		"{\n\"Part\": {\"At\": \"yesterday\"}}": `line 2: a time is "yesterday"; write one such as 2026-11-21T09:30:00Z`,
		"{\n\"Text\": a}":                       "line 2: it is not JSON: ",
		"{\n\"Text\": \"a\"":                    "line 2: it is not JSON: it ends too early",
		"{}\n{}":                                "line 2: there is more after the document",
	} {
		var d document
		err := literal.JSON([]byte(content), &d)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n%v, want %s", content, err, want)
			continue
		}
		for _, word := range goWords {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%s:\n%v, in Go's words", content, err)
			}
		}
	}
	var d document
	if err := literal.JSON([]byte(`{"Text": "a"} `), &d); err != nil || d.Text != "a" {
		t.Errorf("%+v, %v", d, err)
	}
}
