// Package fetch requests the URLs of a batch from one host and puts one spool
// object with the results: pages as compressed Web objects, an outcome for every
// URL, links, robots.txt bodies and vital signs. It uses the bucket and the web,
// but not the frontier.
//
//	message: batch.Batch as JSON
//	object:  spool/<partition>/<epoch>-<token>.spool, created only if absent
//
// Begin with Function.Run, which makes a run of the batch (run.go). The steps of a run, in their order:
//
//	robots    requests the robots.txt of each origin (robots.go)
//	ask       sends a request, and reads its answer (ask.go, body.go, dial.go)
//	digest    reads a page: its links, and whether it has changed (page.go, digester.go); sitemaps are in sitemap.go
//	prove     looks whether a page is an alias (canonical.go)
//	conclude  makes the outcome of a URL (outcome.go)
//
// A batch is dropped when its deadline has passed or its object exists. There is one
// exception: the deadline has passed, there is no object, and the batch's message was
// delivered before. Then an earlier fetch of the batch crashed, or ran out of memory or
// time, and every URL is recorded with one more attempt. (If the earlier fetch ran in this
// process, and only could not put its object, every URL is recorded as not asked.)
// URLs with attempts, or with an expired lease, are leased in small batches and at
// last one by one. So a URL that crashes every fetch is found. The batches of one
// invocation crash together: a URL of another batch fails, too, if it was alone in its
// batch and had its last attempt.
//
// Batches run concurrently. Those of one host take turns if there are more of them than the collections
// allow connections (see turns). All batches share the memory of the process (see Limits.Together). After
// each answer, fetch waits for the host's delay, or for as long as the answer took, if that is longer. Pages
// are parsed and compressed meanwhile. A host that is overloaded (429, 503) or gives no answer is not
// requested for a while: as long as Retry-After says, and at least one second, then two,
// four and so on. For the host's next batch, the spool object records the end of this pause
// and the number of failures in a row. Targets are not requested when the time until the
// deadline is too short.
//
// Redirects are not followed: the destination is recorded as a link. To the frontier it is a
// URL like any other, so that robots.txt, politeness and the check of addresses apply to it.
// The canonical address of a page is recorded in the same way.
//
// # Aliases
//
// A page may name another address of its origin as canonical (rel=canonical). If its
// collection admits that address, the page is skipped as canonical, in most cases only
// after a proof:
//
//	the canonical address is                           skipped
//	the page's own with fewer parameters, or without   without proof at the first fetch,
//	the name of an index page                          after a proof at later ones
//	any other address                                  after a proof
//
// The proof is the page at the canonical address. It is taken from the batch if the address is a
// target; otherwise it is fetched, once in a batch, as robots.txt allows. It must be a page that
// may be shown, with the same text except a few words, and must name no other canonical address. If
// it does name another, that address is tried, and so on, three addresses at most. So a page is
// stored as itself when there is no page at its canonical address, only a redirect, or a page with
// another text, such as the site's front page. If the proof is not possible now, the page is stored
// without validators (ETag and Last-Modified), and fetched in full the next time. An alias is
// requested again after eight days and then ever more rarely, and is stored when the proof fails.
//
// A URL is requested on behalf of the first of its collections: with the agent of
// that collection, under the rules of robots.txt and the directives of pages for
// this agent, and with links weighed by its topic. Addresses that are not public
// are requested if any of the collections allows them. In a collection with a
// topic, the outcome of a stored page has the weight max(1, 255 · r), where r is the
// page's relevance to the topic (0 to 1). All other outcomes have the weight of the URL.
//
// A page is stored for all of its collections: those of the target, those that had
// it before and still exist, and those that claim it (see
// membership.Members.Claiming). A collection with a topic gets only pages about the
// topic. If a page is skipped or fails, this counts for all of these collections, except
// for collections with a topic that did not request it. If the page is an alias or a
// redirect, the link to its target counts for the same collections.
//
// # Assets
//
// For a collection with assets = true the assets of pages are stored, too (see package
// collection). Whether a target is a page or an asset is decided by the media type of the
// answer; a page that no collection admits as a page is skipped. Links to assets have the
// kind 'i'. If the answer for a page is now an asset, the page counts as gone, because it
// may still be in the index. A link from a style sheet, or by a redirect of an asset, has
// one hop more than the style sheet or asset.
//
// # Revisits
//
// A page whose last outcome has a digest (see batch.Look) is stored already. It is requested with
// the validators of that outcome. If the server then sends the page instead of the answer 304,
//
//	the answer has                  the page is        recorded again
//	the same bytes                  unchanged          nothing
//	other bytes, the same digest    unchanged          its links: its navigation may differ
//	another digest                  stored again       its text and links
//
// A change of the title, or of any character shown outside of navigation, changes
// the digest. The expiry class of a page sets the time until the next fetch, from
// -4 (1.5 hours) to 6 (64 days):
//
//	unchanged, or changed only in numbers and the words beside them
//	("3 hours ago", "99 dollars"), case or punctuation               one up
//	changed in more                                                  one down
//	missing                                                          -2 or less
//
// The upper 16 bits of a digest depend only on the words that count for the expiry
// class, the other bits on all of the text. Digests of older versions of fetch
// depend on words only: a page with such a digest is stored once more when its bytes differ.
//
// If a collection requests a page, or claims it whatever its topic, but the page is not
// stored for it yet, the page is requested without validators and stored again. This alone
// does not change the expiry class. An unchanged page stays with the collections that had it.
//
// If a stored page is not stored again, its outcome has one of these states and reasons:
//
//	unchanged   -                 304, the same bytes or the same digest
//	unchanged   http <status>     4xx except 429: it is missing, to be confirmed by the next fetch
//	unchanged   robots            robots.txt forbids it to a further collection; the others keep it
//	unchanged   any other reason  it could not be fetched in MaxAttempts requests, and is kept
//	failed      http <status>     4xx, and it was missing at the last fetch
//	skipped     any reason        as at a first fetch
//
// The last two rows mean that the page is gone. Then the outcome has the digest of the page
// that was stored.
//
// # robots.txt and sitemaps
//
// The robots.txt of an origin is requested before its pages when the batch says so.
// Up to five redirects of it are followed, also to other hosts (RFC 9309); these hosts
// are requested without waiting for their delay. A robots.txt that cannot be fetched,
// also because of too many requests (429), forbids all URLs for now. The sitemaps
// that a robots.txt names become links of kind 'm'.
//
// A sitemap is read as a stream, however large, and not stored. Its entries become
// links of kind 'e', at depth 1, weighed by their priority or, for a topic, by their
// addresses. Entries of other sites become links only if a collection admits them.
// The first 1,000 sitemaps of an index become links of kind 'm', one deeper than
// the index. If a sitemap breaks off, the entries before the break count.
//
// A sitemap that was read before is requested with validators, as pages are. If its bytes are the
// same, no links are recorded. Otherwise all entries become links. If an entry has a time of change
// that is later than one day before the last fetch, its link has this time. If the sitemap cannot
// be fetched in MaxAttempts requests, its outcome is skipped as "sitemap" all the same, with the
// validators and checksum of the last fetch.
//
// All states of a URL's outcome, and their reasons:
//
//	stored      -
//	unchanged                     see Revisits
//	skipped     robots            robots.txt forbids it
//	            redirect          the link of kind 'r' names the destination
//	            canonical         the page is stored at the address in the link of kind 'c', see Aliases
//	            sitemap           it was read; the detail names what was left out
//	            type              neither text nor a document that can be read (package document), nor
//	                              an asset that a collection wants; or a page at a URL that is
//	                              admitted only as an asset
//	            unreadable        broken, locked by a password, or beyond the limits of its reader
//	            too big           more than Limits.Page bytes, or announced to be
//	            bomb              content of more than 1 MiB and 200 times the bytes sent
//	failed      no sitemap        a target that should be a sitemap is none
//	            http <status>     at once for 4xx, after MaxAttempts for 429 and 5xx
//	            address refused   the host's address is not public, and no collection allows it
//	            port refused      at a public address, a port other than 80, 443, 8080 and 8443
//	            header too big    more than 64 KiB
//	            bad address, bad redirect, encoding, not storable, not parsable
//	retry, or   timeout           after Limits.Request
//	failed      too slow          less than 1 KiB/s of body after Limits.Grace
//	            refused, no such host, tls, connection, cut short,
//	            robots unreachable, fetch died   (failed after MaxAttempts)
//	not asked   -                 time or room ran out
package fetch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Bucket is the part of blob.Bucket that fetch needs.
type Bucket interface {
	Head(ctx context.Context, key string) (int64, error)
	Create(ctx context.Context, key string, content []byte) error
}

