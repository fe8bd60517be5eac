package system

import (
	"context"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Status is the state of a bucket: its URLs by state, and its objects.
type Status struct {
	// Uncounted is the share of the hash space whose URLs are not counted yet, and missing in the numbers of URLs. It is
	// 0 except in buckets of hundreds of thousands of URLs, until the sweep has counted them.
	Uncounted  float64        `json:"uncounted,omitempty"`
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
	Unpacked     int                    `json:"unpacked"`               // number of fetched pages that wait to be packed; Stored counts them
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
	Silent []census.Silent `json:"silent,omitempty"`
	// Collections has the counts of each collection. If ReadStatus was called for one
	// collection, it has only the counts of that collection.
	Collections []CollectionStatus `json:"collections"`
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

// countAtOnce is about how many bytes of books ReadStatus reads at most to count URLs, which takes ten seconds of a
// processor. The sweep counts the others. Tests set it to less.
var countAtOnce int64 = 256 << 20

// ReadStatus reads the status of a bucket from its books, spool and manifests. It counts only those URLs again
// whose numbers may have changed since they were counted last (see census.Census). If these are too many, the others
// are missing (see Status.Uncounted). Books that cannot be read are named in Status.Faults. The caller gives the counts
// for Status.Requests and Status.Bytes. If a collection is named, only its URLs are counted; packages, segments,
// documents and bytes are always those of the whole bucket.
func ReadStatus(ctx context.Context, bucket blob.Reader, requests countblob.Counts, name string) (Status, error) {
	return readStatus(ctx, bucket, requests, name, census.Extent{Bytes: countAtOnce})
}

// readStatus is ReadStatus with the given extent of the count.
func readStatus(ctx context.Context, bucket blob.Reader, requests countblob.Counts, name string, e census.Extent) (Status, error) {
	inForce, err := readInForce(ctx, bucket)
	if err != nil {
		return Status{}, err
	}
	if err := inForce.CheckName(name); err != nil {
		return Status{}, err
	}
	last, err := census.Read(ctx, bucket)
	if err != nil {
		return Status{}, err
	}
	books, err := account.Survey(ctx, bucket, inForce)
	if err != nil {
		return Status{}, err
	}
	now := time.Now()
	counted, err := last.Update(ctx, bucket, books, inForce, now, e)
	if err != nil {
		return Status{}, err
	}
	status := statusOf(books, counted, requests, name)
	status.Collections = collectionsOf(counted, inForce, name, now)
	status.Warnings, status.Only = inForce.Warnings, inForce.Control.Only
	return status, nil
}

// statusOf returns the status of a bucket, except Collections, Warnings and Only. If a collection is named, the
// numbers of URLs are those of this collection.
func statusOf(books *account.Bucket, counted *census.Census, requests countblob.Counts, name string) Status {
	urls := counted.Counts(name)
	status := Status{
		Uncounted: counted.Uncounted(), Discovered: urls.Discovered, Stored: urls.Stored, Assets: urls.Assets, Skipped: urls.Skipped, Failed: urls.Failed,
		Pending: urls.Pending, HeldBack: urls.HeldBack, Unplaced: urls.Unplaced, Remarks: urls.Remarks,
		Silent:   counted.Silent(name),
		Requests: Requests{requests.Put, requests.Get, requests.List, requests.Delete, requests.Head},
		Bytes:    Bytes{requests.Read, requests.Written},
		Faults:   []string{},
	}
	for _, fault := range books.Faults() { // those that reading has found are among them
		status.Faults = append(status.Faults, fault.Error())
	}
	for _, s := range books.Spooled {
		status.Unpacked += s.Pages
	}
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
	return status
}

// CollectionStatus counts the URLs of one collection.
type CollectionStatus struct {
	Name     string              `json:"name"`
	Stored   int                 `json:"stored"`
	Assets   int                 `json:"assets"` // number of the stored URLs that are assets of pages
	Pending  int                 `json:"pending"`
	Due      int                 `json:"due"`           // number of stored pages that are due to be requested again
	Next     time.Time           `json:"next,omitzero"` // time at which the next stored page will be due
	Schedule collection.Schedule `json:"schedule,omitempty"`
	// OnTopic is the number of stored pages that are relevant to the collection's topic, by the
	// threshold of the topic. It is nil if the collection has no topic. The share of such pages among
	// all stored pages, OnTopic / (Stored - Assets), is called the harvest rate.
	OnTopic *int `json:"on_topic,omitempty"`
}

// collectionsOf returns the status of the collection with the name, or of all collections if the name is "".
func collectionsOf(counted *census.Census, s *settings.Settings, name string, now time.Time) (all []CollectionStatus) {
	for _, c := range s.Collections {
		if name != "" && c.Name != name {
			continue
		}
		urls := counted.Collection(c.Name)
		status := CollectionStatus{Name: c.Name, Stored: urls.Stored, Assets: urls.Assets, Pending: urls.Pending, Schedule: c.Schedule}
		status.Due, status.Next = urls.DueAt(now)
		if c.Topic != nil {
			status.OnTopic = &urls.OnTopic
		}
		all = append(all, status)
	}
	return all
}
