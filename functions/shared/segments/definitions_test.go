package segments

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestDefinitions checks which names the entries of a page define, with one entry a line: its term and the
// fragment of its address.
func TestDefinitions(t *testing.T) {
	const h, b = segment.Headings, segment.Body
	for _, c := range []struct {
		entries string
		want    []string
	}{
		{"print(*objects, sep=' ')|print", []string{fmt.Sprint(h, " print")}},
		{"exception KeyError|KeyError", []string{fmt.Sprint(h, " keyerror")}},
		{"json.dumps(obj)|json.dumps", []string{fmt.Sprint(b, " dump")}},
		{"join(timeout=None)|threading.Thread.join", []string{fmt.Sprint(b, " join")}},
		{"int PyDate_CheckExact(PyObject *ob)|c.PyDate_CheckExact", []string{fmt.Sprint(b, " pydatecheckexact")}},
		{"shared_buffers (integer)|GUC-SHARED-BUFFERS", []string{fmt.Sprint(b, " sharedbuff")}},
		{"--output-file, -o|cmdoption-o", []string{fmt.Sprint(b, " o")}},
		{"std::vector<T>::push_back|push_back", []string{fmt.Sprint(h, " pushback")}},
		// the longest run with which the fragment ends stops in the middle of a joined word
		{"wait_all(limit)|all", nil},
		{"abstract base class|term-abstract-base-class", nil},
		{"another note|id17", nil},
		{"sign|", nil},
		{"—|dash", nil},
		// once for each field
		{"wait()|Event.wait\nwait()|Condition.wait\nwait()|wait", []string{fmt.Sprint(h, " wait"), fmt.Sprint(b, " wait")}},
	} {
		p := &Page{Document: segment.Document{Lang: "en"}}
		for line := range strings.Lines(c.entries) {
			term, fragment, _ := strings.Cut(strings.TrimSpace(line), "|")
			p.Entries = append(p.Entries, segment.Entry{Start: len(p.Body), Term: len(term), End: len(p.Body) + len(term), Fragment: fragment})
			p.Body += term + "\n"
		}
		var got []string
		for token := range newTokenizer().tokens(p) {
			if segment.IsNameTerm(token.Term) {
				got = append(got, fmt.Sprint(token.Field, " ", strings.TrimRight(token.Term, "\x04\x02")))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.entries, diff)
		}
	}
}

func FuzzDefinitions(f *testing.F) {
	f.Add("json.dumps(obj)", "json.dumps")
	f.Add("日本 e-mail_x", "日本-mail-x")
	f.Fuzz(func(t *testing.T, term, fragment string) {
		p := newTokenizer()
		p.analyzer = p.vocabulary.For("en")
		if name, alone := p.nameOf(term, fragment); name == "" && alone {
			t.Errorf("no name of %q is alone", term)
		}
	})
}
