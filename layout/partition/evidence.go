package partition

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Evidence is an object that proves that a partition had later generations than the
// newest readable one.
type Evidence struct {
	Key        string // key of the object
	Generation uint64 // number of a generation that is lost; later ones may be lost, too
	Detail     string // sentence that says what the object proves; its subject, the object's key, is left out
}

// Lost returns the evidence that a partition had later generations than newest, the
// result of a recent manifest.Read. Each kind of object is evidence in its own way:
//
//	package, book, segment, overlay   the partition has no generation, although the first is committed before all of them
//	manifest                          its number is higher than that of newest, and it cannot be read
//	overlay                           its key has a number of at least newest + 2: generation newest + 1 is lost
//	epoch                             the claimer of the epoch had read a later generation
//	book, package                     it has a batch that newest has not consumed, and whose spool object is absent:
//	                                  a spool object is deleted only after a generation has consumed its batch
//
// An object that was stored, but never committed, is no evidence: its batch is still in
// the spool, or was consumed by another generation. Some losses leave no evidence. Then
// the lost commits count as if they had never been made, and their work is done again.
//
// Lost lists the objects of the partition, and reads the last epochs and all packages
// and books that are neither listed nor condemned.
func Lost(ctx context.Context, bucket blob.Reader, newest manifest.Manifest) ([]Evidence, error) {
	for {
		s := search{bucket: bucket, newest: newest, lost: make(map[layout.Version]bool)}
		if err := s.run(ctx); err != nil {
			return nil, fmt.Errorf("cannot tell whether generations of partition %s are lost: %w", newest.Partition, err)
		}
		if len(s.found) == 0 {
			return nil, nil
		}
		// The objects may belong to a generation committed since newest was read.
		current, err := manifest.Read(ctx, bucket, newest.Partition)
		if errors.Is(err, manifest.ErrDamaged) || err == nil && current.Generation <= newest.Generation {
			return s.found, nil
		}
		if err != nil {
			return nil, err
		}
		newest = current
	}
}

// search looks for evidence that the partition had later generations than newest, the newest that
// can be read.
type search struct {
	bucket blob.Reader
	newest manifest.Manifest
	found  []Evidence
	lost   map[layout.Version]bool // result of isLost for each batch that was checked
}

// run looks for all kinds of evidence, and adds it to found.
func (s *search) run(ctx context.Context) error {
	steps := []func(context.Context) error{s.manifests, s.overlays, s.epochs}
	if s.newest.Generation == 0 {
		steps = append(steps, s.anything)
	} else {
		steps = append(steps, s.books, s.packages)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) add(key string, generation uint64, format string, args ...any) {
	s.found = append(s.found, Evidence{key, generation, fmt.Sprintf(format, args...)})
}

// rest returns a clause about the generations that can still be read, for the Detail of an
// Evidence: "the newest that is left is generation 7".
func (s *search) rest() string {
	if s.newest.Generation == 0 {
		return "no generation is left"
	}
	return fmt.Sprintf("the newest that is left is generation %d", s.newest.Generation)
}

// manifests adds to the evidence each damaged manifest with a higher generation than newest, which
// is the newest that can be read. The damaged manifest proves that this later generation existed.
func (s *search) manifests(ctx context.Context) error {
	p := s.newest.Partition
	for object, err := range s.bucket.List(ctx, layout.ManifestPrefix(p), layout.ManifestKey(p, s.newest.Generation)) {
		if err != nil {
			return err
		}
		_, number, err := layout.ParseManifestKey(object.Key)
		if err != nil {
			continue // a foreign object
		}
		_, err = manifest.At(ctx, s.bucket, p, number)
		switch {
		case errors.Is(err, manifest.ErrDamaged):
			s.add(object.Key, number, "is a generation that cannot be read, and %s", s.rest())
		case err != nil && !errors.Is(err, blob.ErrAbsent):
			return err
		}
	}
	return nil
}

// overlays adds to the evidence the overlay with the highest generation in its key, if
// this is at least newest + 2: generation newest + 1 must have existed then. An overlay
// for newest + 1 proves nothing, because overlays are stored before the commit.
func (s *search) overlays(ctx context.Context) error {
	var key string
	var latest uint64
	for object, err := range s.bucket.List(ctx, layout.OverlayPrefix(s.newest.Partition), "") {
		if err != nil {
			return err
		}
		if _, number, err := layout.ParseOverlayKey(object.Key); err == nil && number > s.newest.Generation+1 && number > latest {
			key, latest = object.Key, number
		}
	}
	if key != "" {
		s.add(key, latest-1, "was made for generation %d, and %s", latest, s.rest())
	}
	return nil
}

// maxClaims is the greatest number of claims of epochs that are read to find one that names a
// generation of the partition. The search begins with the last epoch and goes back.
const maxClaims = 16

// epochs looks for the last epoch whose claim names a generation of the partition. It adds
// the claim to the evidence if that generation is later than newest.
func (s *search) epochs(ctx context.Context) error {
	var keys []string
	for object, err := range s.bucket.List(ctx, layout.Epochs, "") {
		if err != nil {
			return err
		}
		if !layout.IsForeign(object.Key) {
			keys = append(keys, object.Key)
		}
	}
	for _, key := range slices.Backward(keys[max(0, len(keys)-maxClaims):]) {
		content, err := s.bucket.Get(ctx, key, blob.Range{})
		if errors.Is(err, blob.ErrAbsent) || errors.Is(err, blob.ErrRange) {
			continue
		}
		if err != nil {
			return err
		}
		known, told := layout.ReadClaim(content).Generations[s.newest.Partition]
		if !told {
			continue
		}
		if known > s.newest.Generation {
			s.add(key, known, "was claimed by one who had read generation %d of partition %s, and %s", known, s.newest.Partition, s.rest())
		}
		return nil
	}
	return nil
}

// anything adds to the evidence the first package, book, segment and overlay under the
// partition's prefixes, as far as there are any. It is for a partition without a generation:
// generation 1 is committed before any object is stored, so each object proves a loss (see Lost).
func (s *search) anything(ctx context.Context) error {
	for key, err := range firstObjects(ctx, s.bucket, s.newest.Partition) {
		if err != nil {
			return err
		}
		s.add(key, 1, "is there, and no generation that could list it")
	}
	return nil
}

// books adds to the evidence the unlisted books with outcomes of batches that only a
// lost generation can have consumed. A damaged book proves nothing.
func (s *search) books(ctx context.Context) error {
	return s.eachUnlisted(ctx, layout.Books, func(key string) error {
		err := s.book(ctx, key)
		if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
			return nil
		}
		return err
	})
}

