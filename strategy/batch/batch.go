// Package batch defines the message from the function schedule to the function fetch: the right to
// send requests to one host until a deadline (a lease), with the URLs to request.
package batch

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Limits of a batch, which must fit in one message of a queue.
const (
	MaxTargets = 100       // maximum number of URLs of a batch
	MaxBytes   = 192 << 10 // maximum size of all targets in JSON, in bytes; a message of SQS has at most 256 KiB
)

// MaxTime is the longest duration of a batch. When it is over, no further request is sent for URLs
// of the batch.
const MaxTime = 2 * time.Minute

// Batch is a lease of up to MaxTargets URLs of one host.
type Batch struct {
	Version   layout.Version   `json:"version"`
	Crawl     int              `json:"crawl"`      // crawl partition that leased the batch
	Storage   layout.Partition `json:"storage"`    // storage partition of the batch's pages
	Host      string           `json:"host"`       // host name, and the port unless it is 80 or 443 (see address.Address)
	NotBefore time.Time        `json:"not_before"` // before this time no request is sent to the host
	Deadline  time.Time        `json:"deadline"`   // end of the lease; a fetch that begins later drops the batch
	// pause from the end of a response to the next request, in milliseconds
	DelayMillis int64 `json:"delay_ms"`
	// number of consecutive requests to the host, up to the last one, that got 429 or 503 or no answer
	Failures uint16   `json:"failures,omitempty"`
	Robots   []string `json:"robots,omitempty"` // origins whose robots.txt must be requested first
	Targets  []Target `json:"targets"`
}

// Delay returns the pause from the end of a response to the next request.
func (b Batch) Delay() time.Duration { return time.Duration(b.DelayMillis) * time.Millisecond }

// Target is one URL of a batch, with the data that fetch needs to request it.
type Target struct {
	URL    string `json:"url"` // canonical URL
	Depth  uint16 `json:"depth,omitempty"`
	Hops   uint8  `json:"hops,omitempty"`
	Weight uint8  `json:"weight,omitempty"` // priority: 255 is requested first, 1 last; 0: it has none, and the depth decides
	// Attempts is the number of requests already made for URL since its last final outcome (one
	// other than Retry).
	Attempts uint8 `json:"attempts,omitempty"`
	Exponent int16 `json:"exponent,omitempty"` // expiry class: the page should stay valid for 2^Exponent days
	// reason for which the URL is skipped without a request; "": it is requested
	Denied      string   `json:"denied,omitempty"`
	Collections []string `json:"collections,omitempty"`
	Sitemap     bool     `json:"sitemap,omitempty"` // the answer is to be read as a sitemap
	Last        *Look    `json:"last,omitempty"`    // parts of the URL's last final outcome; nil if it has none yet
}
