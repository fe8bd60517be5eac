package index

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// mostWitnesses is the greatest number of packages that are searched for witnesses.
const mostWitnesses = 8

// witnesses returns pages of other packages of the partition. With them, there are segments.HostPages pages of
// each host that the drafts are from, if so many are found: enough to tell what the host repeats. It looks in the
// newest indexed packages, except those of the drafts.
func (m maker) witnesses(ctx context.Context, listed *manifest.Manifest, drafts []*draft) (found []*draft, err error) {
	lacking, own := make(quota), make(map[string]bool) // own has the keys of the drafts' packages
	for _, p := range drafts {
		lacking[start(p.URL, 1)] = segments.HostPages
		own[p.Package] = true
	}
	for _, p := range drafts {
		lacking.take(p.URL)
	}
	read := 0
	for _, pkg := range slices.Backward(listed.Packages) {
		if read == mostWitnesses || lacking.met() {
			break
		}
		if !pkg.Indexed || own[pkg.Key] {
			continue
		}
		read++
		pages, err := m.read(ctx, pkg.Key, lacking)
		if err != nil && !isUnreadable(err) {
			return nil, err
		}
		found = append(found, pages...)
	}
	return found, nil
}

// quota has the number of pages that are still wanted of each host. A host is named by the start of its URLs. A
// nil quota means that every page of every host is wanted.
type quota map[string]int

func (q quota) wants(url string) bool { return q == nil || q[start(url, 1)] > 0 }

// met reports whether no more pages are wanted of any host.
func (q quota) met() bool {
	for _, n := range q {
		if n > 0 {
			return false
		}
	}
	return true
}

// take reduces the number of wanted pages of a page's host by one.
func (q quota) take(url string) {
	if q != nil {
		q[start(url, 1)]--
	}
}
