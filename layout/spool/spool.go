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

// Page is a fetched page, already compressed as it will be in its package.
type Page struct {
	Outcome int           // index of the page's outcome in Ledger.Outcomes
	Run     webobject.Run // the compressed page; its URL is the URL of the outcome
}

// Robots is the answer to a request for a robots.txt.
type Robots struct {
	Origin  string    // scheme and host of the robots.txt: "scheme://host[:port]"
	Status  int       // HTTP status, 0 when there was no answer
	Body    []byte    // body of the answer, at most MaxBody bytes
	Fetched time.Time // time of the answer, to the millisecond
}

// Vitals are figures about the invocation of the function fetch that fetched a batch, such as its
// duration.
type Vitals struct {
	Worker  string        // name of the process that fetched the batch
	Elapsed time.Duration // wall-clock duration of the batch
	Bytes   int64         // bytes received from the network, before decompression
}

// Ledger holds the results of a batch without the bodies of pages. The fields Package, Offset and
// Length of its Outcomes are zero. The function pack sets them later, when it stores the pages.
type Ledger struct {
	Batch layout.Version
	Crawl int           // number of the crawl partition from whose queues (frontier) the batch was leased
	Host  string        // the host for which the batch was leased
	Ended time.Time     // time at which the last answer ended, to the millisecond
	Rest  time.Time     // time before which the host gets no request, to the millisecond; zero if there is no such time
	Slow  time.Duration // average response time: the latest one counts half, the one before a quarter, …; 0 if unknown
	// number of consecutive failures up to the end of this batch: requests answered by status 429
	// or 503, or not at all. The first of them may be in an earlier batch; 0 if the last request
	// of this batch was answered otherwise
	Failures uint16
	Pages    int   // number of stored pages; set by Read and ReadLedger
	Stored   int64 // total size in bytes of the pages' Web objects before compression; set by Read and ReadLedger
	Outcomes []book.Outcome
	Links    []book.Link
	Robots   []Robots
	Vitals   Vitals
}

// Spool is the content of a spool object: all that was fetched for one batch.
type Spool struct {
	Ledger Ledger
	Pages  []Page
}

// heading is the JSON in a spool object: all data except bodies, outcomes and links.
type heading struct {
	Batch    layout.Version `json:"batch"`
	Crawl    int            `json:"crawl"`
	Host     string         `json:"host"`
	Ended    int64          `json:"ended_ms"`          // Ledger.Ended, in milliseconds since 1970
	Rest     int64          `json:"rest_ms,omitempty"` // Ledger.Rest, in milliseconds since 1970; 0 for the zero time
	Slow     time.Duration  `json:"slow_ns,omitempty"`
	Failures uint16         `json:"failures,omitempty"`
	Worker   string         `json:"worker,omitempty"`
	Elapsed  time.Duration  `json:"elapsed_ns"`
	Bytes    int64          `json:"bytes"`
	Pages    []pageEntry    `json:"pages"`
	Robots   []robotsEntry  `json:"robots,omitempty"`
}

// pageEntry describes one stored page of the spool object. The page is stored as a run, a
// compressed Web object (see webobject.Run). The runs follow each other without gaps, in the
// order of their entries. The URL of the page is in the page's outcome.
type pageEntry struct {
	Outcome int    `json:"outcome"` // index of the page's outcome in the spool object's book (sorted by Outcome.Compare)
	Length  int64  `json:"length"`  // size of the compressed page in bytes
	Check   uint32 `json:"check"`   // CRC-32C of the compressed page
	Size    int64  `json:"size"`    // size of the Web object before compression, in bytes
	CRC     uint32 `json:"crc"`     // CRC-32 (IEEE) of the Web object before compression
}

// robotsEntry describes one answer to a request for a robots.txt, whose body is in the spool
// object. The bodies follow each other in the order of the entries.
type robotsEntry struct {
	Origin  string `json:"origin"`
	Status  int    `json:"status"`
	Length  int    `json:"length"`
	Fetched int64  `json:"fetched_ms"` // time of the answer, in milliseconds since 1970
}

// suffix is the number of bytes at the end of a spool object that ReadLedger requests:
// enough for the ledgers of most batches.
const suffix = 128 << 10

// Read reads a whole spool object with one request.
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

// ReadLedger reads the ledger of a spool object: all results of a batch without the pages
// themselves. It sends one request, or two if the ledger is larger than 128 KiB.
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
