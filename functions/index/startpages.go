package index

import (
	"path"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Which page is a start page, and the names of its site, are told by the page and its collections
// alone, never by the other pages of its package: how pages come into packages depends on the order
// in which hosts answer, and a page that is fetched again comes into another package.

// isStart reports whether the page at address a is a start page: that of its host, or that of the
// directory at which one of its collections starts on the host. The page may have any of the
// directory's addresses, such as / and /index.html.
func (w pageRules) isStart(a address.Address, collections []string) bool {
	return isIndexOf("/", a) || slices.ContainsFunc(collections, func(name string) bool {
		directory := w.StartDirectory(name, a)
		return directory != "" && isIndexOf(directory, a)
	})
}

// isIndexOf reports whether a is the address of a directory, or of an index page in it, such as
// index.html or default.asp. The parameter directory is the path of the directory, with a slash at
// its end.
func isIndexOf(directory string, a address.Address) bool {
	name, inside := strings.CutPrefix(a.Path, directory)
	base := strings.TrimSuffix(name, path.Ext(name))
	return inside && (name == "" || base == "index" || base == "default" || base == "home")
}

// siteNames returns the names of the site if the page at address a is a start page, else nil. People
// search for the site by these names: the page's title, and the name that the page gives the site.
// (The name of the host is found anyway, because it is in the address.)
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
