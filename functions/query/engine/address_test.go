package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadPasted(t *testing.T) {
	for _, test := range []struct {
		query   string
		written []string // the addresses that are read; none if the query is not an address
		certain bool
	}{
		{"https://Example.org/a?x=1#f", []string{"https://example.org/a?x=1"}, true},
		{"HTTP://example.org", []string{"http://example.org/"}, true},
		{"example.org/a", []string{"https://example.org/a", "http://example.org/a"}, true},
		{"example.org", []string{"https://example.org/", "http://example.org/"}, false},
		{"example.org/", []string{"https://example.org/", "http://example.org/"}, false},
		{"example.org:8080/a", []string{"https://example.org:8080/a", "http://example.org:8080/a"}, true},
		{"127.0.0.1:8099/sql.html", []string{"https://127.0.0.1:8099/sql.html", "http://127.0.0.1:8099/sql.html"}, true},
		{"localhost:8080", []string{"https://localhost:8080/", "http://localhost:8080/"}, false},
		{"bücher.de/a", []string{"https://xn--bcher-kva.de/a", "http://xn--bcher-kva.de/a"}, true},
		{"<https://example.org/a>", []string{"https://example.org/a"}, true},
		{"https://example.org/a?utm_source=mail&x=1", []string{"https://example.org/a?x=1"}, true},
		{"10.0.0.0/8", nil, false}, {"2001:db8::/32", nil, false}, {"127.0.0.1/a", []string{"https://127.0.0.1/a", "http://127.0.0.1/a"}, true},
		{"", nil, false}, {"fox", nil, false}, {"os.path", nil, false}, {"lib/libpq.so", nil, false},
		{"someone@example.org", []string{"http://example.org:25/someone"}, false}, {"<mailto:someone@Example.org>", []string{"http://example.org:25/someone"}, false},
		{"someone@localhost", nil, false}, {"some one@example.org", nil, false},
		{"site:example.org", nil, false}, {"type:pdf", nil, false}, {"example.org fox", nil, false}, {"\"example.org\"", nil, false},
		{"ftp://example.org/a", nil, false}, {"-example.org", nil, false}, {"localhost", nil, false}, {"LOCALHOST", nil, false}, {"and/or", nil, false}, {"://", nil, false},
		{"https://", nil, false}, {".org", nil, false}, {"co.uk", nil, false}, {"1.5", nil, false}, {"www", nil, false},
	} {
		p, is := readPasted(test.query)
		var written []string
		for _, a := range p.written {
			written = append(written, a.URL)
		}
		if is != (test.written != nil) || !slices.Equal(written, test.written) || p.certain != test.certain {
			t.Errorf("%q: %v %q, certain: %v", test.query, is, written, p.certain)
		}
	}
	p, _ := readPasted("www.example.org/a/")
	var forms []string
	for _, a := range p.forms {
		forms = append(forms, a.URL)
	}
	want := []string{
		"https://www.example.org/a/", "http://www.example.org/a/", "https://www.example.org/a", "http://www.example.org/a",
		"https://www.example.org/a/index.html", "http://www.example.org/a/index.html",
		"https://example.org/a/", "http://example.org/a/", "https://example.org/a", "http://example.org/a",
		"https://example.org/a/index.html", "http://example.org/a/index.html",
	}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
}

func FuzzReadPasted(f *testing.F) {
	f.Add("https://example.org/a?b#c")
	f.Add("[::1]:80/x")
	f.Fuzz(func(t *testing.T, query string) {
		p, is := readPasted(query)
		if is && (len(p.written) == 0 || len(p.forms) < len(p.written) || p.forms[0] != p.written[0]) {
			t.Errorf("%q: %+v", query, p)
		}
	})
}
