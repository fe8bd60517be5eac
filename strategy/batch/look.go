package batch

import (
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Look holds the parts of a URL's last final outcome (one other than Retry) that the next
// request for the URL needs. The fields without a comment are those of book.Outcome. Digest
// is 0 if no page is stored.
type Look struct {
	Time        time.Time `json:"time"`
	ETag        string    `json:"etag,omitempty"`
	Modified    string    `json:"modified,omitempty"`
	Digest      uint64    `json:"digest,omitempty"`
	Body        uint64    `json:"body,omitempty"`
	Missing     bool      `json:"missing,omitempty"`     // the last answer was that the page does not exist, but the stored page was kept (see LookOf)
	Collections []string  `json:"collections,omitempty"` // collections for which the page is stored
}

// LookOf returns those parts of a URL's last final outcome that the next request for the URL needs.
//
// Digest serves to compare the next answer with the stored page. It is set only if the outcome is
// Stored or Unchanged, because after any other outcome no page is stored.
//
// When a server says for the first time that a stored page does not exist (status 4xx, except 429), the
// page is kept, and the outcome is Unchanged. Then Missing is set. If the next request gets such an
// answer, too, the page is given up.
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
