package knownitem

import (
	_ "embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

// manual is a manual in one of Debian's packages, with the judged sets that are made from it.
type manual struct {
	name    string
	from    string   // directory of its pages, below the directory of the unpacked packages
	without []string // patterns of the names of pages that are left out, since they contain the queries
	sets    []source
}

// source says how a command of tests/bench makes a judged set.
type source struct {
	set     string // name of the set
	command string // folder of the command
	in      string // what the command reads, in the directory of the pages
	prefix  string // start of the names of the files that the command writes
}

// linktexts is the folder of the command that makes a set of texts of links, and writes the pages without
// these links.
const linktexts = "linktexts"

const (
	postgresql = "postgresql-doc-15/usr/share/doc/postgresql-doc-15/html"
	python     = "python3.11-doc/usr/share/doc/python3.11/html"
	django     = "python-django-doc/usr/share/doc/python-django-doc/html"
)

var inventory = []source{{"names", "inventory", "objects.inv", "names-"}, {"headings", "inventory", "objects.inv", "headings-"}}

var manuals = []manual{
	{"postgresql", postgresql, []string{"bookindex.html", "glossary.html"}, []source{
		{"index", "bookindex", "bookindex.html", ""}, {"terms", "glossary", "glossary.html", "terms-"}, {"definitions", "glossary", "glossary.html", "definitions-"},
	}},
	{"python", python, []string{"genindex*.html"}, inventory},
	{"django", django, []string{"genindex*.html"}, inventory},
	{"python", python, nil, []source{{"links", linktexts, "", ""}}},
	{"django", django, nil, []source{{"links", linktexts, "", ""}}},
}

// questions has a question for each line, as a person would type it: name of the manual, question, and the
// pages that answer it, with tabs between the three and spaces between the pages.
//
//go:embed questions.tsv
var questions string

// site is a manual that is served, with the judged sets of its pages. Their answers are names of pages, such
// as "library/os.html".
type site struct {
	dir  string // directory with the folder "site", which has the pages
	base string // address at which they are served
	sets map[string]judged.Set
}

// prepare serves the pages of a manual until the end of the benchmark, and makes its sets.
func (m manual) prepare(b *testing.B, packages string) *site {
	b.Helper()
	s := &site{dir: b.TempDir(), sets: make(map[string]judged.Set)}
	files := http.FileServer(http.Dir(filepath.Join(s.dir, "site")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprintf(w, "Sitemap: %ssitemap.xml\n", s.base)
		case r.URL.Path == "/sitemap.xml": // pages to which no link leads are found by it
			fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
			for _, page := range s.pages(b) {
				fmt.Fprintf(w, "<url><loc>%s%s</loc></url>", s.base, page)
			}
			fmt.Fprint(w, `</urlset>`)
		case strings.HasPrefix(r.URL.Path, "/pagefind/"):
			http.FileServer(http.Dir(s.dir)).ServeHTTP(w, r)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	b.Cleanup(server.Close)
	s.base = server.URL + "/"
	from := filepath.Join(packages, m.from)
	for _, made := range m.sets {
		command(b, "go", "run", "../"+made.command, "-in", filepath.Join(from, made.in), "-base", s.base, "-out", s.dir)
		set, err := judged.Read(s.dir + "/" + made.prefix)
		if err != nil {
			b.Fatal(err)
		}
		s.sets[made.set] = set
	}
	if m.sets[0].command != linktexts {
		copyPages(b, from, filepath.Join(s.dir, "site"), m.without)
		s.sets["questions"] = m.questions()
	}
	s.keepAnswered(b)
	return s
}

// questions returns the judged set of questions about a manual.
func (m manual) questions() judged.Set {
	set := make(judged.Set)
	for line := range strings.Lines(questions) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 && fields[0] == m.name {
			set[fields[1]] = strings.Fields(fields[2])
		}
	}
	return set
}

// keepAnswered makes names of pages of the addresses of answers, and drops queries whose answers are not
// among the pages.
func (s *site) keepAnswered(b *testing.B) {
	b.Helper()
	pages := s.pages(b)
	for _, set := range s.sets {
		for query, answers := range set {
			var kept []string
			for _, answer := range answers {
				if name := strings.TrimPrefix(answer, s.base); slices.Contains(pages, name) {
					kept = append(kept, name)
				}
			}
			if set[query] = kept; kept == nil {
				delete(set, query)
			}
		}
	}
}

// pages returns the names of the pages.
func (s *site) pages(b *testing.B) (names []string) {
	b.Helper()
	err := fs.WalkDir(os.DirFS(filepath.Join(s.dir, "site")), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".html" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		b.Error(err)
	}
	return names
}

// copyPages copies the HTML files below a directory, but not those whose names match a pattern.
func copyPages(b *testing.B, from, to string, without []string) {
	b.Helper()
	dir := os.DirFS(from)
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		for _, pattern := range without {
			if matches, _ := path.Match(pattern, name); matches {
				return nil
			}
		}
		content, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return err
		}
		return os.WriteFile(copied, content, 0o644)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// command runs a command, and returns what it prints.
func command(b *testing.B, name string, args ...string) string {
	b.Helper()
	cmd := exec.Command(name, args...)
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, failure.String())
	}
	return string(out)
}
