package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/style"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const (
	styleSheet = "text/css"
	maxAssets  = hypertext.MaxReferences // greatest number of assets of a page or a style sheet
)

// IsAsset reports whether a media type is that of an asset, a file that a browser loads to show
// a page: an image, a style sheet, a font or a script.
func IsAsset(media string) bool {
	kind, name, _ := strings.Cut(mediaType(media), "/")
	switch kind {
	case "image", "font":
		return true
	case "text":
		return name == "css" || name == "javascript" || name == "ecmascript" || name == "x-javascript"
	case "application":
		return slices.Contains([]string{"javascript", "x-javascript", "ecmascript", "vnd.ms-fontobject", "manifest+json"}, name) ||
			strings.HasPrefix(name, "font-") || strings.HasPrefix(name, "x-font-")
	}
	return false
}

// Assets returns links to the assets (see IsAsset) to which an HTML page or a style sheet refers,
// each address once, at most maxAssets. If it leaves some out, omitted has a text such as "12 of
// 100012 assets"; else it is nil. The parameter base is the address of the page or style sheet. For
// other media types Assets returns nothing.
func Assets(body []byte, contentType string, base address.Address) (links []Link, omitted []string) {
	c := assets{resolver: resolver{base: base, page: base.URL, known: make(map[string]int)}, seen: map[string]bool{}}
	text, _, _ := Decode(body, contentType)
	switch media := Sniff(body, contentType); {
	case media == styleSheet:
		style.Rewrite(text, func(url string, isSheet bool) string {
			c.add(hypertext.Address{URL: url, Use: hypertext.ToAsset, Rel: sheetRel(isSheet)})
			return url
		})
	case isHTML(media):
		w := hypertext.Rewriter{Replace: func(a hypertext.Address) string {
			c.add(a)
			return a.URL
		}}
		w.Rewrite(text)
	}
	if c.cut > 0 {
		omitted = []string{fmt.Sprintf("%d of %d assets", c.cut, c.cut+maxAssets)}
	}
	return c.links, omitted
}

func isHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// sheetRel returns the rel of the link for an address in a style sheet: "stylesheet" if the address
// is that of another style sheet, else "".
func sheetRel(isSheet bool) string {
	if isSheet {
		return "stylesheet"
	}
	return ""
}

// assets collects links to the assets of one HTML page or style sheet: the images, style sheets,
// fonts and scripts that a browser loads to show it (see IsAsset). By these links the crawler
// fetches assets for those collections that want them stored.
type assets struct {
	resolver resolver
	based    bool            // whether a base element has been read: later ones are ignored
	seen     map[string]bool // URLs of the links collected so far
	links    []Link
	cut      int // number of assets beyond maxAssets
}

// add takes an address of the page. If it is that of an asset, add collects a link to it. If it is
// that of the first base element, add makes it the base address of the references after it.
// Otherwise add does nothing.
func (c *assets) add(a hypertext.Address) {
	if a.Use == hypertext.ToBase && !c.based {
		c.based = true
		if base, err := c.resolver.base.Resolve(a.URL); err == nil {
			c.resolver.rebase(base)
		}
	}
	if a.Use != hypertext.ToAsset {
		return
	}
	target, ok := c.resolver.resolve(a.URL)
	if !ok || c.seen[target.URL] || target.URL == c.resolver.page {
		return
	}
	c.seen[target.URL] = true
	if len(c.links) == maxAssets {
		c.cut++
		return
	}
	c.links = append(c.links, Link{Address: target, Kind: book.Asset, Region: book.Text, Rel: rel(a.Rel)})
}