// Function fetches batches. It is safe for concurrent use if the values of its fields are.
type Function struct {
	Bucket    Bucket
	Settings  *settings.Cache
	Transport http.RoundTripper // transport that sends the HTTP requests, such as a result of the function Transport
	Now       func() time.Time
	// function that waits for the duration d, and fails if ctx ends before
	Sleep  func(ctx context.Context, d time.Duration) error
	Agent  string // User-Agent for collections whose settings have none
	Worker string // name of this instance in the vital signs
	Limits Limits
	Log    *slog.Logger
	// Lease, if not nil, returns the end of a batch's lease. It is called before each request, because
	// the process may have renewed the lease meanwhile. When the lease has ended, the rest of the batch is
	// not requested: others may have leased its URLs. If Lease is nil, leases end at the deadlines of their
	// batches. Batches that are fetched at the same time call Lease at the same time.
	Lease func(context.Context, batch.Batch) time.Time
	// Processes, if not nil, returns the number of processes that fetch at the same time, this one included.
	// They share the limit of concurrent requests to one IP address.
	Processes func() int
	// Watch, if not nil, is called with the state of a batch when the batch begins to wait for the time
	// of its next request, before each request is sent, and when a page has arrived whose URL was not
	// stored before. Batches that are fetched at the same time call Watch at the same time, so it must be
	// safe for concurrent use.
	Watch func(Moment)

	// the latest batches for which Run returned an error in this process, so that bury does not
	// take them for batches whose fetch crashed
	failedRuns  failedRuns
	turns       turns
	topics      topics
	limits      addressLimits
	held        atomic.Int64 // see Limits.Together
	processors  slots        // places for pages that are being parsed and compressed
	large       slots        // places for bodies of more than maxSmall bytes that are being read
	decoders    decoders
	buffers     sync.Pool // buffers for reuse, of type *bytes.Buffer
	compressors sync.Pool // compressors for reuse, of type *webobject.Compressor
}

