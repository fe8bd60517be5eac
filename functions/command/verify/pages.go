package verify

import (
	"slices"
	"sort"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout"
)

// page is a page that stands in a package: 48 bytes, of which there is one for
// each page of the bucket.
type page struct {
	id      layout.Identity
	version layout.Version
	offset  uint32 // a package has less than 4 GiB
	length  uint32
	pkg     uint32 // index into run.packages
	marks   uint32 // changed atomically once all pages are known
}

// The marks of a page; the upper half counts documents that are made of it.
const (
	markWanted  uint32 = 1 << iota // it is to be indexed
	markDamaged                    // it cannot be read; its version is unknown
	markKnown                      // its URL has an outcome
	markLive                       // it is what is stored of its URL
	markGone                       // as the books say, it is no more
	oneDocument = 1 << 16
)

func (p *page) mark(m uint32)     { atomic.OrUint32(&p.marks, m) }
func (p *page) has(m uint32) bool { return atomic.LoadUint32(&p.marks)&m != 0 }
func (p *page) documents() int    { return int(atomic.LoadUint32(&p.marks) / oneDocument) }
func (p *page) addDocument() int  { return int(atomic.AddUint32(&p.marks, oneDocument) / oneDocument) }

// pages is all of them, by the identity of their URLs.
type pages []page

// index takes over the pages of all packages.
func (v *run) index() {
	total := 0
	for _, p := range v.packages {
		total += len(p.pages)
	}
	v.pages = make(pages, 0, total)
	for _, p := range v.packages {
		v.pages = append(v.pages, p.pages...)
		p.pages = nil
	}
	slices.SortFunc(v.pages, func(a, b page) int { return a.id.Compare(b.id) })
}

// of returns the pages of a URL.
func (all pages) of(id layout.Identity) []page {
	from, _ := sort.Find(len(all), func(i int) int { return id.Compare(all[i].id) }) // marks are not read
	to := from
	for to < len(all) && all[to].id == id {
		to++
	}
	return all[from:to]
}

// at returns the page of a URL that stands in a package at an offset, nil when
// there is none.
func (all pages) at(id layout.Identity, in *storedPackage, offset int64) *page {
	if in == nil {
		return nil
	}
	own := all.of(id)
	for i := range own {
		if own[i].pkg == in.index && int64(own[i].offset) == offset {
			return &own[i]
		}
	}
	return nil
}
