package index

import (
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
)

// draft is the document of a page before the segment is built. Repeated blocks of text, such as
// menus, can still be moved out of its main part, and its date can still be dropped.
type draft struct {
	segments.Page
	// text blocks of the main part; nil once the repeated ones have been moved out of it
	blocks     []document.Block
	dateSource document.DateSource // source of the field Date
}

// A block of text counts as repeated in a host, or in one of its top directories, if it is on at
// least minPages of the pages there, and on at least the share minShare of them.
const (
	minPages = 16
	minShare = .3
)

// moveRepeated moves repeated blocks of text, such as headers, menus, footers and notices, out of the main parts
// of pages. Their words are still found, but with the low weight of all text outside the main part. The parameter
// pages has the pages of a segment and its witnesses (see maker.finish), sorted by site and URL.
//
// If there are only a few pages of a host, moveRepeated does not change them; index may do so later, with more
// pages (see Function.Together). Pages that share half of their text, such as mirrors, are counted as one page:
// otherwise their whole text would count as repeated.
func moveRepeated(pages []*draft) {
	for host := range byStart(pages, 1) {
		onHost := repeatedBlocks(host)
		for directory := range byStart(host, 2) {
			blocks := onHost
			if len(directory) < len(host) {
				blocks = repeatedBlocks(directory)
			}
			for _, p := range directory {
				p.without(func(hash uint64) bool { return onHost[hash] || blocks[hash] })
			}
		}
	}
}

// byStart yields groups of pages whose URLs have the same start (see start): with n = 1 the pages
// of each host, with n = 2 those of each of its top directories. The pages must be sorted by site
// and URL.
func byStart(pages []*draft, n int) func(yield func([]*draft) bool) {
	return func(yield func([]*draft) bool) {
		for len(pages) > 0 {
			first := start(pages[0].URL, n)
			end := slices.IndexFunc(pages, func(p *draft) bool { return start(p.URL, n) != first })
			if end < 0 {
				end = len(pages)
			}
			if !yield(pages[:end]) {
				return
			}
			pages = pages[end:]
		}
	}
}

// start returns a URL up to and including the n-th slash after its scheme, or the last one if there
// are fewer. Example: of http://a/docs/x.html it returns http://a/ for n = 1, and http://a/docs/
// for n = 2.
func start(url string, n int) string {
	at := strings.Index(url, "://") + len("://")
	for range n {
		next := strings.IndexByte(url[at:], '/')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return url[:at]
}

// repeatedBlocks returns the hashes of the text blocks that are on at least minPages of the pages,
// and on at least the share minShare of them. It returns nil if there are too few pages.
func repeatedBlocks(pages []*draft) map[uint64]bool {
	pages = unlike(pages)
	least := max(minPages, int(minShare*float64(len(pages))))
	if len(pages) < least {
		return nil
	}
	type count struct{ pages, last int32 }
	counts := make(map[uint64]count)
	repeated := make(map[uint64]bool)
	for n, p := range pages {
		for _, b := range p.blocks {
			c := counts[b.Hash]
			if c.last == int32(n+1) {
				continue
			}
			counts[b.Hash] = count{c.pages + 1, int32(n + 1)}
			if int(c.pages+1) == least {
				repeated[b.Hash] = true
			}
		}
	}
	return repeated
}

// unlike returns the pages that have text, except those that share half of their text with an
// earlier page. To be fast, it does not compare all pages with each other. It cuts the sketch of
// each page (see fingerprint.Fingerprint) into eight parts. For each part, it looks for the first
// earlier page whose sketch has the same part in the same place, and compares the two pages. In
// this way it overlooks about one in ten of the pages that share half of their text: these are
// returned, too.
func unlike(pages []*draft) []*draft {
	type part struct {
		at     int
		values [2]uint16
	}
	first := make(map[part]*draft)
	var found []*draft
	for _, p := range pages {
		if p.Silent || len(p.blocks) == 0 {
			continue
		}
		print, known := p.print(), false
		for at := 0; at < len(p.Sketch) && !known; at += 2 {
			earlier := first[part{at, [2]uint16(p.Sketch[at:])}]
			known = earlier != nil && print.SharesHalf(earlier.print())
		}
		if known {
			continue
		}
		found = append(found, p)
		for at := 0; at < len(p.Sketch); at += 2 {
			if key := (part{at, [2]uint16(p.Sketch[at:])}); first[key] == nil {
				first[key] = p
			}
		}
	}
	return found
}

func (p *draft) print() fingerprint.Fingerprint {
	return fingerprint.Fingerprint{TitleHash: p.TitleHash, TextHash: p.TextHash, Simhash: p.Simhash, Sketch: p.Sketch}
}

// without moves repeated text blocks out of the page's main part. A block is repeated if the given
// function returns true for the block's hash.
func (p *draft) without(repeated func(hash uint64) bool) {
	c := document.Content{
		Body: p.Body, Outside: p.Outside, Headings: p.Headings, Emphasis: p.Emphasis, Large: p.Large, Sections: p.Sections, Entries: p.Entries,
		Blocks: p.blocks,
	}.Without(repeated)
	p.Body, p.Outside, p.Headings, p.Emphasis, p.Large = c.Body, c.Outside, c.Headings, c.Emphasis, c.Large
	p.Sections, p.Entries = c.Sections, c.Entries
	p.blocks = nil
}
