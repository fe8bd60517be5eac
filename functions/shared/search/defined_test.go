package search

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestDefined searches for names of functions. The page that defines a name, in a long list, must come before
// a page that often mentions it, because of Weights.Defined; and a page that defines the name alone before one
// that defines a longer name with this last part.
func TestDefined(t *testing.T) {
	const filler = "more words about other functions of the module and their arguments "
	defining := func(url, term, fragment string) segment.Document {
		d := page(url, term+"\n"+strings.Repeat(filler, 20))
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
