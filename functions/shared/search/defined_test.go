package search

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestDefined searches for names of functions, and checks the effect of Weights.Defined on the order of the pages:
//
//	a page that defines the name in a long list   before   a page that often mentions the name
//	a page that defines the name alone            before   a page that defines a longer name, of which
//	                                                       this name is the last part
func TestDefined(t *testing.T) {
	const filler = "more words about other functions of the module and their arguments "
	defining := func(url, term, fragment string) segment.Document {
		d := page(url, term+"\n"+strings.Repeat(filler, 6))
		d.Entries = []segment.Entry{{Term: len(term), End: len(d.Body), Fragment: fragment}}
		return d
	}
	ix := indexOf(t, []segment.Document{
		defining("http://module/", "getgid", "os.getgid"), page("http://mentions/", "getgid and getgid again"),
		defining("http://member/", "print", "printer.print"), defining("http://function/", "print", "print"),
	})
	without := Standard()
	without.Defined = 0
	for _, c := range []struct {
		ix          *Index
		text, first string
	}{
		{ix, "getgid", "http://module/"},
		{ix.WithWeights(without), "getgid", "http://mentions/"},
		{ix, "print", "http://function/"},
		{ix, "again getgid mentions", "http://mentions/"},
	} {
		if got := urls(t, c.ix, c.text); got[0] != c.first {
			t.Errorf("%q finds %s first, want %s", c.text, got[0], c.first)
		}
	}
}
