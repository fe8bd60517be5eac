// Package numbered keeps documents of which each version is an immutable JSON
// object, named by its number and sealed (see layout.Seal). The highest number
// that can be read is in force.
//
// # Damage
//
// A version is damaged when its bytes are not those that were written: empty,
// cut off, changed. Whoever reads is told, and has in its place
//
//	its copy                  if that is whole: nothing is lost
//	the version before        else; what follows is for the reader of that document to say
//
// `verify --repair` restores a version from its copy, or a copy from its version;
// where both are damaged it publishes a next version above them, as whoever
// changes the document does. A version that is as it was written and that this
// program does not understand, such as one of a later program, is no damage but
// an error.
//
// # Format history
//
//   - 1: no seal.
//   - 2: sealed. A program that knows only format 1 refuses it.
//   - 3: a copy is kept of each version, the same bytes under layout.CopyKey.
//     A program of before does not know of it; versions of before have none until
//     they are published or repaired again.
package numbered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// maxRaces is how often Publish loses a number to others before it gives up.
const maxRaces = 100

// Document is a document that knows what is wrong with it.
type Document interface{ Validate() error }

// Store keeps the versions of one document.
type Store[T Document] struct {
	Prefix string // of the keys, which holds nothing else
	Key    func(version uint64) string
	Most   int64 // bytes of a version
	// Recover, unless nil, adds to a document what can be told of the damaged
	// bytes of a later version.
	Recover func(document T, damaged []byte) T
}

// Newest returns the document in force and its version; the zero document and
// 0 when there is none. It fails with ErrDamaged when none can be read of those
// that there are.
func (s Store[T]) Newest(ctx context.Context, bucket blob.Reader) (document T, version uint64, err error) {
	found, err := s.Find(ctx, bucket)
	if err == nil {
		err = found.Lost()
	}
	return found.Document, found.Version, err
}

// Publish makes a change to the document in force and stores it under the
// version that change is told, the next. When another publisher takes the
// number, change is called again with what that one published; two that publish
// the same make one version. It returns the version in force; change returns
// false when it is the one that there is.
func (s Store[T]) Publish(ctx context.Context, bucket blob.Bucket, change func(current T, version uint64) (next T, changed bool)) (T, uint64, error) {
	for range maxRaces {
		found, err := s.Find(ctx, bucket)
		if err == nil && s.Recover == nil {
			err = found.Lost()
		}
		if err != nil {
			return found.Document, 0, err
		}
		version := found.Highest + 1
		next, changed := change(found.Document, version)
		if !changed {
			return found.Document, found.Version, s.keepCopy(ctx, bucket, found.Version, found.content)
		}
		err = s.Create(ctx, bucket, version, next)
		if err == nil {
			return next, version, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return next, 0, fmt.Errorf("cannot publish %s: %w", s.Key(version), err)
		}
	}
	var none T
	return none, 0, fmt.Errorf("cannot publish a version of %s: others were faster %d times", s.Prefix, maxRaces)
}

// Create stores a valid document as a version, and then its copy. The same
// document again is success; another one under its number fails with
// blob.ErrExists.
func (s Store[T]) Create(ctx context.Context, bucket blob.Bucket, version uint64, document T) error {
	if err := document.Validate(); err != nil {
		return err
	}
	content, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if content = layout.Seal(content); int64(len(content)) > s.Most {
		return fmt.Errorf("%d bytes, more than %d", len(content), s.Most)
	}
	if err := blob.CreateOnce(ctx, bucket, s.Key(version), content); err != nil {
		return err
	}
	return s.keepCopy(ctx, bucket, version, content)
}

// Decode reads one valid document and refuses fields that it does not know:
// who wrote them meant something by them.
func Decode[T Document](content []byte) (T, error) {
	var document, none T
	object, sealed, err := layout.Unseal(content)
	if err != nil {
		return none, fmt.Errorf("%w: %w", errBytes, err)
	}
	document, err = decode[T](object)
	if err != nil && !sealed { // who knows what it was
		err = fmt.Errorf("%w: %w", errBytes, err)
	}
	return document, err
}

func decode[T Document](object []byte) (T, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.DisallowUnknownFields()
	var document, none T
	if err := decoder.Decode(&document); err != nil {
		return none, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return none, fmt.Errorf("more than one document, the second at byte %d", decoder.InputOffset())
	}
	return document, document.Validate()
}
