package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring"
)

// Deletions is the content of an overlay: an object beside a segment that names the segment's dead
// documents.
type Deletions struct {
	Documents int // number of documents of the segment, dead or alive
	Dead      *roaring.Bitmap
}

// Encode returns the bytes of the overlay. The same deletions give the same bytes.
func (d Deletions) Encode() ([]byte, error) {
	if d.Documents < 0 || d.Documents > MaxDocuments || !d.Dead.IsEmpty() && uint64(d.Dead.Maximum()) >= uint64(d.Documents) {
		return nil, fmt.Errorf("cannot delete %d of %d documents: there must be at most %d, and none of the dead behind them",
			d.Dead.GetCardinality(), d.Documents, MaxDocuments)
	}
	b := append([]byte(overlayMagic), byte(deletionsKind))
	b = binary.AppendUvarint(b, uint64(d.Documents))
	from, to, next := uint32(0), uint32(0), uint32(0) // the open run is from..to-1; next is the end of the run before
	closeRun := func() {
		if to > from {
			b = binary.AppendUvarint(b, uint64(from-next))
			b = binary.AppendUvarint(b, uint64(to-from))
			next = to
		}
	}
	for it := d.Dead.Iterator(); it.HasNext(); {
		doc := it.Next()
		if doc != to || to == from {
			closeRun()
			from = doc
		}
		to = doc + 1
	}
	closeRun()
	return seal(b, 0), nil
}

// DecodeDeletions decodes an overlay that Encode has made. Errors wrap ErrDamaged.
func DecodeDeletions(content []byte) (Deletions, error) {
	fail := func(err error) (Deletions, error) {
		return Deletions{}, fmt.Errorf("cannot read deletions of %d bytes: %w", len(content), err)
	}
	p, err := openOverlay(content, deletionsKind)
	if err != nil {
		return fail(err)
	}
	documents := p.number(MaxDocuments)
	dead := roaring.New()
	for next := uint64(0); p.left() > 0; {
		from := next + p.number(documents-next)
		next = from + p.number(documents-from)
		dead.AddRange(from, next)
	}
	if p.failed {
		return fail(damaged("they do not hold what they tell of"))
	}
	return Deletions{Documents: int(documents), Dead: dead}, nil
}
