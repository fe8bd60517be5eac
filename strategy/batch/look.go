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
	Missing     bool      `json:"missing,omitempty"`     // the last answer said that the page does not exist, but it was kept (see LookOf)
	Collections []string  `json:"collections,omitempty"` // collections for which the page is stored
}

// LookOf returns what the next request for a URL needs to know of last, the URL's last final
// outcome. Digest is set only for a Stored or Unchanged outcome: after any other, there is no page
// to compare the next one with. Missing is set for an Unchanged outcome with a status of 4xx except
// 429. Such an outcome is recorded when the server says for the first time that a stored page does
// not exist: the page is kept until the next request confirms that.
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
