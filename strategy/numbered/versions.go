package numbered

import (
	"context"
	"fmt"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Kept is a cache of the versions of one document that this process has read. It needs no expiry,
// because versions never change. The zero value is ready to use. A Kept is safe for concurrent use.
type Kept[T Document] struct {
	mu       sync.Mutex // protects versions
	versions map[uint64]T
}

func (k *Kept[T]) get(version uint64) (T, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	document, found := k.versions[version]
	return document, found
}

func (k *Kept[T]) put(version uint64, document T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.versions == nil {
		k.versions = make(map[uint64]T)
	}
	k.versions[version] = document
}

// Version is one stored version of a document, as Walk has read it.
type Version[T Document] struct {
	Number   uint64
	Document T
	IsWhole  bool   // whether Document could be read, from the version or from its copy; if not, Document is zero
	Ignored  string // sentence on fields that this program does not know; "" if there are none
	Damage   error  // says why the version itself cannot be read, and names its key; nil if it can be read
}

// Walk reads the stored versions, the newest first, and passes each of them to the given function. It
// ends when the function returns true, or after the last version. It takes one LIST, and one GET for
// each version that is not in the given cache.
func (s Store[T]) Walk(ctx context.Context, bucket blob.Reader, kept *Kept[T], enough func(Version[T]) bool) error {
	var objects []blob.Object
	var numbers []uint64
	for object, err := range bucket.List(ctx, s.Prefix, "") {
		if err != nil {
			return fmt.Errorf("cannot list %s: %w", s.Prefix, err)
		}
		if number, err := layout.ParseNumberedKey(object.Key, s.Prefix); err == nil {
			objects, numbers = append(objects, object), append(numbers, number)
		}
	}
	for i := len(objects) - 1; i >= 0; i-- {
		v := Version[T]{Number: numbers[i]}
		if v.Document, v.IsWhole = kept.get(v.Number); !v.IsWhole {
			r, err := s.read(ctx, bucket, objects[i])
			if err != nil {
				return fmt.Errorf("cannot read %s: %w", objects[i].Key, err)
			}
			v.Document, v.IsWhole = r.document, r.isWhole
			if len(r.ignored) > 0 {
				v.Ignored = ignoring(objects[i].Key, r.ignored)
			}
			if r.damage != nil {
				v.Damage = fmt.Errorf("cannot read %s: %w", objects[i].Key, r.damage)
			} else if v.Ignored == "" { // else each caller is to learn of it
				kept.put(v.Number, v.Document)
			}
		}
		if enough(v) {
			return nil
		}
	}
	return nil
}
