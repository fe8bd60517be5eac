// Package limit protects the query function from more requests than it can answer: from too many at once,
// and from clients that ask too often or read too slowly.
//
//	what is bounded                              bound                        what happens beyond it
//	requests of one client a second              Options.Rate                 refused
//	quick requests that are worked on at once    Options.AtOnce               the next ones wait
//	costly requests that are worked on at once   half of Options.AtOnce       the next ones wait
//	quick requests that wait                     MaxWaiting, 256              refused
//	costly requests that wait                    MaxCostly, 16                refused
//	time that a request waits in one queue       MaxWait, 1 s                 refused; at once if this is expected
//	answers of one client that are being sent    MaxSending, 16               refused
//	body of a request                            MaxBody, 1 MiB               refused, status 413
//	clients that are remembered                  maxClients, 16384            clients without requests are forgotten
//
// A refused request is answered by the status 429, and the header Retry-After says in how many seconds the
// client may ask again. (Only a body that is too long has the status 413, and no such header.) A request of
// which the answer has begun is never refused.
//
// # Costly requests
//
// Some queries take a hundred times as much processor time as others: those for a hundred hits, those with many
// prefixes or words with edits, and those that are searched in several languages. How costly a query is becomes
// known only while it is searched. So each request begins in the queue of quick requests. The work on it announces
// its effort (estimated processor time, see package effort) as soon as that is known. The unit of effort is about
// a microsecond.
//
//	effort                       what happens
//	up to 20,000 (quickEffort)   the request keeps its place among the quick ones until it is answered
//	more                         the request gives up this place, and waits for a place among the costly ones.
//	                             After each 2,000 units (slice) it pauses until no quick request is worked on,
//	                             but for at most 10 ms (pause), so that it always goes on
//
// So quick requests wait only for other quick ones, and costly ones take little processor time from them. A search
// for three words and ten hits has an effort of about 6,000.
//
// # Clients
//
// A client is an IPv4 address, or an IPv6 network with a prefix of 64 bits, because providers give each
// customer such a network. Behind a proxy, the address is the one that the proxy names in the header
// X-Forwarded-For. This header counts only if the operator trusts the proxy (Options.Proxies). Clients at a
// loopback address, such as 127.0.0.1, are programs of the same machine, or clients behind a proxy that is
// not among Options.Proxies. The limits Options.Rate and MaxSending do not apply to them; the other limits of
// the table do.
//
// # Order
//
// In both queues, the next request is that of the waiting client whose requests have taken the least effort
// (start-time fair queueing: Goyal, Vin and Cheng, 1996). In the queue of quick requests, a costly request counts
// as 20,000 units. So neither many requests nor costly ones of a client delay other clients. A client that seldom
// asks waits at most about as long as the work on one quick request takes.
package limit

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
)

// The limits that are the same for all servers: see the table in the package comment.
const (
	MaxWaiting = 256
	MaxCostly  = 16
	MaxWait    = time.Second
	MaxSending = 16
	MaxBody    = 1 << 20
)

// unqueued are the paths that are answered without waiting in the queue: the two by which monitoring asks
// for the state of the server, and small files. Requests for the first two do not count for Options.Rate,
// either.
var unqueued = []string{"/healthz", "/readyz", "/robots.txt", "/opensearch.xml", "/style.css", "/search.js", "/logo"}

// Options say how much is admitted.
type Options struct {
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time // returns a channel that receives when the time has passed, as time.After does

	AtOnce int // greatest number of quick requests that are worked on at once
	// Rate is the number of requests a second that a client may send on average; 0 if there is no limit. A
	// client that has not asked for three seconds may send three times as many at once (see burst).
	Rate    float64
	Proxies []netip.Prefix // addresses of proxies whose header X-Forwarded-For is trusted
}

// Handler passes requests on to another handler as the limits allow. It is safe for concurrent use.
type Handler struct {
	next    http.Handler
	options Options
	quick   *queue // every request begins here
	costly  *queue // those that have turned out to be costly
}

// New returns a Handler that passes requests on to next.
func New(next http.Handler, o Options) *Handler {
	return &Handler{
		next: next, options: o,
		quick: newQueue(o, o.AtOnce, MaxWaiting), costly: newQueue(o, max(1, o.AtOnce/2), MaxCostly),
	}
}

// Counts returns two counts: the first is of the queue of quick requests, where every request begins; the second
// is of the queue of costly requests.
func (h *Handler) Counts() (quick, costly Counts) { return h.quick.counts(), h.costly.counts() }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := slices.Index(unqueued, r.URL.Path)
	if 0 <= path && path < 2 {
		h.next.ServeHTTP(w, r)
		return
	}
	from := clientOf(r, h.options.Proxies)
	if wait := h.quick.spend(from); wait > 0 {
		refuse(w, r, http.StatusTooManyRequests, wait, "You have asked too often")
		return
	}
	if path >= 0 {
		h.next.ServeHTTP(w, r)
		return
	}
	if err := readBody(w, r); err != nil {
		refuse(w, r, http.StatusRequestEntityTooLarge, 0, fmt.Sprintf("The body of the request is too long or was not sent in full; send at most %d bytes", MaxBody))
		return
	}
	admitted, err := h.quick.enter(r.Context(), from)
	if refused, is := errors.AsType[*busy](err); is {
		refuse(w, r, http.StatusTooManyRequests, refused.wait, refused.sentence)
		return
	}
	if err != nil {
		return // the client has hung up
	}
	begun := newWork(admitted, from, h.costly)
	defer begun.sent()
	into := &answer{ResponseWriter: w, finished: begun.finished}
	defer begun.finished() // even if the handler panics
	h.next.ServeHTTP(into, r.WithContext(effort.With(r.Context(), begun)))
	into.send()
}

// readBody reads the whole body of a request into memory before the request enters the queue. So no place in
// the queue is taken by a client that sends its body slowly.
func readBody(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// refuse answers a request that is not admitted: by an api.Problem to programs, and by a small HTML page to
// people. The parameter reason is a sentence without its full stop. If wait is not 0, the answer says that
// the client may ask again after that time.
func refuse(w http.ResponseWriter, r *http.Request, status int, wait time.Duration, reason string) {
	f := request.Failure{Status: status, Sentence: reason + "."}
	if wait > 0 {
		f.Retry = seconds(wait)
		f.Sentence = fmt.Sprintf("%s; try again in %d s.", reason, f.Retry)
	}
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	if isProgram(r) {
		header.Set("Access-Control-Allow-Origin", "*") // tells scripts of other sites no more than that they must wait
		header.Set("Access-Control-Expose-Headers", "Retry-After")
		_ = api.WriteProblem(w, r, f) // a Problem can always be written as JSON
		return
	}
	f.Describe(header)
	header.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>%s</title><p>%s</p></html>\n", http.StatusText(status), html.EscapeString(f.Sentence)) // fails when the client has gone
}

// seconds returns a time in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// isProgram reports whether the answer to a request is read by a program.
func isProgram(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, "/v1/") || path == "/mcp" || path == api.Suggest || request.WantsJSON(r)
}
