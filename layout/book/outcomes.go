package book

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The columns of a block of outcomes, behind textColumn.
const (
	outcomeSite = iota + 1
	outcomeShared
	outcomeRest
	outcomeEpoch
	outcomeToken
	outcomeState
	outcomeReason
	outcomeDetail
	outcomeStatus
	outcomeDepth
	outcomeHops
	outcomeAttempts
	outcomeExponent
	outcomeWeight
	outcomeTime
	outcomeETag
	outcomeModified
	outcomeDigest
	outcomeBody
	outcomeCollections
	outcomePackage
	outcomeOffset
	outcomeLength
	outcomeColumns
)

// outcomeWriter writes sorted outcomes, each as its difference from the one
// before.
type outcomeWriter struct {
	*columnWriter
	previous Outcome
	millis   int64
}

func newOutcomeWriter() *outcomeWriter {
	return &outcomeWriter{columnWriter: newColumnWriter(outcomeColumns)}
}

func (w *outcomeWriter) add(o Outcome) {
	if w.size() == 0 {
		w.previous, w.millis = Outcome{}, 0
	}
	w.uint(outcomeSite, uint64(o.Place.Site()-w.previous.Place.Site()))
	w.url(outcomeShared, outcomeRest, w.previous.URL, o.URL)
	w.int(outcomeEpoch, int64(o.Version.Epoch-w.previous.Version.Epoch))
	w.int(outcomeToken, int64(o.Version.Token-w.previous.Version.Token))
	w.uint(outcomeState, uint64(o.State))
	w.word(outcomeReason, o.Reason)
	w.word(outcomeDetail, o.Detail)
	w.uint(outcomeStatus, uint64(o.Status))
	w.uint(outcomeDepth, uint64(o.Depth))
	w.uint(outcomeHops, uint64(o.Hops))
	w.uint(outcomeAttempts, uint64(o.Attempts))
	w.int(outcomeExponent, int64(o.Exponent))
	w.uint(outcomeWeight, uint64(o.Weight))
	millis := o.Time.UnixMilli()
	w.int(outcomeTime, millis-w.millis)
	w.word(outcomeETag, o.ETag)
	w.word(outcomeModified, o.Modified)
	w.uint(outcomeDigest, o.Digest)
	w.uint(outcomeBody, o.Body)
	w.uint(outcomeCollections, uint64(len(o.Collections)))
	for _, name := range o.Collections {
		w.word(outcomeCollections, name)
	}
	w.word(outcomePackage, o.Package)
	w.uint(outcomeOffset, uint64(o.Offset))
	w.uint(outcomeLength, uint64(o.Length))
	w.previous, w.millis = o, millis
}

// outcomeReader reads what outcomeWriter wrote.
type outcomeReader struct {
	columnReader
	previous Outcome
	millis   int64
}

func (r *outcomeReader) reset(raw []byte) error {
	r.previous, r.millis = Outcome{}, 0
	return r.columnReader.reset(outcomeColumns, raw)
}

// next returns the next outcome; the caller knows how many there are.
func (r *outcomeReader) next() (Outcome, error) {
	site := r.previous.Place.Site()
	site += uint32(r.uint(outcomeSite, uint64(math.MaxUint32-site)))
	var o Outcome
	o.URL = string(r.url(outcomeShared, outcomeRest))
	o.Place, _ = placeIn(site, o.URL)
	o.Version = layout.Version{
		Epoch: r.previous.Version.Epoch + uint64(r.int(outcomeEpoch)),
		Token: r.previous.Version.Token + uint64(r.int(outcomeToken)),
	}
	o.State = State(r.byte(outcomeState))
	o.Reason = r.word(outcomeReason, MaxWord)
	o.Detail = r.word(outcomeDetail, MaxDetail)
	o.Status = r.uint16(outcomeStatus)
	o.Depth = r.uint16(outcomeDepth)
	o.Hops = r.byte(outcomeHops)
	o.Attempts = r.byte(outcomeAttempts)
	exponent := r.int(outcomeExponent)
	o.Exponent = int16(exponent)
	o.Weight = r.byte(outcomeWeight)
	r.millis += r.int(outcomeTime)
	o.Time = time.UnixMilli(r.millis).UTC()
	o.ETag = r.word(outcomeETag, MaxValidator)
	o.Modified = r.word(outcomeModified, MaxValidator)
	o.Digest = r.uint(outcomeDigest, math.MaxUint64)
	o.Body = r.uint(outcomeBody, math.MaxUint64)
	o.Collections = r.collections()
	o.Package = r.word(outcomePackage, MaxWord)
	o.Offset = int64(r.uint(outcomeOffset, math.MaxInt64))
	o.Length = int64(r.uint(outcomeLength, math.MaxInt64))
	switch {
	case r.err != nil:
	case !o.State.valid():
		r.fail(outcomeState, fmt.Errorf("unknown %v", o.State))
	case exponent != int64(o.Exponent):
		r.fail(outcomeExponent, fmt.Errorf("exponent %d is too big", exponent))
	case o.Place < r.previous.Place:
		r.fail(outcomeSite, errors.New("outcomes are not sorted"))
	}
	r.previous = o
	return o, r.err
}

// collections returns the names of the row before once more if they are equal.
func (r *outcomeReader) collections() []string {
	n := int(r.uint(outcomeCollections, MaxCollections))
	same := n == len(r.previous.Collections)
	var names []string
	for i := range n {
		name := r.word(outcomeCollections, MaxWord)
		if same && name == r.previous.Collections[i] {
			continue
		}
		if same {
			names, same = slices.Clone(r.previous.Collections[:i]), false
		}
		names = append(names, name)
	}
	if same {
		return r.previous.Collections
	}
	return slices.Clip(names)
}
