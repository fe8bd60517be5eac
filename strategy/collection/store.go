package collection

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// MaxBytes is the largest collection that is read or written: about 50,000
// seeds.
const MaxBytes = 8 << 20

// LoadAll returns the newest version of every collection, sorted by name. It
// takes one LIST and a GET for each. The keys of one collection follow each
// other, its versions in their order.
func LoadAll(ctx context.Context, bucket blob.Reader) ([]Collection, error) {
	var last []blob.Object
	previous := ""
	for object, err := range bucket.List(ctx, layout.Collections, "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", layout.Collections, err)
		}
		name, _, err := layout.ParseCollectionKey(object.Key)
		switch {
		case err != nil: // a file that somebody left here
		case name == previous:
			last[len(last)-1] = object
		default:
			last, previous = append(last, object), name
		}
	}
	var all []Collection
	for _, object := range last {
		c, err := read(ctx, bucket, object)
		if err != nil {
			return nil, fmt.Errorf("cannot read collection %s: %w", object.Key, err)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Collection) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func read(ctx context.Context, bucket blob.Reader, object blob.Object) (Collection, error) {
	if object.Size > MaxBytes {
		return Collection{}, fmt.Errorf("%d bytes, more than %d", object.Size, MaxBytes)
	}
	content, err := bucket.Get(ctx, object.Key, blob.Range{})
	if err != nil {
		return Collection{}, err
	}
	c, err := numbered.Decode[Collection](content)
	if err != nil {
		return Collection{}, err
	}
	if key := layout.CollectionKey(c.Name, c.Version); key != object.Key {
		return Collection{}, fmt.Errorf("it says that it is %s", key)
	}
	return c, nil
}

// Publish stores the collection as its next version and returns it with its
// number; c.Version is not looked at. If the newest version is the same but
// for the number, that one is returned. When another publisher takes the
// number, Publish goes on from there: the last one wins as a whole.
func Publish(ctx context.Context, bucket blob.Bucket, c Collection) (Collection, error) {
	if err := c.Validate(); err != nil {
		return Collection{}, fmt.Errorf("cannot publish collection %q: %w", c.Name, err)
	}
	store := numbered.Store[Collection]{
		Prefix: layout.CollectionPrefix(c.Name),
		Key:    func(version uint64) string { return layout.CollectionKey(c.Name, version) },
		Most:   MaxBytes,
	}
	published, _, err := store.Publish(ctx, bucket, func(current Collection, version uint64) (Collection, bool) {
		c.Version = current.Version
		if reflect.DeepEqual(c, current) {
			return current, false
		}
		c.Version = version
		return c, true
	})
	if err != nil {
		return Collection{}, fmt.Errorf("cannot publish collection %s: %w", c.Name, err)
	}
	return published, nil
}
