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
	number int // number at the end of the name, raised whenever pages are erased (PackageName.Collision)
	bytes  int64
	webobject.Description
	// last package that was made of this package by erasing pages; this package itself if no page
	// was erased
	last *foundPackage
}

// foundPackages are the packages that are still in the bucket.
type foundPackages struct {
	byKey map[string]*foundPackage
	// packages by their names without the number at the end (see nameOf); packages whose names differ
	// only in this number are sorted by it, the highest first
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

// readPackages reads the descriptions of all packages that are not condemned (marked for deletion).
// It skips packages that are damaged.
func (r *remains) readPackages(ctx context.Context) error {
	r.packages = foundPackages{make(map[string]*foundPackage), make(map[layout.PackageName][]*foundPackage)}
	for object, err := range r.bucket.List(ctx, layout.PackagePrefix(r.newest.Partition), "") {
		if err != nil {
			return err
		}
		name, number, err := nameOf(object.Key)
		if err != nil || r.condemned[object.Key] {
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

// of returns the package that now holds the given pages; nil if there is none. A book says that the
// pages are in the package with the given key. Since the book was written, pages may have been erased
// from this package: then the other pages were stored as a new package, which has the same name with a
// higher number. The package with the given key may also have been deleted since:
//
//	the package with the given key     result
//	exists, and no page was erased     this package
//	exists, and pages were erased      the last package that was made of it by erasing
//	does not exist                     the candidate with the highest number
//
// Candidates are the packages with the same name and a higher number for which the method "has" returns
// true.
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

// has reports whether p may be the package to which a book refers. The parameter pages has the places
// at which, according to the book, the package has pages. At one or more of these offsets, p must
// have the page that the book names. At none of them may p have a page of another URL or length.
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

// needs reports whether a package must be listed although no listed book names it. It must be if it
// may have the only copy of some page. A page is, or will be, in another package if a listed book has
// outcomes of the page's batch, or if the batch is still in the spool and will be packed. If neither is
// true, needs returns true.
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

// listing has an entry for each package that the new manifest is to list. The value is a set of the
// package's former keys. A package gets a new key whenever it is stored anew, for instance after a
// page was erased from it. Books that were written before still name it by a former key.
type listing map[*foundPackage]map[string]bool

// add adds a package to the listing. The parameter key is that by which a book or manifest names
// the package: its present key or a former one.
func (l listing) add(p *foundPackage, key string) {
	if l[p] == nil {
		l[p] = make(map[string]bool)
	}
	if key != p.key {
		l[p][key] = true
	}
}

// formerly returns the former keys of a package, sorted. A package gets a new key whenever it is
// stored anew, for instance after pages were erased from it.
func (l listing) formerly(p *foundPackage) []string { return slices.Sorted(maps.Keys(l[p])) }

// toList returns the packages that the new manifest must list: those that a listed book names, those
// that the newest readable manifest names, and those for which the method needs returns true.
//
// When pages are erased from a package, the remaining pages are stored as a new package. If this
// happened to a package that must be listed, toList returns the newest such copy instead of it.
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
