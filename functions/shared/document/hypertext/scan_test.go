package hypertext

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TestScanLikeStandard checks that the scanner gives the same tokens as html.Tokenizer, which
// follows the standard.
func TestScanLikeStandard(t *testing.T) {
	for _, markup := range []string{
		"a < b <3 </3 </>c<p/ >d</p x=1>",
		"<A HREF=x Title='y' ALT=\"z\" checked disabled=>t</A>",
		"<a =b=c d = e f='&amp;&copy=1&copy;&copy&copyx&notit;&#65;&#x42'>",
		"&amp;&lt;&copy=1&copyx&notit;&NotEqualTilde;&#65;&#x1F600;&#xD800;&#;&#x;&;& &unknown; &aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;",
		"a<!-- b -->c<!---->d<!-->e<!--->f<!-- x --!>g<!-- -- > -->h<!-- i",
		"<!doctype html><?php echo ?>a</ b>c<!b>d<![CDATA[e]]>f",
		"<script>a<b</scripty></SCRIPT >x<script><!-- <script>1</script>2 --></script>y<script><!--></script>z<script><!-- <script></script></script>q",
		"<script>never ended",
		"<style></style><title>a &amp; <b></title><textarea>&lt;</textareA><xmp>&lt;</xmp><iframe><p></iframe>",
		"<p title='never ended>a</p>",
		"<p title=never-ended",
		"<p a<b>c",
		"<p\n\ta\n=\nb\n/c/>d<br/>",
		"a<", "a</", "a<!", "a<!-", "a<?",
		"\r\n<p>\r a\r\nb",
	} {
		if diff := cmp.Diff(standardTokens([]byte(markup)), tokens([]byte(markup))); diff != "" {
			t.Errorf("%s: (-standard +own)\n%s", markup, diff)
		}
	}
}

func tokens(markup []byte) (found []string) {
	s := scanner{markup: markup}
	for {
		switch s.next() {
		case endOfMarkup:
			return found
		case textToken:
			text := s.text
			if !s.literal {
				text = appendDecoded(nil, text, false)
			}
			found = appendText(found, string(text))
		case endTag:
			found = append(found, "</"+string(s.name)+">")
		case startTag:
			tag := "<" + string(s.name)
			if name := atom.Lookup(s.name); isRawText(name) {
				s.raw = name
			}
			seen := make(map[string]bool)
			for _, a := range s.attributes {
				if name := string(s.lower(a.name)); seen[name] {
					continue // the standard's tokenizer drops all but the first
				} else {
					seen[name] = true
				}
				tag += fmt.Sprintf(" %s=%q", s.lower(a.name), lines(string(appendDecoded(nil, a.value, true))))
			}
			found = append(found, tag+">")
		}
	}
}

func standardTokens(markup []byte) (found []string) {
	z := html.NewTokenizer(bytes.NewReader(markup))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.TextToken:
			found = appendText(found, string(z.Text()))
		case html.EndTagToken:
			name, _ := z.TagName()
			found = append(found, "</"+string(name)+">")
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom == atom.Noscript || t.DataAtom == atom.Noframes {
				z.NextIsNotRawText()
			}
			tag := "<" + t.Data
			for _, a := range t.Attr {
				tag += fmt.Sprintf(" %s=%q", a.Key, a.Val)
			}
			found = append(found, tag+">")
		}
	}
}

// appendText appends a text to the list of tokens. It joins texts that follow each other, because a
// tokenizer divides a text at a comment.
func appendText(to []string, text string) []string {
	text = lines(text)
	if n := len(to); n > 0 && strings.HasPrefix(to[n-1], "text ") {
		to[n-1] += text
		return to
	}
	return append(to, "text "+text)
}

func lines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}
