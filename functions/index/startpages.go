package index

import (
	"path"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Whether a page is a start page, and which names its site has, depends only on the page and its
// collections, never on the other pages of its package. Otherwise the result would vary: which pages
// are in a package depends on the order in which hosts answer, and a page that is fetched again comes
// into another package.

// isStart reports whether a page is a start page: the index page of the host's root directory, or
// of a collection's start directory on the host. The start directory is the deepest one that holds
// all seeds of the collection on this host. For example, with the seeds /docs/go/ and /docs/c/ it
// is /docs/. Its index page has the address /docs/ or one such as /docs/index.html. The parameter
// collections names the page's collections.
func (w pageRules) isStart(a address.Address, collections []string) bool {
	return isIndexOf("/", a) || slices.ContainsFunc(collections, func(name string) bool {
		directory := w.StartDirectory(name, a)
		return directory != "" && isIndexOf(directory, a)
	})
}

// isIndexOf reports whether an address is that of a directory, or of an index page in it, such as
// index.html or default.asp. The parameter directory is the path of the directory, with a slash at
// its end.
func isIndexOf(directory string, a address.Address) bool {
	name, inside := strings.CutPrefix(a.Path, directory)
	base := strings.TrimSuffix(name, path.Ext(name))
	return inside && (name == "" || base == "index" || base == "default" || base == "home")
}

// siteNames returns the names of the site if the page is a start page, else nil. People search for
// the site by these names: the page's title, and the name that the page gives the site. (The name
// of the host is found anyway, because it is in the address.)
func (w pageRules) siteNames(a address.Address, collections []string, content reading) []string {
	if !w.isStart(a, collections) {
		return nil
	}
	names := []string{content.Title}
	if content.site != "" && content.site != content.Title {
		names = append(names, content.site)
	}
	return names
}
