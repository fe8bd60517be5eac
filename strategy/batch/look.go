package batch

import (
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Look is the result of the last look at a URL whose page is stored. Its fields are
// those of book.Outcome.
type Look struct {
	Time        time.Time `json:"time"`
	ETag        string    `json:"etag,omitempty"`
	Modified    string    `json:"modified,omitempty"`
	Digest      uint64    `json:"digest,omitempty"`
	Body        uint64    `json:"body,omitempty"`
	Missing     bool      `json:"missing,omitempty"`     // the server said that it is gone
	Collections []string  `json:"collections,omitempty"` // that it is stored for
}

// LookOf returns the look that the last final outcome of a URL describes. An
// Unchanged outcome with a status of 4xx except 429 means that the page is missing.
// The outcome that ends a stored page has that page's digest, with which nothing
// must be compared any more.
func LookOf(last book.Outcome) *Look {
	look := &Look{
		Time:        last.Time,
		ETag:        last.ETag,
		Modified:    last.Modified,
		Body:        last.Body,
		Collections: last.Collections,
		Missing:     last.State == book.Unchanged && last.Status/100 == 4 && last.Status != http.StatusTooManyRequests,
	}
	if last.State == book.Stored || last.State == book.Unchanged {
		look.Digest = last.Digest
	}
	return look
}
