package system

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Status is what the books and the manifests say.
type Status struct {
	Discovered int            `json:"discovered"`
	Stored     int            `json:"stored"`
	Skipped    map[string]int `json:"skipped"`
	Failed     map[string]int `json:"failed"`
	Pending    int            `json:"pending"`
	Packages   int            `json:"packages"`
	Segments   int            `json:"segments"`
	Documents  int            `json:"documents"`
	Held       int64          `json:"held"` // bytes of packages, books and segments
	Requests   Requests       `json:"requests"`
	Bytes      Bytes          `json:"bytes"`
}

// Requests are the object-store requests made so far, by kind.
type Requests struct {
	Put    int64 `json:"put"`
	Get    int64 `json:"get"`
	List   int64 `json:"list"`
	Delete int64 `json:"delete"`
	Head   int64 `json:"head"`
}

// Bytes are those that went to and came from the object store so far.
type Bytes struct {
	Read    int64 `json:"read"`
	Written int64 `json:"written"`
}

// ReadStatus reads the books of a bucket.
func ReadStatus(ctx context.Context, bucket blob.Reader, requests countblob.Counts) (Status, error) {
	books, err := readBooks(ctx, bucket)
	if err != nil {
		return Status{}, err
	}
	return statusOf(books, requests, func(account.URL) {})
}

func readBooks(ctx context.Context, bucket blob.Reader) (*account.Bucket, error) {
	inForce, err := settings.Read(ctx, bucket)
	if err != nil {
		return nil, err
	}
	return account.Read(ctx, bucket, inForce)
}

// statusOf counts, and shows every URL that it counts.
func statusOf(books *account.Bucket, requests countblob.Counts, show func(account.URL)) (Status, error) {
	status := Status{
		Skipped:  make(map[string]int),
		Failed:   make(map[string]int),
		Requests: Requests{requests.Put, requests.Get, requests.List, requests.Delete, requests.Head},
		Bytes:    Bytes{requests.Read, requests.Written},
	}
	for u, err := range books.All() {
		if err != nil {
			return status, err
		}
		status.add(u)
		show(u)
	}
	for _, m := range books.Manifests {
		status.Packages += len(m.Packages)
		status.Segments += len(m.Segments)
		status.Held += m.Bytes()
		for _, s := range m.Segments {
			status.Documents += s.Documents
		}
	}
	return status, nil
}

func (s *Status) add(u account.URL) {
	s.Discovered++
	switch u.State {
	case account.Stored:
		s.Stored++
	case account.Skipped:
		s.Skipped[u.Reason]++
	case account.Failed:
		s.Failed[u.Reason]++
	case account.Pending:
		s.Pending++
	}
}
