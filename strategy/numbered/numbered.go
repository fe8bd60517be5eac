// Package numbered keeps documents in a bucket. Each version of a document is an
// immutable JSON object, named by its number and sealed with a checksum (see
// layout.Seal). The version with the highest number that can be read is in force.
//
// # Damage
//
// A version is damaged when its bytes have changed since it was written: they are
// empty, cut off or altered. A reader learns of it and gets instead
//
//	its copy                if the copy is not damaged; nothing is lost then
//	the previous version    otherwise; the document's package says what this means
//
// `verify --repair` restores a version from its copy, or a copy from its version.
// If both are damaged, it publishes a new version with a higher number, as every
// change of the document does. A version with intact bytes that this program does not
// understand, such as one of a later program, is not damaged: reading it fails.
//
// # Newer documents
//
// A later program may write fields that this one does not know. Readers ignore them, with a warning, so
// that functions of the program before run beside those of the new one. Only the new program may change such
// a document: Publish fails, because the next version would lack the fields. So a new field must be one
// without which the program before does no harm. A document that it must refuse changes the type of a
// known field.
//
// # Hint
//
// A reader of settings would have to list the versions of all documents, and get those in force. A LIST
// is the dearest request of an object store, and each process reads the settings twice a minute. So
// there is a hint: one small object, layout.SettingsHint, with the names of all versions of all documents, and
// with the contents of those that readers of settings need. It is JSON with a seal:
//
//	{"versions": [{"key": "collections/docs/000000000001.json", "size": 400},
//	              {"key": "collections/docs/000000000002.json", "size": 411, "content": "{\"name\":\"docs\",…"}],
//	 "sum": "…"}
//
// Whoever publishes a version then replaces the hint (see Refresh), and what is published is in force for all
// readers of the hint. The hint is disposable: publishers and `verify` list the versions, and readers list
// them, too, if the hint is absent or damaged. If a publisher is killed before it has replaced the hint, or is
// an older program, which does not know of it, readers of the hint do not learn of its version until the hint
// is replaced: by the sweep some minutes later, or when the same is published again.
//
// # Format history
//
//   - 1: no seal.
//   - 2: sealed. A program that knows only format 1 refuses it.
//   - 3: a copy of each version is stored, the same bytes under layout.CopyKey.
//     Older programs ignore copies; older versions have none until they are
//     published or repaired again.
//   - 3, since 2026-11-26: there may be the hint. Older programs ignore it, but their verify reports it as
//     foreign.
package numbered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// maxRaces is the number of attempts of Publish, Republish and Refresh. An attempt fails if
// another publisher stores a version at the same time.
const maxRaces = 100

// Document is a value that is stored as JSON. Validate returns an error that says what is
// wrong with it.
type Document interface{ Validate() error }

// Store stores the numbered versions of one document in a bucket, such as those of the controls.
type Store[T Document] struct {
	Prefix string                      // prefix of the keys of all versions; keys of another form below it are ignored
	Key    func(version uint64) string // function that returns the key of the version with this number
	Most   int64                       // maximum size of a version, in bytes
	// Recover, if not nil, saves content of a damaged version. Its arguments are the newest document
	// that can be read (zero if there is none), and the bytes of the damaged version. It adds to the
	// document what can still be read in these bytes, and returns the result.
	Recover func(document T, damaged []byte) T
}

// Newest returns the document in force and its version, or the zero document and 0 if
// no version exists. It fails with ErrDamaged if versions exist and none can be read.
func (s Store[T]) Newest(ctx context.Context, bucket blob.Reader) (document T, version uint64, err error) {
	found, err := s.Find(ctx, bucket)
	if err == nil {
		err = found.Lost()
	}
	return found.Document, found.Version, err
}

// Publish stores a changed document as the next version. It returns the document and the version that
// are in force afterwards.
//
// The function change gets the document in force and the number of the next version. It returns the
// new document, or false if nothing is to be changed. Then Publish only makes sure that the copy and the
// hint of the version in force are written, so that whoever repeats a failed call completes it. Another publisher may be faster, and store a
// version with this number first. If that version is the same document, Publish succeeds and stores
// no other version. Otherwise Publish calls change again, with the other publisher's document and the
// number after it.
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
		if !changed { // an earlier publisher of this version may have been killed before it was complete
			return found.Document, found.Version, s.complete(ctx, bucket, found.Version, found.content)
		}
		if err := found.known(); err != nil {
			return found.Document, 0, err
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

// Create stores a document as the version with this number, then a second copy of it under another
// key (see layout.Copies), and then the hint (see Refresh). It fails if the document is invalid. If the
// version exists already, Create succeeds if it holds the same document, and fails with blob.ErrExists if
// it holds another one.
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
	return s.complete(ctx, bucket, version, content)
}

// complete does what follows after a version is stored: it stores its copy and writes the hint, unless
// an earlier call has done so.
func (s Store[T]) complete(ctx context.Context, bucket blob.Bucket, version uint64, content []byte) error {
	if err := s.keepCopy(ctx, bucket, version, content); err != nil {
		return err
	}
	if err := Refresh(ctx, bucket); err != nil {
		return fmt.Errorf("it is stored, but readers learn of it only when it is published again, or from the next sweep: %w", err)
	}
	return nil
}

// Decode decodes the bytes of a version, and returns the error of Validate for an invalid
// document. It ignores fields that this program does not know. Of a version without a seal it does not
// ignore them: no newer program has written it, so that the name of a field is damaged.
func Decode[T Document](content []byte) (T, error) {
	document, _, err := decode[T](content)
	return document, err
}

// decode is like Decode, and also returns the paths of the fields that were ignored.
func decode[T Document](content []byte) (document T, ignored []string, err error) {
	object, sealed, err := layout.Unseal(content)
	if err != nil {
		return document, nil, fmt.Errorf("%w: %w", errBytes, err)
	}
	if err = json.Unmarshal(object, &document); err == nil {
		ignored, err = unknown[T](object)
	}
	if err == nil {
		err = document.Validate()
	}
	if err == nil && !sealed && len(ignored) > 0 {
		err = fmt.Errorf("unknown field %q", ignored[0])
	}
	if err != nil && !sealed { // without a seal, damage cannot be told from a wrong document
		err = fmt.Errorf("%w: %w", errBytes, err)
	}
	return document, ignored, err
}
