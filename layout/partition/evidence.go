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

// Evidence is an object that proves a loss: the partition had later generations of its manifest
// than the newest that can be read.
type Evidence struct {
	Key        string // key of the object
	Generation uint64 // number of a generation that is lost; later ones may be lost, too
	Detail     string // what the object proves, to be read after its key, such as "was made for generation 9"
}

// Lost looks for evidence that generations of a partition are lost: generations of its manifest
// that are later than the parameter newest, and cannot be read any more. The caller must have got
// newest from manifest.Read a short while ago. The table says which objects are evidence, and why:
//
//	any package, book, segment or overlay, if the partition has no generation at all
//	    Generation 1 is committed before the first such object is stored.
//	a manifest that cannot be read, with a higher number than newest
//	    It is itself a lost generation.
//	an overlay whose key has the number of newest + 2, or a higher one
//	    It was made from a generation later than newest.
//	a claim of an epoch that names a later generation than newest
//	    The claimer had read that generation.
//	a book or package with outcomes or pages of a batch that newest has not consumed, if the batch's
//	spool object is absent
//	    Spool objects are deleted only after a generation has consumed their batch.
//
// A book or package that was stored, but never committed, is no evidence: its batch is still in the
// spool, or was consumed by another generation. Some losses leave no evidence. Then the lost
// commits count as if they had never been made, and their work is done again.
//
// Lost lists the objects of the partition. It reads the last claims of epochs, and all packages and
// books that newest neither lists nor has condemned.
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

// search looks for evidence that generations of a partition's manifest are lost. The field newest
// is the newest generation that can be read; the lost ones are later.
type search struct {
	bucket blob.Reader
	newest manifest.Manifest
	found  []Evidence
	lost   map[layout.Version]bool // results of isLost, so that each batch is checked once
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

// manifests adds to the evidence each damaged generation that is later than s.newest, the newest one that can be
// read. It does the same with each later generation that follows from a damaged one. Each of them proves that the
// generation existed.
func (s *search) manifests(ctx context.Context) error {
	p, last := s.newest.Partition, s.newest
	for object, err := range s.bucket.List(ctx, layout.ManifestPrefix(p), layout.ManifestKey(p, s.newest.Generation)) {
		if err != nil {
			return err
		}
		_, number, err := layout.ParseManifestKey(object.Key)
		if err != nil {
			continue // a foreign object
		}
		e, err := manifest.GetEntry(ctx, s.bucket, p, number)
		var next manifest.Manifest
		if err == nil {
			next, err = e.After(last)
		}
		switch {
		case err == nil: // committed since s.newest was read
			last = next
		case errors.Is(err, manifest.ErrDamaged):
			s.add(object.Key, number, "is a generation that cannot be read, and %s", s.rest())
		case !errors.Is(err, blob.ErrAbsent):
			return err
		}
	}
	return nil
}

// overlays looks for the overlay whose key has the highest generation number. It adds this overlay
// to the evidence if the number is 2 or more above s.newest, the newest generation that can be
// read. For example, let s.newest be generation 7. The key of an overlay for generation 9 proves
// that generation 8 existed: an overlay is stored while its generation is being made from the one
// before. An overlay for generation 8 proves nothing, because its generation may never have been
// committed.
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

// maxClaims is the greatest number of epoch claims (see layout.Claim) that the method epochs reads.
// The method begins with the last claim. It stops before this limit at the first claim that names a
// generation of the partition.
const maxClaims = 16

// epochs looks for the last object under layout.Epochs whose layout.Claim names a generation of the
// partition. It adds the object to the evidence if that generation is later than newest.
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

// anything is for a partition of which no generation can be read. Each package, book, segment or
// overlay in it proves a loss, because generation 1 is committed before any of them is stored (see
// Lost). anything adds the first object of each of these four kinds to the evidence, if there is
// one.
func (s *search) anything(ctx context.Context) error {
	for key, err := range firstObjects(ctx, s.bucket, s.newest.Partition) {
		if err != nil {
			return err
		}
		s.add(key, 1, "is there, and no generation that could list it")
	}
	return nil
}

// books adds to the evidence each unlisted book with an outcome of a lost batch (see isLost). This is
// a batch that some generation must have recorded as stored, although s.newest, the newest generation
// that can be read, does not record it. A damaged book proves nothing.
func (s *search) books(ctx context.Context) error {
	return s.eachUnlisted(ctx, layout.Books, func(key string) error {
		err := s.book(ctx, key)
		if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
			return nil
		}
		return err
	})
}

// book adds a book to the evidence if it has an outcome of a lost batch (see isLost). This is a
// batch that some generation must have recorded as stored, although s.newest, the newest generation
// that can be read, does not record it.
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

// packages adds to the evidence each unlisted package with a page of a lost batch (see isLost). This
// is a batch that some generation must have recorded as stored, although s.newest, the newest
// generation that can be read, does not record it. It must read each package whole, which is slow.
// So it does nothing if other evidence was found already.
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

// eachUnlisted calls the function visit for each object of one kind that the manifest
// s.newest neither lists nor condemns. The parameter kind is the prefix of the kind, such
// as layout.Books.
func (s *search) eachUnlisted(ctx context.Context, kind string, visit func(key string) error) error {
	// If a list of condemned objects is damaged, its objects count as unlisted. That does no harm: their batches
	// are consumed.
	known, err := knownKeys(ctx, s.bucket, &s.newest)
	if err != nil && !errors.Is(err, manifest.ErrDamaged) {
		return err
	}
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

// batch checks an unlisted object that holds pages or outcomes of the batch v. The object is
// evidence of a lost generation if s.newest does not record the batch as stored, but a later
// generation must have done so (see isLost). Then batch adds its key to the evidence, and returns
// true.
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

// isLost reports whether a generation that is now lost must have consumed a batch (recorded it as
// stored). This is so if s.newest has not consumed the batch, but the batch's spool object is absent:
// a spool object is deleted only after its batch was consumed. For token 0 the result is false. No
// batch has this token: repair gives it to the outcomes that it writes.
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
