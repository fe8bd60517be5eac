package batch

import (
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Look is what the last look at a URL has brought, which is stored. Its fields
// are those of book.Outcome.
type Look struct {
	Time        time.Time `json:"time"`
	ETag        string    `json:"etag,omitempty"`
	Modified    string    `json:"modified,omitempty"`
	Digest      uint64    `json:"digest,omitempty"`
	Body        uint64    `json:"body,omitempty"`
	Missing     bool      `json:"missing,omitempty"`     // the server said that it is gone
	Collections []string  `json:"collections,omitempty"` // that it is stored for
}

// LookOf returns what the last final outcome of a URL says of the look. An
// Unchanged one with a status of 4xx is that of a page which the server says is
// gone; 429 says only that it was asked too often. What ended what was stored has
// the digest of the page that was, with which nothing is to be compared any more.
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
