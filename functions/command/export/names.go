package export

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bucketsearch/bucketsearch/layout"
)

// names are the names of the files of a mirror:
//
//	https://example.org/        text/html   example.org/index.html
//	https://example.org/a       text/html   example.org/a.html
//	https://example.org/b.css   text/css    example.org/b.css
//	https://example.org/c?d=1   image/png   example.org/c_d=1-3f2a….png
//
// The extension is one by which a browser knows the media type. If another file or folder has the
// same name, the name gets a part of the URL's hash. Names that some file system takes for the
// same, such as A and a, count as the same (see alike).
type names struct{ all []nameless }

// nameless is a page whose file in the mirror has no name yet.
type nameless struct{ url, media string }

func (n *names) add(url, contentType string) {
	media, _, _ := strings.Cut(contentType, ";")
	n.all = append(n.all, nameless{url, strings.ToLower(strings.TrimSpace(media))})
}

// assign returns the names of all files, by the identity of the page's URL. The names do not
// depend on the order in which the URLs were added.
func (n *names) assign() map[layout.Identity]string {
	slices.SortFunc(n.all, func(a, b nameless) int { return cmp.Compare(a.url, b.url) })
	taken := map[string]bool{"index.html": true}
	for _, p := range n.all {
		name, _ := p.name()
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			taken[alike(dir)] = true
		}
	}
	assigned := make(map[layout.Identity]string, len(n.all))
	for _, p := range n.all {
		name, hashed := p.name()
		if taken[alike(name)] {
			name = hashed
		}
		taken[alike(name)] = true
		assigned[layout.IdentityOf(p.url)] = name
	}
	return assigned
}

// alike returns a form of a name for comparison only. Some file systems take two different names
// for the same, such as A and a; for two such names the form is equal.
func alike(name string) string { return norm.NFC.String(strings.ToLower(norm.NFC.String(name))) }

// name returns two names for the file of a page: one without and one with a hash of the URL, for
// example a/b.html and a/b-0123456789ab.html. The second is to be used if another file has the first.
// If characters of the URL had to be replaced, the name without the hash would be ambiguous: then
// both results are the name with the hash.
func (p nameless) name() (name, hashed string) {
	stem, changed := pathOf(p.url)
	extension := path.Ext(stem)
	known := extensions[p.media]
	switch {
	case slices.Contains(known, strings.ToLower(extension)), known == nil && isExtension(extension):
		stem = strings.TrimSuffix(stem, extension)
	case known != nil:
		extension = known[0]
	default:
		extension = ".bin"
	}
	hashed = stem + "-" + hashOf(p.url) + extension
	if changed || strings.HasSuffix(stem, "/") {
		return hashed, hashed
	}
	return stem + extension, hashed
}

// isExtension reports whether a file of unknown media type keeps the extension of its URL, such as
// ".xyz". It does if the extension is short and not one of HTML.
func isExtension(extension string) bool {
	lower := strings.ToLower(extension)
	isHTML := slices.Contains(extensions["text/html"], lower) || slices.Contains(extensions["application/xhtml+xml"], lower)
	return len(extension) > 1 && len(extension) <= 6 && !isHTML
}

// extensions lists for each media type the extensions of file names by which a browser knows it,
// the usual one first.
var extensions = map[string][]string{
	"text/html":                     {".html", ".htm"},
	"application/xhtml+xml":         {".xhtml", ".xht"},
	"text/plain":                    {".txt"},
	"text/markdown":                 {".md", ".markdown"},
	"text/xml":                      {".xml"},
	"application/xml":               {".xml"},
	"application/rss+xml":           {".xml", ".rss"},
	"application/atom+xml":          {".xml", ".atom"},
	"application/pdf":               {".pdf"},
	"text/css":                      {".css"},
	"text/javascript":               {".js", ".mjs"},
	"application/javascript":        {".js", ".mjs"},
	"application/x-javascript":      {".js"},
	"application/manifest+json":     {".webmanifest", ".json"},
	"image/png":                     {".png"},
	"image/jpeg":                    {".jpg", ".jpeg"},
	"image/gif":                     {".gif"},
	"image/webp":                    {".webp"},
	"image/avif":                    {".avif"},
	"image/svg+xml":                 {".svg"},
	"image/bmp":                     {".bmp"},
	"image/x-icon":                  {".ico"},
	"image/vnd.microsoft.icon":      {".ico"},
	"font/woff":                     {".woff"},
	"font/woff2":                    {".woff2"},
	"font/ttf":                      {".ttf"},
	"font/otf":                      {".otf"},
	"application/vnd.ms-fontobject": {".eot"},
}
