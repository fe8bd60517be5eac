package spool

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
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

// Vitals are the signs of life of one invocation of fetch.
type Vitals struct {
	Worker  string        // who
	Elapsed time.Duration // wall time of the batch
	Bytes   int64         // received from the network, as sent
}

// Ledger is what a batch learnt, without the bodies. Package, Offset and Length
// of its outcomes are zero; pack fills them in.
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
