package document

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// TestRewriteKeepsCharset checks that a browser reads the rewritten page, without the server's
// Content-Type, in the charset in which it read the original.
func TestRewriteKeepsCharset(t *testing.T) {
	const link, other = "<a href=x>", `<a href="y">`
	for name, test := range map[string]struct{ body, contentType, want string }{
		"declared":         {"<meta charset=utf-8>\u00e9" + link, "text/html", "<meta charset=utf-8>\u00e9" + other},
		"by the server":    {"\u00e9" + link, "text/html; charset=utf-8", "\uFEFF\u00e9" + other},
		"ASCII":            {"e" + link, "text/html; charset=utf-8", "e" + other},
		"legacy":           {"<meta charset=iso-8859-2>\xB1" + link, "text/html", "<meta charset=iso-8859-2>\xB1" + other},
		"legacy by server": {"\xB1" + link, "text/html; charset=iso-8859-2", "\uFEFF\u0105" + other},
		"contradicted":     {"<meta charset=utf-8>\xB1" + link, "text/html; charset=iso-8859-2", "\uFEFF<meta charset=utf-8>\u0105" + other},
		"UTF-16":           {"\xFF\xFE<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00x\x00>\x00", "text/html", "\uFEFF" + other},
		"no markup":        {"\xB1 href=x", "text/plain", "\xB1 href=x"},
	} {
		got := string(Rewrite([]byte(test.body), test.contentType, func(a hypertext.Address) string { return strings.Replace(a.URL, "x", "y", 1) }))
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
