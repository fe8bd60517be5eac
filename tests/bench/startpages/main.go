// Command startpages makes a judged set of queries (see package eval) for start pages: a query is
// the name of a site, and the site's start page is its answer.
//
//	BUCKETSEARCH_SITES=DIR bash tests/bench/fetch PACKAGE…
//	go run ./tests/bench/startpages -sites DIR -out OUT
//	bucketsearch import OUT/sites.warc --data D
//	bucketsearch eval --data D --queries OUT/queries.tsv --qrels OUT/qrels.tsv
//	bucketsearch eval --data D --queries OUT/deep-queries.tsv --qrels OUT/deep-qrels.tsv
//
// It also makes a second set, deep-queries.tsv. In this set, a query is the title of a page that is
// no start page, followed by the name of the site. It shows whether a change that is good for start
// pages is bad for other pages.
//
// The sites are documentation that Debian ships, each in a package of its own. The variable sites
// lists them; the first element of each path there is the name of the package. DIR/PACKAGE holds
// the unpacked package. In OUT/sites.warc, the pages of a site have the host name at which its
// project publishes it. The queries for a start page are the names that people give the site, each
// alone and with words such as documentation, and the parts of its host name.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/tests/bench/judged"
)

// site is the documentation website of a project. Its pages are files of a directory.
type site struct {
	host  string
	dir   string   // directory of the site's pages, with its start page, index.html
	names []string // names that people give the site
}

var sites = []site{
	{"www.postgresql.org", "postgresql-doc-15/usr/share/doc/postgresql-doc-15/html", []string{"postgresql", "postgres"}},
	{"docs.python.org", "python3.11-doc/usr/share/doc/python3.11/html", []string{"python"}},
	{"docs.djangoproject.com", "python-django-doc/usr/share/doc/python-django-doc/html", []string{"django"}},
	{"debian-handbook.info", "debian-handbook/usr/share/doc/debian-handbook/html/en-US", []string{"debian handbook", "debian administrator's handbook"}},
	{"git-scm.com", "git-doc/usr/share/doc/git-doc", []string{"git"}},
	{"developers.debian.org", "developers-reference/usr/share/developers-reference", []string{"debian developer's reference"}},
	{"policy.debian.org", "debian-policy/usr/share/doc/debian-policy/policy.html", []string{"debian policy", "debian policy manual"}},
	{"www.sqlite.org", "sqlite3-doc/usr/share/doc/sqlite3", []string{"sqlite", "sqlite home page"}},
	{"httpd.apache.org", "apache2-doc/usr/share/doc/apache2-doc/manual/en", []string{"apache", "apache http server", "httpd"}},
	{"cmake.org", "cmake-doc/usr/share/doc/cmake-data/html", []string{"cmake"}},
	{"flask.palletsprojects.com", "python-flask-doc/usr/share/doc/python-flask-doc/html", []string{"flask"}},
	{"jinja.palletsprojects.com", "python-jinja2-doc/usr/share/doc/python-jinja2-doc/html", []string{"jinja", "jinja2"}},
	{"requests.readthedocs.io", "python-requests-doc/usr/share/doc/python-requests-doc/html", []string{"requests", "python requests"}},
	{"docs.sqlalchemy.org", "python-sqlalchemy-doc/usr/share/doc/python-sqlalchemy-doc/html", []string{"sqlalchemy"}},
	{"www.sphinx-doc.org", "sphinx-doc/usr/share/doc/sphinx-doc/html", []string{"sphinx"}},
	{"www.exim.org", "exim4-doc-html/usr/share/doc/exim4-doc-html/spec_html", []string{"exim", "exim specification"}},
	{"www.postfix.org", "postfix-doc/usr/share/doc/postfix/html", []string{"postfix"}},
	{"zsh.sourceforge.io", "zsh-doc/usr/share/doc/zsh-common/html", []string{"zsh", "z shell"}},
	{"nodejs.org", "nodejs-doc/usr/share/doc/nodejs/api", []string{"nodejs", "node.js"}},
	{"docs.octave.org", "octave-doc/usr/share/doc/octave/octave.html", []string{"octave", "gnu octave"}},
}

