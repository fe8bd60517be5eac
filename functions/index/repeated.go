package index

import (
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
)

// draft is the document of a page with the blocks of its text, until those are known
// that its site repeats.
type draft struct {
	segments.Page
	blocks []document.Block
}

// A block is repeated if it stands on so many pages of a host, or of one of its
// uppermost directories: on as many pages as minShare says, and not fewer than minPages.
const (
	minPages = 16
	minShare = .3
)

// moveRepeated moves out of the main part of pages what their site repeats: headers,
// menus, footers, notices. The words stay findable, with the low weight of all text
// outside. The pages are those of one package, in the order of their addresses. What is
// moved depends on them alone, so that a package indexed again gives the same segment, and
// a package of few pages of a site keeps what stands on them. Pages that share half of
// their text count as one: what a site mirrors, or translates in part, stays where it is.
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

// byStart yields the pages whose addresses have the same first parts, up to the n-th slash
// behind the scheme.
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

// start returns a URL up to the n-th slash behind its scheme, or to its last one if it
// has fewer.
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

// repeatedBlocks returns the hashes of the blocks that are repeated on pages.
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

// unlike returns pages without those that share half of their text with an earlier one.
// Candidates share one of the eighths of their sketches: nine in ten such texts do.
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

// without moves repeated blocks out of the main part.
func (p *draft) without(repeated func(hash uint64) bool) {
	c := document.Content{
		Body: p.Body, Outside: p.Outside, Headings: p.Headings, Emphasis: p.Emphasis, Large: p.Large, Blocks: p.blocks,
	}.Without(repeated)
	p.Body, p.Outside, p.Headings, p.Emphasis, p.Large = c.Body, c.Outside, c.Headings, c.Emphasis, c.Large
	p.blocks = nil
}
