package verify

import (
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// storedPackage is a package that the newest manifest of a partition lists.
type storedPackage struct {
	*manifest.Package
	partition *audit
	index     uint32 // number of the package: its index in run.packages
	gone      bool   // the package is missing, or none of its pages can be read
	pages     []page // pages of the package; nil after run.index has moved them to run.pages

	unsearchable atomic.Bool // a segment with documents of the package cannot be read
}

// readPackages reads all listed packages whole, checks them, and lists their pages in v.pages.
func (v *run) readPackages(ctx context.Context) error {
	var bytes int64
	for _, own := range v.partitions {
		for i := range own.Packages {
			listed := &own.Packages[i]
			if other, twice := v.byKey[listed.Key]; twice && other.Key == listed.Key { // reported by the method objects
				continue
			}
			p := &storedPackage{Package: listed, partition: own, index: uint32(len(v.packages))}
			v.packages = append(v.packages, p)
			v.byKey[listed.Key] = p
			for _, former := range listed.Formerly {
				v.byKey[former] = p
			}
			if bytes += listed.Bytes; !listed.Indexed {
				v.report.Waiting.Index++
			}
		}
	}
	progress := v.stage(Packages, bytes)
	err := each(ctx, v.packages, func(ctx context.Context, p *storedPackage) error {
		defer progress.add(p.Bytes)
		content, found, err := blob.Find(ctx, v.Bucket, p.Key)
		if p.gone = err == nil && !found; found { // a missing one was reported by the method objects
			v.readPackage(p, content)
		}
		return err
	})
	v.index()
	v.report.Packages, v.report.Pages = len(v.packages), len(v.pages)
	return err
}

// readPackage checks every page of a package. It reports damaged pages, and pages that should have
// been erased because a takedown covers them. It also reports a package that does not have as many
// pages as the manifest says.
func (v *run) readPackage(p *storedPackage, content []byte) {
	reader, err := webobject.Open(content)
	if err != nil {
		p.gone = true
		if int64(len(content)) == p.Bytes { // another length was reported by objects
			v.problem(Damaged, p.partition.Partition, p.Key, "is damaged, and with it all of its %d pages: %v", p.Pages, err)
		}
		return
	}
	p.pages = make([]page, 0, p.Pages)
	check := v.forgotten(p.partition)
	forget := &v.settings.Takedowns
	for entry, err := range reader.Objects() {
		if entry.URL == "" {
			v.problem(Damaged, p.partition.Partition, p.Key, "is damaged: %v", err)
			continue
		}
		found := page{
			id: layout.IdentityOf(entry.URL), version: entry.Version,
			offset: uint32(entry.Offset), length: uint32(entry.Length), pkg: p.index,
		}
		switch {
		case err != nil:
			found.marks = markDamaged
			v.problems.add(p.problem(Damaged, entry, "is damaged: "+err.Error()))
		case forget.Empty() || !forget.ForgetsURL(entry.URL):
			found.marks = markWanted
		}
		if err == nil && document.IsAsset(entry.MIME) {
			found.marks |= markAsset
		}
		if check.url(entry.URL) {
			v.problems.add(p.problem(Behind, entry, details[Behind]))
		}
		p.pages = append(p.pages, found)
	}
	if len(p.pages) != p.Pages {
		v.problem(Damaged, p.partition.Partition, p.Key, "holds %d pages, and the manifest says %d", len(p.pages), p.Pages)
	}
}

func (p *storedPackage) problem(kind Kind, at webobject.Entry, detail string) Problem {
	return Problem{Kind: kind, Partition: p.partition.Partition, Key: p.Key, Offset: at.Offset, URL: at.URL, Detail: detail}
}

// page is a page in a package. It is small, 48 bytes, because memory holds one for every
// page in the bucket.
type page struct {
	id      layout.Identity
	version layout.Version
	offset  uint32 // offset in the package, which has less than 4 GiB
	length  uint32
	pkg     uint32 // package of the page, as an index in run.packages
	// The lower 16 bits are marks such as markWanted, the upper 16 the number of live documents. It is
	// changed atomically.
	marks uint32
}

// The marks of a page are bits of page.marks, in its lower 16 bits. The upper 16 bits hold the number
// of the page's live documents.
const (
	markWanted  uint32 = 1 << iota // the page is not forgotten (no takedown covers it)
	markDamaged                    // the page cannot be read; its version is unknown
	markKnown                      // the URL of the page has an outcome
	markLive                       // the outcomes of the URL say that this page is the stored one
	markGone                       // a recorded outcome says that the page is no longer at its URL
	markAsset                      // the page is an asset, which has no document
	oneDocument = 1 << 16
)

func (p *page) mark(m uint32)     { atomic.OrUint32(&p.marks, m) }
func (p *page) has(m uint32) bool { return atomic.LoadUint32(&p.marks)&m != 0 }
func (p *page) documents() int    { return int(atomic.LoadUint32(&p.marks) / oneDocument) }
func (p *page) addDocument() int  { return int(atomic.AddUint32(&p.marks, oneDocument) / oneDocument) }

// pageList holds the pages of all packages, sorted by the identity of their URLs.
type pageList []page

// index moves the pages of all packages to run.pages, and sorts them by the identity of their URLs,
// so that the methods of pageList find the pages of a URL.
func (v *run) index() {
	total := 0
	for _, p := range v.packages {
		total += len(p.pages)
	}
	v.pages = make(pageList, 0, total)
	for _, p := range v.packages {
		v.pages = append(v.pages, p.pages...)
		p.pages = nil
	}
	slices.SortFunc(v.pages, func(a, b page) int { return a.id.Compare(b.id) })
}

// of returns the pages of a URL in all packages.
func (all pageList) of(id layout.Identity) []page {
	from, _ := sort.Find(len(all), func(i int) int { return id.Compare(all[i].id) }) // copies no page: other goroutines change marks
	to := from
	for to < len(all) && all[to].id == id {
		to++
	}
	return all[from:to]
}

// at returns the page of a URL at an offset of a package; nil when there is none.
func (all pageList) at(id layout.Identity, in *storedPackage, offset int64) *page {
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
