package segments

import "github.com/bucketsearch/bucketsearch/layout/manifest"

// The function index learns from the pages of a package which blocks of text a host repeats, such as menus. For
// this it needs enough pages of the host. Packages are small at the beginning of a crawl, so that pages can be
// found early, and in a crawl with long delays. So index makes the documents of small packages twice: at once, and
// again when several of these packages together have enough pages.
const (
	// HostPages is the number of pages of a host that are enough to tell which blocks it repeats.
	HostPages = 32
	// mostPages and mostBytes limit the packages whose documents are made together.
	mostPages = 1024
	mostBytes = 16 << 20
)

// Apart returns the field manifest.Package.Apart for a package with the given number of documents, which are from
// the given number of hosts. It is nil if the documents need not be made again, in two cases:
//
//	the package has HostPages or more documents of each host, on average
//	it has so many hosts that even mostPages pages would have fewer than HostPages of each
func Apart(documents, hosts int) *manifest.Apart {
	if enough := HostPages * hosts; documents >= enough || enough > mostPages {
		return nil
	}
	return &manifest.Apart{Pages: documents, Hosts: hosts}
}

// Together returns the packages whose documents are to be made again, in one segment; nil if there are none, or if
// index has to wait for more. They are the oldest indexed packages with a field Apart, as many as the limits
// mostPages and mostBytes allow. Together returns them in each of these cases:
//
//	a further package would exceed a limit
//	there are HostPages pages for each host of the package with the most hosts
//	the crawl has ended (the parameter ended is true, and all packages are indexed), and the
//	partition has at least HostPages/2 pages, without which nothing can be told
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
