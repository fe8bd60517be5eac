package book

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The numbers of the columns of a block of outcomes in version 1; most are named after a field of
// Outcome. Column 0 is textColumn.
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
	outcomeColumns1 // number of columns of a block in version 1
)

// The numbers of the columns that version 2 adds to a block of outcomes.
const (
	outcomePaused = iota + outcomeColumns1
	outcomeDelay
	outcomeFailures
	outcomeColumns2 // number of columns of a block in version 2
)

// The number of the column that version 3 adds to a block of outcomes, and the number of
// columns in version 3.
const (
	outcomeAsset = iota + outcomeColumns2
	outcomeColumns3
)

var columnsOf = map[version]int{version1: outcomeColumns1, version2: outcomeColumns2, version3: outcomeColumns3, version4: outcomeColumns3}

// outcomeWriter encodes the outcomes of a block. They must be added in the order of
// Outcome.Compare. URLs, versions and times are stored as differences from the outcome before.
type outcomeWriter struct {
	*columnWriter
	version  version
	previous Outcome
	millis   int64
}

func newOutcomeWriter(v version) *outcomeWriter {
	return &outcomeWriter{columnWriter: newColumnWriter(columnsOf[v]), version: v}
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
	if w.version >= version2 {
		w.pace(o.Pace, millis)
	}
	if w.version >= version3 {
		w.uint(outcomeAsset, numberOf(o.Asset))
	}
	w.previous, w.millis = o, millis
}

// pace encodes the Pace of an outcome. The parameter millis is the time of the outcome's answer, in
// milliseconds since 1970. The field Rest, a time, is written as one number:
//
//	the zero time                                  0
//	a time d ≥ 0 milliseconds after the answer     d + 1
//	a time d > 0 milliseconds before the answer    -d
func (w *outcomeWriter) pace(p Pace, millis int64) {
	rest := int64(0)
	if !p.Rest.IsZero() {
		if rest = p.Rest.UnixMilli() - millis; rest >= 0 {
			rest++
		}
	}
	w.int(outcomePaused, rest)
	w.uint(outcomeDelay, uint64(p.Delay.Milliseconds()))
	w.uint(outcomeFailures, uint64(p.Failures))
}

// outcomeReader decodes the outcomes that an outcomeWriter encoded.
type outcomeReader struct {
	columnReader
	version  version
	previous Outcome
	millis   int64
}

func (r *outcomeReader) reset(v version, raw []byte) error {
	r.version, r.previous, r.millis = v, Outcome{}, 0
	return r.columnReader.reset(columnsOf[v], raw)
}

// next decodes the next outcome. The caller knows from the directory how many outcomes
// the block has.
func (r *outcomeReader) next() (Outcome, error) {
	number := r.previous.Place.Site()
	number += uint32(r.uint(outcomeSite, uint64(math.MaxUint32-number)))
	var o Outcome
	o.URL = string(r.url(outcomeShared, outcomeRest))
	o.Place, _ = placeIn(number, o.URL)
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
	if r.version >= version2 {
		o.Pace = r.pace()
	}
	if r.version >= version3 {
		o.Asset = r.uint(outcomeAsset, 1) == 1
	}
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

func (r *outcomeReader) pace() (p Pace) {
	switch rest := r.int(outcomePaused); {
	case rest > 0:
		p.Rest = time.UnixMilli(r.millis + rest - 1).UTC()
	case rest < 0:
		p.Rest = time.UnixMilli(r.millis + rest).UTC()
	}
	p.Delay = time.Duration(r.uint(outcomeDelay, uint64(MaxDelay.Milliseconds()))) * time.Millisecond
	p.Failures = r.uint16(outcomeFailures)
	return p
}

// collections decodes Outcome.Collections. If the row before has the same names, it
// returns the slice of that row again, which saves memory.
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