// Handle fetches the batches of an SQS event; each message is one batch. It fetches them
// concurrently, because most are of different hosts. It returns the messages that failed, which SQS
// then delivers again.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Together(ctx, f.Log, event, f.receive), nil
}

// receive decodes one message, which holds a batch as JSON, and runs the batch. If the batch's
// deadline has passed and the message was delivered before, it calls bury instead.
func (f *Function) receive(ctx context.Context, record events.SQSMessage) error {
	var b batch.Batch
	if err := message.Decode(record.Body, &b); err != nil {
		return err
	}
	if len(b.Targets) == 0 {
		return message.Terminal(errors.New("the message is no batch: it has no targets"))
	}
	if f.tooLate(b) && receives(record) > 1 {
		return f.bury(ctx, b)
	}
	return f.Run(ctx, b)
}

// Run fetches a batch and puts its spool object. It does nothing if the batch's deadline has passed
// or the object exists. It fails when the bucket fails, the settings cannot be read, or ctx is
// cancelled. Nothing was put then, and the batch may be run again. Run records its failure in
// f.failedRuns, so that bury does not take it for a crash.
func (f *Function) Run(ctx context.Context, b batch.Batch) error {
	err := f.run(ctx, b)
	if err != nil {
		f.failedRuns.add(b.Version)
	}
	return err
}

