package corpus

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// Small and Large are names of Debian packages of documentation. Those in Small have 8,026
// pages; those in Large have 55,172 other pages.
var (
	Small = []string{"postgresql-doc-15", "python3.11-doc", "python-django-doc", "qtbase5-doc-html", "debian-handbook"}
	Large = []string{"openjdk-17-doc", "rust-doc", "libstdc++-12-doc", "libboost1.81-doc", "cmake-doc", "linux-doc-6.1"}
)

// Extract writes the pages of Debian packages to the file of a corpus, in the order of the
// packages. If the file exists, it does nothing. The parameter sites is the directory with the
// unpacked packages.
func Extract(file, sites string, packages []string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	out, err := os.CreateTemp(filepath.Dir(file), "corpus")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	w := bufio.NewWriterSize(out, 1<<20)
	for _, name := range packages {
		files, err := Files(sites, name)
		if err != nil {
			return err
		}
		for p := range extracted(files) {
			if err := Write(w, p); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), file)
}

// File is an HTML file with the URL of its page in the corpus.
type File struct{ Path, URL string }

// Files returns the HTML files of the named package, which is unpacked in the directory sites,
// in the order of their names.
func Files(sites, name string) (files []File, err error) {
	root, err := filepath.EvalSymlinks(filepath.Join(sites, name))
	if err != nil {
		return nil, fmt.Errorf("cannot find package %s: %w", name, err)
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && (path.Ext(file) == ".html" || path.Ext(file) == ".htm") {
			files = append(files, File{file, "http://docs.test/" + name + strings.TrimPrefix(file, root)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read package %s: %w", name, err)
	}
	return files, nil
}

// extracted yields the pages of the files, in the order of the files. It uses all processors.
func extracted(files []File) iter.Seq[*Page] {
	return func(yield func(*Page) bool) {
		for files := range slices.Chunk(files, 64) {
			pages := make([]*Page, len(files))
			var group errgroup.Group
			group.SetLimit(runtime.GOMAXPROCS(0))
			for i, f := range files {
				group.Go(func() error {
					pages[i] = page(f)
					return nil
				})
			}
			_ = group.Wait()
			for _, p := range pages {
				if p != nil && !yield(p) {
					return
				}
			}
		}
	}
}

// page returns the page that is extracted from a file, or nil if the file has no text that can
// be searched.
func page(f File) *Page {
	content, err := os.ReadFile(f.Path)
	if err != nil || !document.Searchable(content, "text/html") {
		return nil
	}
	var c document.Content
	if d, err := document.Read(content, "text/html"); err == nil {
		c = d.Content()
	}
	c.Title = cmp.Or(c.Title, document.NameOf(f.URL))
	lang, _ := language.Decide(c.Title+"\n"+c.Body, c.Lang)
	return &Page{URL: f.URL, Title: c.Title, Headings: c.Headings, Lang: lang, Emphasis: c.Emphasis, Large: c.Large, Body: c.Body}
}
