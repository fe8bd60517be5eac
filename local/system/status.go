package system

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Status is the state of a bucket: its URLs by state, and its objects.
type Status struct {
	Discovered int            `json:"discovered"`
	Stored     int            `json:"stored"`
	Assets     int            `json:"assets"` // number of the stored URLs that are assets of pages
	Skipped    map[string]int `json:"skipped"`
	Failed     map[string]int `json:"failed"`
	Pending    int            `json:"pending"`
	HeldBack   int            `json:"held_back"`      // number of pending URLs that wait because Only excludes them
	Unplaced   int            `json:"unplaced"`       // number of URLs that no rule of a strategy assigns to a partition
	Warnings   []string       `json:"warnings"`       // warnings about faults of published documents (see settings.Settings)
	Faults     []string       `json:"faults"`         // a sentence for each lost or damaged object, whose URLs are not counted
	Only       *control.Only  `json:"only,omitempty"` // collections and seeds to which the crawl is limited now; nil: all are crawled
	Packages   int            `json:"packages"`
	Segments   int            `json:"segments"`
	Documents  int            `json:"documents"`
	Ranked     int            `json:"ranked"` // number of documents in those segments that have ranks
	// Unvisited is the number of URLs without a stored page that searches find by the texts of links to
	// them, and UnvisitedCut the number of those left out because there are too many.
	Unvisited    int `json:"unvisited"`
	UnvisitedCut int `json:"unvisited_cut,omitempty"`
	// Dictionaries lists the dictionaries by which queries are translated into other languages,
	// and says what was left out of them because of limits.
	Dictionaries *manifest.Dictionaries `json:"dictionaries,omitempty"`
	Remarks      map[string]int         `json:"remarks,omitempty"` // number of stored pages that may be incomplete or wrong, by reason (see book.Panicked)
	Held         int64                  `json:"held"`              // size of all packages, books, segments and overlays, in bytes
	Requests     Requests               `json:"requests"`
	Bytes        Bytes                  `json:"bytes"`
	Unindexed    int                    `json:"unindexed"`              // number of pages in packages that wait to be indexed
	Unpacked     int                    `json:"unpacked"`               // number of fetched pages that wait to be packed; 0 if no system runs
	Processes    int                    `json:"processes,omitempty"`    // number of processes that fetch for the bucket, as its Redis says
	Fetching     []FetchingHost         `json:"fetching,omitempty"`     // hosts of which batches are being fetched now, by name
	Next         *frontier.Next         `json:"next_request,omitempty"` // next request, while URLs wait and no batch is being fetched
	// Crowded lists the hosts whose sitemaps are not requested for now, because too many URLs wait
	// already: more than MaxWaiting on this host, or more than MaxWaiting × frontier.WaitingFactor on
	// all hosts together. It is nil if no system runs.
	Crowded    []string `json:"crowded,omitempty"`
	MaxWaiting int64    `json:"max_waiting,omitempty"`
	// Silent lists hosts with pending URLs whose last requests got no answer, or status 429 or
	// 503.
	Silent []SilentHost `json:"silent,omitempty"`
	// Collections has the counts of each collection. If ReadStatus was called for one
	// collection, it has only the counts of that collection.
	Collections []CollectionStatus `json:"collections"`
}

// SilentHost is a host whose last requests got status 429 or 503, or no answer.
type SilentHost struct {
	Host     string    `json:"host"`
	Failures int       `json:"failures"`            // consecutive requests without an answer, or with status 429 or 503
	Rest     time.Time `json:"rest_until,omitzero"` // the host gets no request before this time
}

// Requests holds the numbers of requests to the object store so far, by kind.
type Requests struct {
	Put    int64 `json:"put"`
	Get    int64 `json:"get"`
	List   int64 `json:"list"`
	Delete int64 `json:"delete"`
	Head   int64 `json:"head"`
}

// Bytes holds the numbers of bytes sent to and received from the object store so far.
type Bytes struct {
	Read    int64 `json:"read"`
	Written int64 `json:"written"`
}

