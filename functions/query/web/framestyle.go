package web

import (
	"bytes"
	"net/url"
	"regexp"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
)

// styleReference matches the references of a style sheet. The first group is the address in an @import rule;
// the second group is the address in another url(…).
var styleReference = regexp.MustCompile(`(?i)@import\s+(?:url\(\s*)?["']?([^"'()\s;]+)["']?\s*\)?|url\(\s*["']?([^"'()#][^"'()]*?)["']?\s*\)`)

// referStyle returns a style sheet whose references lead to stored copies of the same moment: those of
// @import to style sheets, the others to images.
func referStyle(sheet []byte, base *url.URL, asOf time.Time) []byte {
	var out bytes.Buffer
	done := 0
	for _, at := range styleReference.FindAllSubmatchIndex(sheet, maxReferences) {
		before, after, imports := at[2], at[3], true
		if before < 0 {
			before, after, imports = at[4], at[5], false
		}
		to := resolved(base, string(sheet[before:after]))
		if to == nil {
			continue
		}
		out.Write(sheet[done:at[0]])
		if imports {
			out.WriteString(`@import url("` + frameAddress(to.String(), asOf) + `") `)
		} else {
			out.WriteString(`url("` + engine.CopyAddress(to.String(), asOf) + `")`)
		}
		done = at[1]
	}
	out.Write(sheet[done:])
	return out.Bytes()
}
