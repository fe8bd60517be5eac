package remains

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// foundPackage is a package that is still in the bucket, with its description.
type foundPackage struct {
	key    string
	number int // number in the package's name (PackageName.Collision)
	bytes  int64
	webobject.Description
	// last package that was made of this package by erasing pages; this package itself if no page
	// was erased
	last *foundPackage
}

// foundPackages are the packages that are still in the bucket.
type foundPackages struct {
	byKey map[string]*foundPackage
	// packages by name without the number; those of one name are sorted, the highest number first
	byName map[layout.PackageName][]*foundPackage
}

// nameOf splits the name in a package's key into the name without its number, and the number. Each
// time pages are erased from a package, the package is stored anew under a higher number.
func nameOf(key string) (layout.PackageName, int, error) {
	_, name, err := layout.ParsePackageKey(key)
	number := name.Collision
	name.Collision = 0
	return name, number, err
}

// readPackages reads the descriptions of all packages that are not condemned, and
// skips damaged ones.
func (r *remains) readPackages(ctx context.Context) error {
	r.packages = foundPackages{make(map[string]*foundPackage), make(map[layout.PackageName][]*foundPackage)}
	for object, err := range r.bucket.List(ctx, layout.PackagePrefix(r.newest.Partition), "") {
		if err != nil {
			return err
		}
		name, number, err := nameOf(object.Key)
		if err != nil || r.newest.IsCondemned(object.Key) {
			continue
		}
		described, err := webobject.Describe(ctx, r.bucket, object.Key)
		if errors.Is(err, webobject.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
			continue
		}
		if err != nil {
			return err
		}
		p := &foundPackage{key: object.Key, number: number, bytes: object.Size, Description: described}
		r.packages.byKey[p.key] = p
		r.packages.byName[name] = append(r.packages.byName[name], p)
	}
	for _, alike := range r.packages.byName {
		slices.SortFunc(alike, func(a, b *foundPackage) int { return b.number - a.number })
		for i, p := range alike {
			p.last = p
			if left := slices.IndexFunc(alike[:i], func(q *foundPackage) bool { return q.IsErasedFrom(p.Description) }); left >= 0 {
				p.last = alike[left]
			}
		}
	}
	return nil
}

// of returns the package that now holds certain pages; nil if there is none. A book says that these
// pages are in the package with the given key, at the places in the parameter pages.
//
//	the package with the key                            returned is
//	exists                                              this package
//	exists, and pages were erased from it later         the last package made of it by erasing
//	does not exist any more                             of the packages with the same name and a higher
//	                                                    number for which has(pages) is true, the one
//	                                                    with the highest number
func (all foundPackages) of(key string, pages []place) *foundPackage {
	if p := all.byKey[key]; p != nil {
		return p.last
	}
	name, number, err := nameOf(key)
	if err != nil {
		return nil
	}
	for _, p := range all.byName[name] {
		if p.number > number && p.has(pages) {
			return p
		}
	}
	return nil
}

// has reports whether p may be the package in which a book says the given pages are. It may be if p
// has at least one of these pages at the offset that the book says, and at none of these offsets a
// page of another URL or length.
func (p *foundPackage) has(pages []place) bool {
	at := make(map[int64]place, len(pages))
	for _, page := range pages {
		at[page.offset] = page
	}
	found := false
	for _, page := range p.Pages {
		if want, named := at[page.Offset]; named {
			if want.id != layout.IdentityOf(page.URL) || want.length != page.Length {
				return false
			}
			found = true
		}
	}
	return found
}

// needs reports whether a package must be listed although no book names it: the batch of one of its
// pages is neither in a listed book nor in the spool, so that the page would be lost.
func (r *remains) needs(ctx context.Context, p *foundPackage) (bool, error) {
	content, found, err := blob.Find(ctx, r.bucket, p.key)
	if err != nil || !found {
		return false, err
	}
	reader, err := webobject.Open(content)
	if err != nil {
		return false, nil
	}
	for page, err := range reader.Objects() {
		if err == nil && !r.batches[page.Version] && !r.spooled[page.Version] {
			return true, nil
		}
	}
	return false, nil
}

// listing holds the packages that the new generation is to list. The value for each package is the
// set of its former keys by which books and generations still name it.
type listing map[*foundPackage]map[string]bool

// add adds a package to the listing. The parameter key is that by which a book or generation names
// the package: its present key or a former one.
func (l listing) add(p *foundPackage, key string) {
	if l[p] == nil {
		l[p] = make(map[string]bool)
	}
	if key != p.key {
		l[p][key] = true
	}
}

// formerly returns the former keys of a package, sorted (see listing).
func (l listing) formerly(p *foundPackage) []string { return slices.Sorted(maps.Keys(l[p])) }

// toList returns the packages that the new generation must list: those named by a book that it
// lists or by the newest readable generation, and those for which needs returns true. If pages
// were erased from such a package, toList returns the last package made of it instead.
func (r *remains) toList(ctx context.Context) (listing, error) {
	wanted := make(listing)
	for _, b := range r.books {
		for key, pages := range b.pages {
			now := key
			if listed := r.newest.Package(key); listed != nil {
				now = listed.Key
			}
			if p := r.packages.of(now, pages); p != nil {
				wanted.add(p, now)
				wanted.add(p, key)
			}
		}
	}
	for _, listed := range r.newest.Packages {
		if p := r.packages.byKey[listed.Key]; p != nil {
			wanted.add(p.last, listed.Key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.packages.byKey)) {
		p := r.packages.byKey[key]
		if _, found := wanted[p.last]; !found {
			needed, err := r.needs(ctx, p.last)
			if err != nil {
				return nil, err
			}
			if !needed {
				continue
			}
		}
		wanted.add(p.last, key)
	}
	return wanted, nil
}