// suffixes are the words after the name of a site in queries; "" stands for the name alone.
var suffixes = []string{"", " documentation", " docs", " manual", " website"}

func main() {
	from := flag.String("sites", "", "directory of the unpacked packages")
	out := flag.String("out", "", "directory of the results")
	most := flag.Int("pages", 400, "greatest number of pages of a site")
	flag.Parse()
	if err := run(*from, *out, *most); err != nil {
		log.Fatal(err)
	}
}

func run(from, out string, most int) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(out, "sites.warc"))
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // what counts is the error of Flush
	warc := bufio.NewWriter(file)
	start, deep := make(judged.Set), make(judged.Set)
	for _, s := range sites {
		titles, err := s.write(warc, filepath.Join(from, s.dir), most)
		if err != nil {
			return err
		}
		for _, query := range s.queries() {
			start.Add(query, "https://"+s.host+"/index.html")
		}
		for url, title := range titles {
			deep.Add(title+" "+s.names[0], url)
		}
	}
	return errors.Join(warc.Flush(), start.Write(out+"/"), deep.Write(out+"/deep-"))
}

// queries returns the queries that people may write to find the site, each once.
func (s site) queries() (all []string) {
	add := func(query string) {
		if query != "" && !slices.Contains(all, query) {
			all = append(all, query)
		}
	}
	for _, name := range s.names {
		for _, suffix := range suffixes {
			add(name + suffix)
		}
	}
	suffix, _ := publicsuffix.PublicSuffix(s.host)
	labels := strings.Split(strings.TrimSuffix(s.host, "."+suffix), ".")
	labels = slices.DeleteFunc(labels, func(label string) bool { return label == "www" })
	add(strings.Join(labels, " "))
	return all
}

// write writes the HTML files below a directory as captures of the site's pages (response records
// of WARC 1.1, 6.3), in the order of their names. If there are more files than the given maximum,
// it writes the start page and a selection of the others, about as many as the maximum. The selection
// is spread evenly over the files.
//
// It also returns the titles of some written pages, by the addresses of the pages (see titleOf).
// They become queries in deep-queries.tsv. To choose them, write numbers all files from 0, and takes
// those whose number is a multiple of 8. It leaves out two kinds of titles: that of the start page,
// and those that several written pages have.
func (s site) write(warc *bufio.Writer, dir string, most int) (titles map[string]string, err error) {
	var files []string
	err = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if ext := path.Ext(file); err == nil && entry.Type().IsRegular() && (ext == ".html" || ext == ".htm") {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the pages of %s: %w", s.host, err)
	}
	start, times := filepath.Join(dir, "index.html"), make(map[string]int)
	titles = make(map[string]string)
	if !slices.Contains(files, start) { // perhaps it is a link to another page
		files = append(files, start)
	}
	for i, file := range files {
		if file != start && i*most/len(files) == (i-1)*most/len(files) && i > 0 && len(files) > most {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return nil, err
		}
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(content), content)
		url := "https://" + s.host + "/" + filepath.ToSlash(name)
		_, err = fmt.Fprintf(warc, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012x>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"+
			"WARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, url, len(block), block)
		if err != nil {
			return nil, err
		}
		title := titleOf(content)
		times[title]++
		if file != start && i%8 == 0 && title != "" {
			titles[url] = title
		}
	}
	maps.DeleteFunc(titles, func(_, title string) bool { return times[title] > 1 })
	return titles, nil
}

// titleOf returns the title of a page up to the first dash or bar with spaces around it, after
// which the name of the site often stands. It returns "" if the page has no title.
func titleOf(content []byte) string {
	d, err := document.Read(content, "text/html")
	if err != nil {
		return ""
	}
	title := d.Title
	for _, separator := range []string{" - ", " – ", " — ", " | "} {
		title, _, _ = strings.Cut(title, separator)
	}
	return strings.Join(strings.Fields(title), " ")
}
