// Package fetch asks a host for the URLs of a batch and puts one spool object
// with the results: pages as compressed Web objects, an outcome for every URL, the
// links found, robots.txt bodies and vital signs. It uses the bucket and the web,
// and not the frontier.
//
//	message: batch.Batch as JSON
//	object:  spool/<partition>/<epoch>-<token>.spool, created only if absent
//
// A batch whose deadline has passed, or whose object exists, is dropped. But when
// the message of a late batch was received before and there is no object, the
// earlier fetch ran out of memory or time, or crashed. Then every URL is recorded
// with one attempt more; or as not asked, if that fetch ran in this process and
// could not put its object. URLs with attempts, or whose lease expired, are leased
// in small batches and at last alone, so that the URL that kills its fetch is
// found, and fails without the others.
//
// Batches are of different hosts and run at the same time. The requests of one
// follow one another with the host's delay between them, or as long as the host
// takes to answer, if that is longer; pages are parsed and compressed meanwhile.
// A host that is overloaded (429, 503) or gives no answer rests: as long as
// Retry-After says, and at least one second, then two, four and so on. The ledger
// records the rest, and the host's next batch the number of failures. Targets that
// the deadline leaves no time for are not asked. Redirects are not followed: the
// destination is recorded as a link, a URL like any other to the frontier, so that
// robots.txt, politeness and the check of addresses apply to it. So is the
// canonical address of a page.
//
// # Aliases
//
// A page that names another address of its origin as canonical (rel=canonical),
// which its collection admits, is skipped as canonical:
//
//	the canonical address is                          skipped
//	the page's own with fewer parameters, or without
//	the name of an index page                         at the first look, without proof
//	any other; and any, at a later look               when the page there is proved alike
//
// The proof is the page at the canonical address: from the batch, if the address is
// a target, else fetched, once in a batch, as robots.txt allows. It must be a page
// that may be shown, with the same text except a few words, and name no other
// canonical address; if it does, that address is tried, three in a row at most. So
// a page is stored when its canonical address is missing, redirects, names the page
// itself, or is the site's front page. If the proof is not possible now, the page
// is stored without validators, and fetched in full at its next look. An alias is
// asked for again after eight days and then ever more rarely, and is stored when
// the proof fails.
//
// A URL is asked for on behalf of the first of its collections: with its agent, by
// the rules of robots.txt and the directives of pages for that agent, and with
// links weighed by its topic. Addresses that are not public are asked for if any
// collection allows it. In a collection with a topic, the weight in the outcome of
// a stored page is 255 times how much the page itself is about the topic, at least
// 1; in all other outcomes it is that of the URL.
//
// A page is stored for all of its collections: those of its target, those that had
// it before and still exist, and those that claim it, whoever has found it (see
// membership.Members.Claiming); where one of these has a topic, only if the page is about it.
// One that is skipped or fails is so for all of them but those with a topic that
// have not asked for it, and the link to where it is instead is one of each.
//
// # Revisits
//
// A page with a last look that brought a digest is stored already. It is asked for under the condition
// that it has changed since, by its validators; a page that comes anyhow counts as
// not modified if its bytes are those of the last time, which are not parsed again,
// or if its digest is: then its navigation may have changed, and its links are
// recorded. Any change of its title, or of a character that it shows outside of
// navigation, is another digest, and the page is stored anew. Its expiry class
// rises by one when it is unchanged, or has changed in no more than numbers, the
// words beside them, case or marks ("3 hours ago", "99 dollars"); falls by one when
// it has changed in more, from −4 (1.5 hours) to 6 (64 days), and falls below −1
// when it is missing.
//
// The upper 16 bits of a digest tell the words that count for the pace, the others
// all of the text. Those that were written before this told words alone: such a
// page is stored once more when it comes as other bytes.
//
// A page that a collection lacks, of those that ask for it or claim it whatever it
// is about, is asked for without a condition and stored anew; that alone does not
// change its expiry class. Whatever leaves the page as it is leaves it to the
// collections that had it.
//
//	unchanged   -                 304, the same bytes or digest; carries what holds now: validators, digest, body
//	unchanged   http <status>     4xx but 429: it is missing, which is to be confirmed
//	unchanged   robots            it is forbidden to the agent of a collection that lacks it
//	unchanged   any other reason  it could not be had in MaxAttempts, and is kept
//	failed      http <status>     4xx, and it was missing at the last look
//	skipped     any reason        as on a first look
//
// Of a page that is gone so, the outcome carries the digest of what was stored.
//
// # robots.txt and sitemaps
//
// The robots.txt of an origin is asked for before its pages when the batch says
// so, and followed through five redirects, also to other hosts (RFC 9309), which
// are asked out of turn. One that cannot be had, be it that the server is asked
// too much (429), forbids all for now. The sitemaps that it names are links of
// kind 'm' to targets that are sitemaps.
//
// A sitemap is read while it comes and not kept, however large. What it lists are
// links of kind 'e', at depth 1, weighed by their priority, or by their addresses
// for a topic; of other sites only those that one of its collections admits. The
// first 1,000 sitemaps of an index are links of kind 'm', one deeper than the index.
// What comes before a sitemap breaks counts.
//
// A sitemap that was read before is asked for under a condition, as pages are; one
// that comes as the same bytes lists nothing. Else all that it lists are links, and
// those that it says have changed since, up to a day before, tell when. One that
// could not be had in MaxAttempts, but was read before, is left as it was and
// skipped as "sitemap", too.
//
// What can become of a URL, and its reasons:
//
//	stored      -
//	unchanged                     see Revisits
//	skipped     robots            robots.txt forbids it
//	            redirect          the link of kind 'r' says where to
//	            canonical         the page is stored at the address in the link of kind 'c', see Aliases
//	            sitemap           it was read; the detail says what of it was not
//	            type              neither text nor a document that is read (package document)
//	            unreadable        broken, locked by a password, or beyond the limits of its reader
//	            too big           more than Limits.Page bytes, or it claims to be
//	            bomb              content of more than 1 MiB and 200 times what was sent
//	failed      no sitemap        it is none, although it was to be
//	            http <status>     at once for 4xx, after MaxAttempts for 429 and 5xx
//	            address refused   the host's address is not public, and no collection allows it
//	            port refused      it is none of 80, 443, 8080 and 8443, of a public address
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
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Bucket is what fetch needs of the object store. blob.Bucket has it.
type Bucket interface {
	Head(ctx context.Context, key string) (int64, error)
	Create(ctx context.Context, key string, content []byte) error
}

