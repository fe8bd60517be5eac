package fetch

import "time"

// MaxAttempts is how often a URL is asked for before a failure that might
// pass is final.
const MaxAttempts = 3

const (
	maxRedirects   = 5         // of a robots.txt (RFC 9309, 2.3.1.2)
	maxHeader      = 64 << 10  // bytes of a response's header
	maxDrained     = 64 << 10  // bytes of an unwanted body that are read to keep its connection
	maxHeaderLines = 32 << 10  // bytes of response header that are stored
	maxDetail      = 300       // bytes of an outcome's detail
	maxFree        = 1 << 20   // bytes of content that may come of any body
	maxRatio       = 200       // bytes of content a byte sent, beyond them
	leastRate      = 1 << 10   // bytes a second of a body, on average
	minRead        = 16 << 10  // bytes of room for each read of a body
	maxBackoff     = time.Hour // after failures
	maxRest        = 24 * time.Hour
	maxSitemaps    = 1000           // of a sitemap index
	maxCrowd       = 8              // requests at once to one IP address
	linkSize       = 256            // bytes that a link takes beside its target, about
	dateSlack      = 24 * time.Hour // a page is dated the day on which it changed, in any time zone
)

// Limits bound what one batch may take.
type Limits struct {
	Page    int64         // bytes of one page, as sent and decoded
	Batch   int64         // bytes of pages after which nothing more is asked for
	Request time.Duration // from asking to the last byte
	Grace   time.Duration // after which a body must have come at 1 KiB/s on average
	Margin  time.Duration // before the deadline, kept free to parse and to put the object
}

// DefaultLimits suit a batch of a minute in a function of 512 MB.
func DefaultLimits() Limits {
	return Limits{Page: 16 << 20, Batch: 16 << 20, Request: 20 * time.Second, Grace: 10 * time.Second, Margin: 10 * time.Second}
}
