package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// MaxBytes is the maximum size of a collection in JSON or as a file, in bytes: enough for
// about 50,000 seeds.
const MaxBytes = 8 << 20

// ErrNone means that no collection has the given name, or that the collection has been removed.
var ErrNone = errors.New("no such collection")

// LoadAll returns the newest readable version of every collection that is not removed,
// sorted by name. It takes one LIST, and one GET for each collection; more if versions are
// damaged.
func LoadAll(ctx context.Context, bucket blob.Reader) ([]Collection, error) {
	all, _, err := Find(ctx, bucket)
	return all, err
}

// Find returns the newest readable version of every collection that is not removed (see
// LoadAll), and what could not be read of collections.
func Find(ctx context.Context, bucket blob.Reader) (all []Collection, faults numbered.Faults, err error) {
	versions := make(map[string][]blob.Object)
	for object, err := range bucket.List(ctx, layout.Collections, "") {
		if err != nil {
			return nil, faults, fmt.Errorf("cannot list %s: %w", layout.Collections, err)
		}
		if name, _, err := layout.ParseCollectionKey(object.Key); err == nil { // else a file that somebody left here
			versions[name] = append(versions[name], object)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		found, err := store(name).Among(ctx, bucket, versions[name])
		if err != nil {
			return nil, faults, err
		}
		faults.Add(found.Faults)
		if found.Version == 0 {
			continue
		}
		if c, key := found.Document, layout.CollectionKey(name, found.Version); layout.CollectionKey(c.Name, c.Version) != key {
			return nil, faults, fmt.Errorf("cannot read collection %s: it says that it is %s", key, layout.CollectionKey(c.Name, c.Version))
		}
		if !found.Document.isRemoved() {
			all = append(all, found.Document)
		}
	}
	return all, faults, nil
}

// EverySeed returns the addresses of all seeds and sitemaps that any readable version of any
// collection has or had. Removed collections are included. It takes one LIST, and one GET for
// each version.
func EverySeed(ctx context.Context, bucket blob.Reader) (map[string]bool, error) {
	seeds := make(map[string]bool)
	for object, err := range bucket.List(ctx, layout.Collections, "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", layout.Collections, err)
		}
		name, _, err := layout.ParseCollectionKey(object.Key)
		if err != nil {
			continue
		}
		found, err := store(name).Among(ctx, bucket, []blob.Object{object})
		if err != nil {
			return nil, err
		}
		for _, seed := range found.Document.Seeds {
			if at, err := ParseSeed(seed.URL); err == nil {
				seeds[at.URL] = true
			}
		}
		for _, url := range found.Document.Sitemaps {
			if at, err := address.Parse(url); err == nil {
				seeds[at.URL] = true
			}
		}
	}
	return seeds, nil
}

func store(name string) numbered.Store[Collection] {
	return numbered.Store[Collection]{
		Prefix: layout.CollectionPrefix(name),
		Key:    func(version uint64) string { return layout.CollectionKey(name, version) },
		Most:   MaxBytes,
		// Nothing is taken over from a damaged version: each version stands for itself.
		Recover: func(c Collection, _ []byte) Collection { return c },
	}
}

// Republish repairs a collection with damaged versions: it publishes the version in force again,
// under a new number. It does so if a newer version is damaged, or if the version in force can be
// read only from its copy. It returns the new number, or 0 if nothing is damaged. It fails with
// numbered.ErrDamaged if no version can be read.
func Republish(ctx context.Context, bucket blob.Bucket, name string) (uint64, error) {
	return store(name).Republish(ctx, bucket, func(c Collection, version uint64) (Collection, error) {
		if c.Name == "" {
			return c, numbered.ErrDamaged
		}
		c.Version = version
		return c, nil
	})
}

// isRemoved reports whether this version ends the collection: it has no seeds and no
// sitemaps. A program that is too old to know of removals finds nothing to crawl in such a
// version.
func (c Collection) isRemoved() bool { return len(c.Seeds)+len(c.Sitemaps) == 0 }

// Remove ends a collection by publishing a version without seeds. It returns the version
// that was in force before. If that version cannot be read, the result has only a Name.
// Stored pages stay. Remove fails with ErrNone if there is no such collection, or if it
// is removed already.
func Remove(ctx context.Context, bucket blob.Bucket, name string) (Collection, error) {
	var before Collection
	there := false
	_, _, err := store(name).Publish(ctx, bucket, func(current Collection, version uint64) (Collection, bool) {
		isDamaged := current.Name == "" && version > 1
		before, there = current, isDamaged || !current.isRemoved()
		before.Name = name
		return Collection{Name: name, Version: version, HostConnections: 1, Agent: "removed"}, there
	})
	if err == nil && !there {
		err = ErrNone
	}
	if err != nil {
		return Collection{}, fmt.Errorf("cannot remove collection %q: %w", name, err)
	}
	return before, nil
}

// Publish stores the collection as its next version, and returns it with Version set. The value of
// c.Version does not matter. If the newest version has the same content, Publish stores nothing and
// returns the newest version. If another publisher stores a version with the same number first,
// Publish uses the next number: the last publisher wins, and nothing is merged (see Change).
func Publish(ctx context.Context, bucket blob.Bucket, c Collection) (Collection, error) {
	return Change(ctx, bucket, c.Name, func(Collection) (Collection, error) { return c, nil })
}

// Change publishes a changed version of the named collection, as Publish does. The given function makes
// it of the version in force, which is the zero Collection if there is none, or if the collection was
// removed. If another publisher is faster, the function is called again with the version of that
// publisher, so that no change is lost.
func Change(ctx context.Context, bucket blob.Bucket, name string, change func(current Collection) (Collection, error)) (Collection, error) {
	var failed error
	published, _, err := store(name).Publish(ctx, bucket, func(current Collection, version uint64) (Collection, bool) {
		before := current
		if before.isRemoved() {
			before = Collection{}
		}
		var c Collection
		if c, failed = change(before); failed == nil {
			failed = c.Validate()
		}
		c.Version = current.Version
		if failed != nil || reflect.DeepEqual(c, current) {
			return current, false
		}
		c.Version = version
		return c, true
	})
	if err = cmp.Or(failed, err); err != nil {
		return Collection{}, fmt.Errorf("cannot publish collection %q: %w", name, err)
	}
	return published, nil
}
