package segments

import "github.com/bucketsearch/bucketsearch/layout/manifest"

// Index learns which blocks of text a host repeats, such as menus, from the pages of a package. The
// first packages of a crawl are small, so that their pages can be found early, and so are those of a
// crawl with long delays. Index makes the documents of such packages twice: at once, and once more
// when there are enough pages together.
const (
	// HostPages is the number of pages of a host that are enough to tell which blocks it repeats.
	HostPages = 32
	// mostPages and mostBytes limit the pages and the bytes of packages that are made together.
	mostPages = 1024
	mostBytes = 16 << 20
)

// Apart returns the entry manifest.Package.Apart for a package with the given numbers of documents and
// of their hosts. It is nil if documents need not be made again:
//
//	the package has HostPages or more documents of each host, on average
//	it has so many hosts that no mostPages pages would have HostPages of each
func Apart(documents, hosts int) *manifest.Apart {
	if enough := HostPages * hosts; documents >= enough || enough > mostPages {
		return nil
	}
	return &manifest.Apart{Pages: documents, Hosts: hosts}
}

// Together returns the packages whose documents are to be made again, in one segment; nil if there are
// none, or if index has to wait for more. They are the oldest packages with an entry Apart, at most as
// many as mostPages and mostBytes allow. Together returns them if
//
//	they reach one of these limits;
//	they have HostPages pages for each host of the package with the most hosts; or
//	the crawl has ended: the parameter is true, and all packages are indexed. Then the partition
//	must have enough pages to tell anything at all: half of HostPages.
func Together(m *manifest.Manifest, ended bool) (packages []manifest.Package) {
	var bytes int64
	all, pages, hosts := 0, 0, 0
	for _, p := range m.Packages {
		all += p.Pages
		ended = ended && p.Indexed
		if p.Apart == nil || !p.Indexed {
			continue
		}
		pages, bytes = pages+p.Apart.Pages, bytes+p.Bytes
		if len(packages) > 0 && (pages > mostPages || bytes > mostBytes) {
			return packages
		}
		packages, hosts = append(packages, p), max(hosts, p.Apart.Hosts)
	}
	if pages >= HostPages*hosts || ended && all >= HostPages/2 {
		return packages
	}
	return nil
}
