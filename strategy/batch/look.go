package batch

import (
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Look is the result of the previous request for a URL that is requested again. Its
// fields are those of book.Outcome. Digest is 0 when no page is stored.
type Look struct {
	Time        time.Time `json:"time"`
	ETag        string    `json:"etag,omitempty"`
	Modified    string    `json:"modified,omitempty"`
	Digest      uint64    `json:"digest,omitempty"`
	Body        uint64    `json:"body,omitempty"`
	Missing     bool      `json:"missing,omitempty"`     // the server answered that the page does not exist
	Collections []string  `json:"collections,omitempty"` // for which the page is stored
}

// LookOf returns the look of the last final outcome of a URL. An Unchanged outcome with
// a status of 4xx except 429 means that the page is missing. An outcome that removes
// a stored page still has the digest of that page; the look has none, because no
// later page must be compared with it.
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
