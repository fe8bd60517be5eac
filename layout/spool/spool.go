package spool

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Page is a fetched page, already compressed as it will stand in its package.
type Page struct {
	Outcome int           // index into Ledger.Outcomes
	Run     webobject.Run // its URL is the outcome's
}

// Robots is the answer to a request for a robots.txt.
type Robots struct {
	Origin  string    // scheme://host[:port]
	Status  int       // HTTP status, 0 when there was no answer
	Body    []byte    // at most 500 KiB
	Fetched time.Time // to the millisecond
}

// Vitals are the figures of one invocation of fetch.
type Vitals struct {
	Worker  string        // who
	Elapsed time.Duration // wall time of the batch
	Bytes   int64         // received from the network, as sent
}

// Ledger is the results of a batch without bodies. Package, Offset and Length of its
// outcomes are zero; pack sets them.
type Ledger struct {
	Batch    layout.Version
	Crawl    int           // crawl partition whose frontier leased the batch
	Host     string        // politeness key of the lease
	Ended    time.Time     // end of the last response, to the millisecond
	Rest     time.Time     // the host is to be left alone until then, to the millisecond; zero: no longer than its delay
	Slow     time.Duration // what its answers took of late; 0 when there was none
	Failures uint16        // answers in a row, those of batches before included, that were 429, 503 or none
	Pages    int           // stored pages; set by Decode and ReadLedger
	Stored   int64         // bytes of their Web objects before compression; set by Decode and ReadLedger
	Outcomes []book.Outcome
	Links    []book.Link
	Robots   []Robots
	Vitals   Vitals
}

// Spool is the one object that a batch puts.
type Spool struct {
	Ledger Ledger
	Pages  []Page
}

// heading is the part of a spool that is neither a body nor in its book.
type heading struct {
	Batch    layout.Version `json:"batch"`
	Crawl    int            `json:"crawl"`
	Host     string         `json:"host"`
	Ended    int64          `json:"ended_ms"`          // since 1970
	Rest     int64          `json:"rest_ms,omitempty"` // since 1970; 0: none
	Slow     time.Duration  `json:"slow_ns,omitempty"`
	Failures uint16         `json:"failures,omitempty"`
	Worker   string         `json:"worker,omitempty"`
	Elapsed  time.Duration  `json:"elapsed_ns"`
	Bytes    int64          `json:"bytes"`
	Pages    []pageEntry    `json:"pages"`
	Robots   []robotsEntry  `json:"robots,omitempty"`
}

// pageEntry describes a page's run. The run begins where the one before ends, and its
// URL is that of the outcome.
type pageEntry struct {
	Outcome int    `json:"outcome"` // place in the book
	Length  int64  `json:"length"`  // compressed
	Check   uint32 `json:"check"`   // CRC-32C of the compressed bytes
	Size    int64  `json:"size"`    // before compression
	CRC     uint32 `json:"crc"`     // CRC-32 (IEEE) before compression
}

type robotsEntry struct {
	Origin  string `json:"origin"`
	Status  int    `json:"status"`
	Length  int    `json:"length"`
	Fetched int64  `json:"fetched_ms"`
}

// suffix is the number of bytes that ReadLedger requests: enough for most batches.
const suffix = 128 << 10

// Read reads a whole spool with one request.
func Read(ctx context.Context, r blob.Reader, key string) (Spool, error) {
	content, err := r.Get(ctx, key, blob.Range{})
	if err != nil {
		return Spool{}, fmt.Errorf("cannot read spool %s: %w", key, err)
	}
	s, err := decode(content)
	if err != nil {
		return Spool{}, fmt.Errorf("cannot read spool %s: %w", key, err)
	}
	return s, nil
}

// ReadLedger reads the ledger without the bodies of pages. It takes one request, or
// two when the ledger is larger than 128 KiB.
func ReadLedger(ctx context.Context, r blob.Reader, key string) (Ledger, error) {
	fail := func(err error) (Ledger, error) {
		return Ledger{}, fmt.Errorf("cannot read ledger of spool %s: %w", key, err)
	}
	end, err := blob.Tail(ctx, r, key, suffix, ErrDamaged, tailSize)
	if err != nil {
		return fail(err)
	}
	tail, err := cutTail(end)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	l, _, err := decodeTail(tail)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	return l, nil
}