// book adds the book with the key to the evidence if it has an outcome of a batch that only
// a lost generation can have consumed (see isLost).
func (s *search) book(ctx context.Context, key string) error {
	opened, err := book.Open(ctx, s.bucket, key)
	if err != nil {
		return err
	}
	for o, err := range opened.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return err
		}
		if proved, err := s.batch(ctx, key, o.Version); err != nil || proved {
			return err
		}
	}
	return nil
}

// packages adds to the evidence the unlisted packages with pages of batches that only a
// lost generation can have consumed. It does nothing if there is evidence already,
// because it must read each package whole.
func (s *search) packages(ctx context.Context) error {
	if len(s.found) > 0 {
		return nil
	}
	return s.eachUnlisted(ctx, layout.Packages, func(key string) error {
		content, err := s.bucket.Get(ctx, key, blob.Range{})
		if errors.Is(err, blob.ErrAbsent) {
			return nil
		}
		if err != nil {
			return err
		}
		pages, err := webobject.Open(content)
		if err != nil {
			return nil
		}
		for page, err := range pages.Objects() {
			if err != nil {
				continue
			}
			if proved, err := s.batch(ctx, key, page.Version); err != nil || proved {
				return err
			}
		}
		return nil
	})
}

// eachUnlisted calls visit for each object of a kind that newest neither lists nor
// condemns. The parameter kind is the prefix of the kind, such as layout.Books.
func (s *search) eachUnlisted(ctx context.Context, kind string, visit func(key string) error) error {
	known := s.newest.Known()
	for object, err := range s.bucket.List(ctx, kind+s.newest.Partition.String()+"/", "") {
		if err == nil && !known[object.Key] && !layout.IsForeign(object.Key) {
			err = visit(object.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// batch adds the object with the key to the evidence if only a lost generation can have consumed
// the batch v, of which the object has pages or outcomes. The result proved is true if it was
// added.
func (s *search) batch(ctx context.Context, key string, v layout.Version) (proved bool, err error) {
	lost, known := s.lost[v]
	if !known {
		if lost, err = s.isLost(ctx, v); err != nil {
			return false, err
		}
		s.lost[v] = lost
	}
	if lost {
		s.add(key, s.newest.Generation+1, "tells of batch %s, which generation %d has not consumed, and whose spool object is gone: a later generation consumed it",
			v, s.newest.Generation)
	}
	return lost, nil
}

// isLost reports whether only a lost generation can have consumed a batch: newest has
// not consumed it, and its spool object is absent. It returns false for token 0, which
// is not a batch: repair writes Lost outcomes with it.
func (s *search) isLost(ctx context.Context, v layout.Version) (bool, error) {
	if v.Token == 0 || s.newest.HasConsumed(v) || s.newest.IsClosed(v) {
		return false, nil
	}
	_, err := s.bucket.Head(ctx, layout.SpoolKey(s.newest.Partition, v))
	if errors.Is(err, blob.ErrAbsent) {
		return true, nil
	}
	return false, err
}