func (f *Function) run(ctx context.Context, b batch.Batch) error {
	if f.tooLate(b) {
		f.Log.InfoContext(ctx, "batch dropped: its deadline has passed", "partition", b.Storage, "crawl", b.Crawl, "batch", b.Version, "host", b.Host)
		return nil
	}
	key := layout.SpoolKey(b.Storage, b.Version)
	if _, err := f.Bucket.Head(ctx, key); err == nil {
		return nil
	} else if !errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("cannot look for %s: %w", key, err)
	}
	if len(b.Targets) > batch.MaxTargets {
		return message.Terminal(fmt.Errorf("batch %s: %d targets, at most %d are allowed", b.Version, len(b.Targets), batch.MaxTargets))
	}
	r, err := f.newRun(ctx, b)
	if err != nil {
		return err
	}
	defer r.release()
	object := r.fetch(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("batch %s was interrupted: %w", b.Version, context.Cause(ctx))
	}
	return f.put(ctx, key, object)
}

// processes returns the number of processes that fetch at the same time; 1 if it is not known.
func (f *Function) processes() int {
	if f.Processes == nil {
		return 1
	}
	return max(1, f.Processes())
}

// tooLate reports whether the deadline of a batch has passed.
func (f *Function) tooLate(b batch.Batch) bool { return !f.Now().Before(b.Deadline) }

// put stores a spool object under the key, unless an object with this key exists.
func (f *Function) put(ctx context.Context, key string, object spool.Spool) error {
	content, err := spool.Encode(object)
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", key, err)
	}
	if err := f.Bucket.Create(ctx, key, content); err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("cannot put %s: %w", key, err)
	}
	return nil
}

// MaxAttempts is the number of requests after which a temporary failure becomes
// final.
const MaxAttempts = 3

const (
	// greatest number of redirects that are followed for a robots.txt (RFC 9309, 2.3.1.2)
	maxRedirects = 5
	maxHeader    = 64 << 10 // greatest size of a response's header in bytes
	// greatest number of bytes of an unwanted body that are read, so that the connection is free for
	// the next request
	maxDrained     = 64 << 10
	maxHeaderLines = 32 << 10 // greatest size in bytes of the stored part of a response's header
	maxDetail      = 300      // greatest length of an outcome's detail in bytes
	maxFree        = 1 << 20  // number of decoded bytes up to which maxRatio is not checked
	maxRatio       = 200      // greatest number of decoded bytes for each byte transferred
	// least rate at which a body must be transferred, in bytes per second on average
	leastRate     = 1 << 10
	minRead       = 16 << 10       // least size in bytes of the buffer for each read of a body
	maxBackoff    = time.Hour      // longest pause after failures of a host
	maxRest       = 24 * time.Hour // longest pause that Retry-After can ask for
	maxSitemaps   = 1000           // greatest number of sitemaps of a sitemap index that become links
	maxPerAddress = 8              // greatest number of concurrent requests to one IP address, of all processes
	maxSmall      = 512 << 10      // decoded bytes of a body beyond which it counts as large
	maxLarge      = 4              // greatest number of large bodies that are read at the same time
	roomWait      = time.Second    // time between two looks at the memory by a batch that waits for room
	linkSize      = 256            // estimate of the memory that a link takes without its target, in bytes
	dateSlack     = 24 * time.Hour // uncertainty of the modification times in sitemaps, which are often only dates
)

// Limits are limits on sizes and times: of one batch, unless something else is said.
type Limits struct {
	Page  int64 // greatest size of a page in bytes, both as transferred and after decoding
	Batch int64 // when the pages received have this many bytes together, nothing more is requested
	// Together is for the pages of all batches that are fetched at the same time. When these pages have
	// this many bytes together, nothing more is requested until batches end and their memory becomes free:
	// a batch that has received a page ends, and one that has none waits.
	Together int64
	Request  time.Duration // longest time from sending a request to the last byte of its answer
	// a transfer may be slow during this time; afterwards its average rate must be at least 1 KiB/s
	Grace time.Duration
	// no request is sent in this time before the deadline, so that pages can still be parsed and
	// stored
	Margin time.Duration
}

// DefaultLimits returns limits that suit batches of one minute in a function with 512 MB of memory.
func DefaultLimits() Limits {
	return Limits{Page: 16 << 20, Batch: 16 << 20, Together: 128 << 20, Request: 20 * time.Second, Grace: 10 * time.Second, Margin: 10 * time.Second}
}
