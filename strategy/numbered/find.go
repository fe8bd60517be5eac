package numbered

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// ErrDamaged means that a document has stored versions, but none of them can be read.
var ErrDamaged = errors.New("no version of it can be read")

// errBytes means that the bytes of a version have changed since it was written.
var errBytes = errors.New("it is damaged")

// Damaged describes a version of a document whose object cannot be read.
type Damaged struct {
	Key     string
	Copied  bool   // the version's copy can be read, and is used instead
	Instead uint64 // number of the version in force; 0: no version can be read
	Reason  string // why the version cannot be read
}

// String returns a sentence that says which object is damaged, what is used instead, and
// what to do.
func (d Damaged) String() string {
	serves := "and no version before it can be read"
	switch {
	case d.Copied:
		serves = "and its copy is read in its place"
	case d.Instead > 0:
		serves = fmt.Sprintf("and version %d is in force in its place", d.Instead)
	}
	return fmt.Sprintf("%s cannot be read (%s), %s; run `bucketsearch verify --repair`, or publish it again", d.Key, d.Reason, serves)
}

// Faults are what could not be read of documents.
type Faults struct {
	// Damaged holds the damaged versions that are newer than the version in force, the newest
	// first. If the version in force could be read only from its copy, it comes last in Damaged.
	Damaged []Damaged
	// Ignored has a sentence for each version in force that has fields which this program does not know.
	Ignored []string
}

// Add adds the faults of another document.
func (f *Faults) Add(more Faults) {
	f.Damaged, f.Ignored = append(f.Damaged, more.Damaged...), append(f.Ignored, more.Ignored...)
}

// Found describes the stored versions of a document: the version in force, and damaged newer
// versions.
type Found[T Document] struct {
	Document T      // document in force, to which Store.Recover has added what it could read of damaged versions
	Version  uint64 // number of the version in force; 0: no version, or none that can be read
	Highest  uint64 // number of the highest version, readable or not
	Faults

	content []byte // bytes of Version as stored; nil if Version is 0
}

// known returns an error if the version in force has fields that this program does not know. A next version
// would lack them.
func (f *Found[T]) known() error {
	if len(f.Ignored) == 0 {
		return nil
	}
	return fmt.Errorf("cannot publish a next version, because it would lack fields of this one: %s", f.Ignored[0])
}

// Lost returns an error that wraps ErrDamaged if the document has versions, but none can be
// read; else nil.
func (f *Found[T]) Lost() error {
	if f.Version > 0 || len(f.Damaged) == 0 {
		return nil
	}
	return fmt.Errorf("%v: %w", f.Damaged[0], ErrDamaged)
}

// Find returns the version in force and the damaged versions that are newer. It takes
// one LIST, and one GET for each of these versions. A damaged version takes a second GET,
// for its copy.
func (s Store[T]) Find(ctx context.Context, bucket blob.Reader) (Found[T], error) {
	var versions []blob.Object
	for object, err := range bucket.List(ctx, s.Prefix, "") {
		if err != nil {
			return Found[T]{}, fmt.Errorf("cannot list %s: %w", s.Prefix, err)
		}
		if _, err := layout.ParseNumberedKey(object.Key, s.Prefix); err == nil {
			versions = append(versions, object)
		}
	}
	return s.Among(ctx, bucket, versions)
}

// Among returns the version in force and the damaged versions that are newer, as Find does, but
// without a LIST request. The parameter versions holds the objects of all versions, which the caller
// has listed, in ascending order.
func (s Store[T]) Among(ctx context.Context, bucket blob.Reader, versions []blob.Object) (found Found[T], err error) {
	var damaged [][]byte
	if len(versions) > 0 {
		found.Highest = s.number(versions[len(versions)-1])
	}
	for _, object := range slices.Backward(versions) {
		r, err := s.read(ctx, bucket, object)
		if err != nil {
			return found, fmt.Errorf("cannot read %s: %w", object.Key, err)
		}
		if r.damage != nil {
			found.Damaged = append(found.Damaged, Damaged{Key: object.Key, Copied: r.isWhole, Reason: r.damage.Error()})
		}
		if r.isWhole {
			found.Document, found.Version, found.content = r.document, s.number(object), r.content
			if len(r.ignored) > 0 {
				found.Ignored = []string{ignoring(object.Key, r.ignored)}
			}
			break
		}
		damaged = append(damaged, r.content)
	}
	for i := range found.Damaged {
		found.Damaged[i].Instead = found.Version
	}
	if s.Recover != nil {
		for _, content := range slices.Backward(damaged) {
			found.Document = s.Recover(found.Document, content)
		}
	}
	return found, nil
}

// number returns the number of a version from its key, which must be the key of a version.
func (s Store[T]) number(version blob.Object) uint64 {
	number, _ := layout.ParseNumberedKey(version.Key, s.Prefix) // no error: the version was listed by this key
	return number
}

// reading is the result of reading a version. If the version is damaged, but its copy is not, document
// and content are those of the copy.
type reading[T Document] struct {
	document T
	ignored  []string // paths of fields of the document that this program does not know
	content  []byte   // bytes of the document; if isWhole is false, the damaged bytes of the version
	isWhole  bool     // the version or its copy could be read
	damage   error    // why the version itself could not be read (wraps errBytes); nil if it could
}

// read reads a version or, if the version is damaged, its copy. It fails if the object store fails.
// It also fails if the bytes are undamaged, but are not a valid document.
func (s Store[T]) read(ctx context.Context, bucket blob.Reader, object blob.Object) (r reading[T], err error) {
	if object.Size > s.Most {
		r.damage = fmt.Errorf("%w: %d bytes, more than %d", errBytes, object.Size, s.Most)
	} else {
		if r.content, err = bucket.Get(ctx, object.Key, blob.Range{}); err != nil {
			return r, err
		}
		r.document, r.ignored, r.damage = decode[T](r.content)
		if r.damage != nil && !errors.Is(r.damage, errBytes) {
			return r, r.damage
		}
	}
	if r.isWhole = r.damage == nil; r.isWhole {
		return r, nil
	}
	content, found, err := readSealed(ctx, bucket, layout.CopyKey(object.Key))
	if err != nil || !found {
		return r, err
	}
	r.content, r.isWhole = content, true
	r.document, r.ignored, err = decode[T](content)
	return r, err
}

// Republish repairs a document with damaged versions by publishing it again, as the next version. It
// does so if a version newer than the one in force is damaged, or if the version in force could be
// read only from its copy. It returns the number of the new version, or 0 if no version is damaged.
//
// The given function makes the new version. Its arguments are the document in force (the zero document
// if no version can be read) and the number of the new version. If the function fails, nothing is
// published.
func (s Store[T]) Republish(ctx context.Context, bucket blob.Bucket, as func(document T, version uint64) (T, error)) (uint64, error) {
	for range maxRaces {
		found, err := s.Find(ctx, bucket)
		if err != nil || len(found.Damaged) == 0 {
			return 0, err
		}
		if err := found.known(); err != nil {
			return 0, err
		}
		next, err := as(found.Document, found.Highest+1)
		if err == nil {
			err = s.Create(ctx, bucket, found.Highest+1, next)
		}
		if err == nil {
			return found.Highest + 1, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return 0, fmt.Errorf("cannot publish %s: %w", s.Key(found.Highest+1), err)
		}
	}
	return 0, fmt.Errorf("cannot publish a version of %s: others were faster %d times", s.Prefix, maxRaces)
}