// Function fetches batches. It is safe for concurrent use if its parts are.
type Function struct {
	Bucket    Bucket
	Settings  *settings.Cache
	Transport http.RoundTripper // see Transport
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error // fails when ctx ends
	Agent     string                                           // the User-Agent where a collection has none
	Worker    string                                           // names this instance in its vital signs
	Limits    Limits
	Log       *slog.Logger

	survived    survived // batches that Run failed with
	topics      topics
	crowds      crowds
	decoders    decoders
	buffers     sync.Pool // *bytes.Buffer
	compressors sync.Pool // *webobject.Compressor
}

// Handle runs the batches of an SQS event, all at the same time, for each asks
// a host of its own, and returns the messages that must come again.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Together(ctx, f.Log, event, f.receive), nil
}

func (f *Function) receive(ctx context.Context, record events.SQSMessage) error {
	var b batch.Batch
	if err := message.Decode(record.Body, &b); err != nil {
		return err
	}
	if f.tooLate(b) && receives(record) > 1 {
		return f.bury(ctx, b)
	}
	return f.Run(ctx, b)
}

// Run fetches a batch and puts its spool object. It does nothing if the
// batch's deadline has passed or the object exists. It fails if the bucket
// does, be it for the settings, or if ctx is cancelled; then nothing was put,
// and the batch may be run again. That it failed is remembered: it did not die.
func (f *Function) Run(ctx context.Context, b batch.Batch) error {
	err := f.run(ctx, b)
	if err != nil {
		f.survived.add(b.Version)
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
	r, err := f.newRun(ctx, b)
	if err != nil {
		return err
	}
	object := r.fetch(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("batch %s was interrupted: %w", b.Version, context.Cause(ctx))
	}
	return f.put(ctx, key, object)
}

func (f *Function) tooLate(b batch.Batch) bool { return !f.Now().Before(b.Deadline) }

// put stores a spool object, unless another did.
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
