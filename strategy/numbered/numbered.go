// Package numbered keeps documents of which each version is an immutable JSON
// object, named by its number. The highest number is in force.
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
}

// Newest returns the document in force and its version; the zero document and
// 0 when there is none. It takes one LIST and, if there is one, one GET.
func (s Store[T]) Newest(ctx context.Context, bucket blob.Reader) (document T, version uint64, err error) {
	var newest blob.Object
	for object, err := range bucket.List(ctx, s.Prefix, "") {
		if err != nil {
			return document, 0, fmt.Errorf("cannot list %s: %w", s.Prefix, err)
		}
		if v, err := layout.ParseNumberedKey(object.Key, s.Prefix); err == nil {
			newest, version = object, v
		}
	}
	if version == 0 {
		return document, 0, nil
	}
	if newest.Size > s.Most {
		return document, 0, fmt.Errorf("cannot read %s: %d bytes, more than %d", newest.Key, newest.Size, s.Most)
	}
	content, err := bucket.Get(ctx, newest.Key, blob.Range{})
	if err == nil {
		document, err = Decode[T](content)
	}
	if err != nil {
		return document, 0, fmt.Errorf("cannot read %s: %w", newest.Key, err)
	}
	return document, version, nil
}

// Publish makes a change to the document in force and stores it under the
// version that change is told, the next. When another publisher takes the
// number, change is called again with what that one published; two that publish
// the same make one version. It returns the version in force; change returns
// false when it is the one that there is.
func (s Store[T]) Publish(ctx context.Context, bucket blob.Bucket, change func(current T, version uint64) (next T, changed bool)) (T, uint64, error) {
	for range maxRaces {
		current, version, err := s.Newest(ctx, bucket)
		if err != nil {
			return current, version, err
		}
		next, changed := change(current, version+1)
		if !changed {
			return current, version, nil
		}
		version++
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

// Create stores a valid document as a version. The same document again is
// success; another one under its number fails with blob.ErrExists.
func (s Store[T]) Create(ctx context.Context, bucket blob.Bucket, version uint64, document T) error {
	if err := document.Validate(); err != nil {
		return err
	}
	content, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if int64(len(content)) > s.Most {
		return fmt.Errorf("%d bytes, more than %d", len(content), s.Most)
	}
	return blob.CreateOnce(ctx, bucket, s.Key(version), content)
}

// Decode reads one valid document and refuses fields that it does not know:
// who wrote them meant something by them.
func Decode[T Document](content []byte) (T, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
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
