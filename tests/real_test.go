package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realSites are sites of documentation from Debian packages, which are unpacked in the
// directory $BUCKETSEARCH_SITES.
var realSites = []struct {
	name, directory, seed string
	pages                 int // minimum number of pages that can be reached by links
	queries               []string
}{
	{
		"Django", "python-django-doc/usr/share/doc/python-django-doc/html", "/index.html", 600,
		[]string{"queryset filter", `"foreign key"`, "+migration -sqlite", "template tag", "csrf token middleware", "aggregate annotate"},
	},
	{
		"Debian reference in Japanese", "debian-reference-ja/usr/share/debian-reference", "/index.ja.html", 13,
		[]string{"パッケージ管理", "ファイルシステム", "apt", `"システム管理"`},
	},
}

func TestRealSites(t *testing.T) {
	t.Parallel()
	sites := os.Getenv("BUCKETSEARCH_SITES")
	if sites == "" {
		t.Log("BUCKETSEARCH_SITES is not set; the generated site is all there is")
		return
	}
	for _, real := range realSites {
		t.Run(real.name, func(t *testing.T) {
			dir := filepath.Join(sites, real.directory)
			s := serveDirectory(t, dir)
			quiet := crawlReal(t, s, real.seed, real.queries)
			if len(quiet.Pages) < real.pages {
				t.Errorf("%d pages are stored, want at least %d", len(quiet.Pages), real.pages)
			}
			for url, stored := range quiet.Pages {
				served := servedFrom(t, dir, strings.TrimPrefix(url, s.origins[0]))
				if served != "" && stored != served {
					t.Errorf("%s is stored with %d bytes, not as the %d that were served", url, len(stored), len(served))
				}
			}
			for text, hits := range quiet.Answers {
				if hits.Total == 0 {
					t.Errorf("%s finds nothing", text)
				}
			}
			mustEqual(t, "isolated, seven partitions", quiet, crawlReal(t, s, real.seed, real.queries, "--isolated", "--partitions", "7"))
		})
	}
}

func crawlReal(t *testing.T, s *site, seed string, asked []string, flags ...string) picture {
	t.Helper()
	p := newPlace(t)
	p.crawl(append(flags, s.origins[0]+seed)...)
	p.verify()
	return p.picture(asked)
}

// servedFrom returns the content of the file that a file server sends for a path. If there is no such
// file, so that the server lists a directory instead, servedFrom returns "".
func servedFrom(t *testing.T, dir, path string) string {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	if strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