// ReadStatus reads the status of a bucket from its books, spool and manifests. Books that cannot
// be read are named in Status.Faults. The caller gives the counts for Status.Requests and
// Status.Bytes. If a collection is named, only its URLs are counted; packages, segments,
// documents and bytes are always those of the whole bucket.
func ReadStatus(ctx context.Context, bucket blob.Reader, requests countblob.Counts, name string) (Status, error) {
	inForce, err := readInForce(ctx, bucket)
	if err != nil {
		return Status{}, err
	}
	if err := checkName(inForce, name); err != nil {
		return Status{}, err
	}
	books, err := account.Survey(ctx, bucket, inForce)
	if err != nil {
		return Status{}, err
	}
	each := newTallies(inForce, name, time.Now())
	status, err := statusOf(ctx, books, requests, func(u account.URL) bool {
		each.add(u)
		return name == "" || belongs(u, name)
	})
	status.Collections, status.Warnings, status.Only = each.all, inForce.Warnings, inForce.Control.Only
	return status, err
}

// belongs reports whether a URL counts in the status of the named collection. It does in two cases:
//
//   - The last final outcome of the URL (u.Final) is that of a request for this collection.
//   - The URL is not stored, and u.Collection names this collection: the URL will be requested for
//     it, or is refused by it.
func belongs(u account.URL, name string) bool {
	return slices.Contains(u.Final.Collections, name) || u.Collection == name && u.State != account.Stored
}

// checkName returns an error if there is no collection with the name.
func checkName(s *settings.Settings, name string) error {
	var names []string
	for _, c := range s.Collections {
		names = append(names, c.Name)
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("no collection %q; there are: %s", name, strings.Join(names, ", "))
}

// statusOf returns the status of a bucket, except Collections, Warnings and Only. It calls the
// callback once for each URL. The callback reports whether to count the URL.
func statusOf(ctx context.Context, books *account.Bucket, requests countblob.Counts, of func(account.URL) bool) (Status, error) {
	status := Status{
		Skipped:  make(map[string]int),
		Failed:   make(map[string]int),
		Remarks:  make(map[string]int),
		Requests: Requests{requests.Put, requests.Get, requests.List, requests.Delete, requests.Head},
		Bytes:    Bytes{requests.Read, requests.Written},
		Faults:   []string{},
	}
	answered := make(map[string]layout.Version) // last answer with which the state of a URL was decided, by host
	pending := make(map[string]bool)            // hosts
	for u, err := range books.All(ctx, layout.Range{}) {
		if err != nil {
			return status, err
		}
		if u.Final.Status != 0 && u.Final.Version.Compare(answered[u.Address.Host]) > 0 {
			answered[u.Address.Host] = u.Final.Version
		}
		if of(u) {
			status.add(u)
			pending[u.Address.Host] = pending[u.Address.Host] || u.State == account.Pending
		}
	}
	for _, fault := range books.Faults() { // those that reading has found are among them
		status.Faults = append(status.Faults, fault.Error())
	}
	for pace := range books.Paces() {
		if host := pace.At.Host; pace.Failures > 0 && pending[host] && pace.Version.Compare(answered[host]) >= 0 {
			status.Silent = append(status.Silent, SilentHost{host, int(pace.Failures), pace.Rest})
		}
	}
	slices.SortFunc(status.Silent, func(a, b SilentHost) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), strings.Compare(a.Host, b.Host))
	})
	for _, m := range books.Manifests {
		status.Packages += len(m.Packages)
		status.Segments += len(m.Segments)
		for _, p := range m.Packages {
			if !p.Indexed {
				status.Unindexed += p.Pages
			}
		}
		status.Held += m.Bytes()
		if u := m.Unvisited; u != nil {
			status.Unvisited += u.Documents
			status.UnvisitedCut += u.Cut
		}
		if d := m.Dictionaries; d != nil && len(d.All)+len(d.Omitted) > 0 {
			status.Dictionaries = d
		}
		for _, s := range m.Segments {
			status.Documents += s.Documents
			if s.Ranks != nil {
				status.Ranked += s.Documents
			}
		}
	}
	return status, nil
}

// isAsset reports whether a stored URL is an asset of pages, such as an image.
func isAsset(u account.URL) bool { return u.Page != nil && u.Page.Asset }

// add counts a URL by its state, and by the reason if it was skipped or has failed.
func (s *Status) add(u account.URL) {
	s.Discovered++
	if u.Apart == membership.NoPartition {
		s.Unplaced++
	}
	switch u.State {
	case account.Stored:
		s.Stored++
		if isAsset(u) {
			s.Assets++
		}
		if u.Page != nil && u.Page.Reason != "" {
			s.Remarks[u.Page.Reason]++
		}
	case account.Skipped:
		s.Skipped[u.Reason]++
	case account.Failed:
		s.Failed[u.Reason]++
	case account.Pending:
		s.Pending++
		if u.Apart == membership.HeldBack {
			s.HeldBack++
		}
	}
}
