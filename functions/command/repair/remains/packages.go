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

// pack is an existing package.
type pack struct {
	key    string
	number int // its Collision
	bytes  int64
	webobject.Description
	last *pack // what is left of it after all erasing: itself, or another
}

// packs are the existing packages.
type packs struct {
	byKey  map[string]*pack
	byName map[layout.PackageName][]*pack // by the name without the number, the highest number first
}

// nameOf splits the name of a package into its name without the number, and the
// number.
func nameOf(key string) (layout.PackageName, int, error) {
	_, name, err := layout.ParsePackageKey(key)
	number := name.Collision
	name.Collision = 0
	return name, number, err
}

// readPackages reads the descriptions of all packages that are not condemned, and
// skips damaged ones.
func (r *remains) readPackages(ctx context.Context) error {
	r.packages = packs{make(map[string]*pack), make(map[layout.PackageName][]*pack)}
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
		p := &pack{key: object.Key, number: number, bytes: object.Size, Description: described}
		r.packages.byKey[p.key] = p
		r.packages.byName[name] = append(r.packages.byName[name], p)
	}
	for _, alike := range r.packages.byName {
		slices.SortFunc(alike, func(a, b *pack) int { return b.number - a.number })
		for i, p := range alike {
			p.last = p
			if left := slices.IndexFunc(alike[:i], func(q *pack) bool { return q.IsErasedFrom(p.Description) }); left >= 0 {
				p.last = alike[left]
			}
		}
	}
	return nil
}

// of returns the present form of the package that had a key and held these pages.
// If no object has the key, that is the last package of the same name that has one
// of the pages at its place and no other page at any of these places; nil if there
// is none.
func (all packs) of(key string, pages []place) *pack {
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

func (p *pack) has(pages []place) bool {
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

// needs reports whether only the package knows one of its pages: no listed book has
// the page's batch, and the batch does not wait in the spool.
func (r *remains) needs(ctx context.Context, p *pack) (bool, error) {
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

// listing holds the packages to be listed, each with the other keys under which
// books and generations name it.
type listing map[*pack]map[string]bool

func (l listing) add(p *pack, key string) {
	if l[p] == nil {
		l[p] = make(map[string]bool)
	}
	if key != p.key {
		l[p][key] = true
	}
}

func (l listing) formerly(p *pack) []string { return slices.Sorted(maps.Keys(l[p])) }

// toList returns the packages that listed books name, and those that alone know one
// of their pages.
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
