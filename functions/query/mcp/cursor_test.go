package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCursor parses texts as cursors. An accepted text must be the same as what String returns, and a cursor
// that a page accepts must not begin within a character of its Markdown.
func FuzzCursor(f *testing.F) {
	r := readable{markdown: "# Bäume\n\nÄste.\n", starts: []int{0, 10}}
	for _, c := range []cursor{{}, {from: 1, to: 2}, {of: digestOf(r.markdown), from: 4, to: 9}, {of: digestOf(r.markdown), from: 0, to: 16}, {from: 1<<64 - 1, to: 1<<64 - 1}} {
		f.Add(c.String(), "")
	}
	f.Add("", "\x00")
	f.Fuzz(func(t *testing.T, text, markdown string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		if c.String() != text {
			t.Errorf("%q is read as %+v, which is %q", text, c, c)
		}
		page := readable{markdown: markdown}
		c.of = digestOf(markdown)
		window, err := page.from(c.String())
		if err != nil {
			return
		}
		if utf8.ValidString(markdown) && !utf8.ValidString(markdown[window.from:]) {
			t.Errorf("%+v of %q begins within a character", window, markdown)
		}
	})
}

// FuzzEnvelope checks three functions with any text: jsonSize is never less than the true size of the text
// as JSON, visible changes nothing in a text that it has returned, and what fit returns fits and ends after
// a whole character.
func FuzzEnvelope(f *testing.F) {
	f.Add("words\n\n\"<&>\" \u2028\U000E0041\u202E\x01é\xff", 30)
	f.Fuzz(func(t *testing.T, text string, most int) {
		shown, _ := visible(text)
		encoded, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		if size := jsonSize(shown); len(encoded)-2 > size {
			t.Errorf("%q has %d bytes as JSON, not %d", shown, len(encoded)-2, size)
		}
		if again, dropped := visible(shown); again != shown || dropped > 0 {
			t.Errorf("%q becomes %q", shown, again)
		}
		end := fit(shown, max(0, most))
		if jsonSize(shown[:end]) > max(0, most) || !utf8.ValidString(shown[:end]) {
			t.Errorf("%d bytes of %q do not fit into %d", end, shown, most)
		}
		if strings.ContainsRune(shown, 0x202E) {
			t.Errorf("%q has a mark of direction", shown)
		}
	})
}
