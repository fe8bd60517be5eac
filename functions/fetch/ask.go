package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// request is one HTTP GET that is to be sent.
type request struct {
	url   string
	agent string // value of the header User-Agent
	// result of the last fetch of the URL (see batch.Look), whose ETag and Last-Modified make the
	// request conditional; nil for an unconditional request
	unless *batch.Look
	limit  int64 // greatest size of the body in bytes, both as transferred and after decoding
	// true: a body of any media type is read, and cut at the limit; false: only a body of certain
	// types is read (see wants), and a body beyond the limit is an error
	lenient bool
	// the body is read even if it is an asset of a page, such as an image or style sheet
	assets bool
	away   bool            // the request goes to another host than the batch's, and does not wait for the delay between requests
	stream func(io.Reader) // if not nil, stream reads the body, or a part of it, and answer.body stays empty
}

// answer is the result of a request: an error, or an HTTP response. The body is empty
// unless the status is 2xx and request.wants accepts the media type.
type answer struct {
	status  int // HTTP status; 0 if no response came
	header  http.Header
	body    []byte     // decoded body: its Content-Encoding is undone
	sent    int64      // bytes of the body as transferred, before decoding
	address netip.Addr // IP address of the server
	began   time.Time
	ended   time.Time
	err     error
}

// ask sends one request and reads the answer, all within the time Limits.Request. It does not
// follow redirects.
func (f *Function) ask(ctx context.Context, r request) (a answer) {
	a.began = f.Now()
	defer func() { a.ended = f.Now() }()
	ctx, cancel := context.WithTimeout(ctx, f.Limits.Request)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		a.address = remoteAddress(c.Conn)
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		a.err = err
		return a
	}
	req.Header.Set("User-Agent", r.agent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain;q=0.9, application/xml;q=0.9, application/pdf;q=0.8, */*;q=0.1")
	req.Header.Set("Accept-Encoding", acceptEncoding)
	if r.unless != nil && r.unless.ETag != "" {
		req.Header.Set("If-None-Match", r.unless.ETag)
	}
	if r.unless != nil && r.unless.Modified != "" {
		req.Header.Set("If-Modified-Since", r.unless.Modified)
	}
	response, err := f.Transport.RoundTrip(req)
	if err != nil {
		a.err = err
		return a
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	leave := func() {}
	defer func() { leave() }() // also if a decoder panics
	w := &wire{from: response.Body, limit: r.limit, grace: f.Limits.Grace, now: f.Now, began: f.Now()}
	w.large = func() (err error) {
		leave, err = f.enterLarge(ctx)
		return err
	}
	a.body, a.err = f.content(r, response, w)
	a.sent = w.sent
	return a
}

// enterLarge waits until fewer than maxLarge large bodies are being read, so that the caller may read one
// more, and must call leave after it. It fails with errNoRoom if ctx ends first, or if Limits.Together
// is reached by then. With an error, leave does nothing.
func (f *Function) enterLarge(ctx context.Context) (leave func(), err error) {
	leave, err = f.large.enter(ctx, maxLarge)
	if err != nil {
		return func() {}, errNoRoom
	}
	if f.held.Load() >= f.Limits.Together {
		leave()
		return func() {}, errNoRoom
	}
	return leave, nil
}

// content reads the body of a response and returns it decoded. It returns nil if the status is not
// 2xx, the request does not want the media type, or r.stream has read the body.
func (f *Function) content(r request, response *http.Response, w *wire) ([]byte, error) {
	if response.StatusCode/100 != 2 || !r.wants(response.Header.Get("Content-Type")) {
		// Drained so that the connection can be reused; an error here does not matter.
		_, _ = io.CopyN(io.Discard, w, maxDrained)
		return nil, nil
	}
	if response.ContentLength > r.limit && !r.lenient {
		return nil, fmt.Errorf("%w: it claims %d bytes, at most %d are read", errTooBig, response.ContentLength, r.limit)
	}
	if r.stream != nil {
		return nil, f.stream(response.Header.Get("Content-Encoding"), w, r.limit, r.stream)
	}
	body, err := f.read(response.Header.Get("Content-Encoding"), w, r.limit)
	switch {
	case r.lenient && errors.Is(err, errTooBig):
		return body, nil
	case err != nil:
		return nil, err
	}
	return body, nil
}

// wants reports whether the body of an answer with this Content-Type must be read. This is so if
//
//   - the field lenient is true, as in requests for robots.txt and sitemaps;
//   - a page of this media type may be stored;
//   - the field assets is true, and this is the type of an asset, such as an image; or
//   - the type is so vague that only the first bytes of the body show what the body is.
func (r request) wants(contentType string) bool {
	return r.lenient || document.MayBeReadable(contentType) || r.assets && document.IsAsset(contentType)
}

// remoteAddress returns the IP address of the server; the zero address when the
// connection is not TCP.
func remoteAddress(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// page requests target i of the batch, which is not a sitemap, and passes the answer to the method
// take. The parameter delay is the pause that robots.txt wants between requests.
func (r *run) page(ctx context.Context, i int, agent string, delay time.Duration, d *digester) {
	p := r.pageOf(i)
	a, asked := r.ask(ctx, request{url: p.address.URL, agent: agent, limit: r.f.Limits.Page, unless: p.known, assets: p.wantsAssets()}, delay)
	if asked {
		r.take(p, a, d)
	}
}

// pageOf returns target i of the batch as a page that has no answer yet.
func (r *run) pageOf(i int) page {
	t := r.batch.Targets[i]
	p := page{index: i, target: t, address: r.targets[i], behalf: r.behalf, claims: *r.claiming(i), parse: document.Read, replayed: r.replayed}
	p.known = confirmable(t, p.sure)
	return p
}

// take handles the answer to the request for page p. If the answer has a body to parse, take sends
// the page to the digester's worker goroutines, which complete the page's outcome. Otherwise take
// completes the outcome itself.
func (r *run) take(p page, a answer, d *digester) {
	r.receive(int64(len(a.body)))
	o := r.answered(p.index, a)
	if a.err != nil {
		conclude(o, p.target, judge(a.err))
	} else if isRedirect(a) {
		conclude(o, p.target, r.redirect(p.index, a))
	} else if v, final := judgeStatus(a, p.known); !final {
		p.answer = a
		if storedLook(p.target) == nil {
			r.pages++
			r.tell(time.Time{})
		}
		d.pages <- p
	} else {
		if v.state == book.Unchanged {
			o.ETag, o.Modified = validators(a, p.known)
		}
		conclude(o, p.target, v)
	}
}

// answered counts an attempt for target i, writes the status and time of the answer into the
// target's outcome, and returns the outcome.
func (r *run) answered(i int, a answer) *book.Outcome {
	o := &r.ledger.Outcomes[i]
	o.Attempts, o.Status, o.Time = more(o.Attempts), uint16(a.status), millisecond(a.ended)
	return o
}

// redirect records the destination of a redirect as a link from target i, and returns the state and
// reason for the target's outcome. The link has the kind book.Sitemap or book.Asset if the target
// is a sitemap or an asset, else book.Redirect.
func (r *run) redirect(i int, a answer) verdict {
	to, err := r.targets[i].Resolve(a.location())
	if err != nil {
		return verdict{book.Failed, "bad redirect", fmt.Sprintf("%s: %v", http.StatusText(a.status), err)}
	}
	o, kind := r.ledger.Outcomes[i], book.Redirect
	switch {
	case r.batch.Targets[i].Sitemap:
		kind = book.Sitemap
	case o.Asset:
		kind = book.Asset
	}
	r.links[i] = []book.Link{{
		Source: r.targets[i].ID, Target: to.URL, Place: to.Place, Kind: kind, Region: book.Text,
		Depth: o.Depth, Hops: more(o.Hops), Weight: r.batch.Targets[i].Weight, Collection: collectionOf(o),
	}}
	return verdict{book.Skipped, membership.Redirect, "to " + to.URL}
}

// addressLimits limits the concurrent requests to one IP address, which many hosts may
// share. The zero value is ready to use.
type addressLimits struct {
	mu   sync.Mutex                   // protects the fields below
	at   map[netip.Addr]*addressLimit // by IP address: its running and waiting requests; no entry if there are none
	last map[string]netip.Addr        // by host: IP address from which its last answer came; at most maxNames
}

// addressLimit counts the requests to one IP address that run, or wait to be sent.
type addressLimit struct {
	places *semaphore.Weighted // of maxPerAddress places
	users  int                 // number of running and waiting requests
}

// enter waits until a request to an address may be sent: together with those that run, there must be at
// most maxPerAddress / processes of them, or one if that is less. The caller must call leave after its
// request. enter fails if ctx ends first. The zero address has no limit: it stands for a host whose
// address is not known yet.
func (c *addressLimits) enter(ctx context.Context, a netip.Addr, processes int) (leave func(), err error) {
	if !a.IsValid() {
		return func() {}, nil
	}
	here, places := c.join(a), int64(min(processes, maxPerAddress))
	if err := here.places.Acquire(ctx, places); err != nil {
		c.part(a)
		return nil, context.Cause(ctx)
	}
	return func() {
		here.places.Release(places)
		c.part(a)
	}, nil
}

// of returns the IP address from which the last answer of a host came, in this batch of the host or an
// earlier one; the zero address if it is not known.
func (c *addressLimits) of(host string) netip.Addr {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[host]
}

// answered records the IP address from which an answer of a host came. The zero address, of a request
// without an answer, leaves the earlier one.
func (c *addressLimits) answered(host string, a netip.Addr) {
	if !a.IsValid() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || len(c.last) == maxNames {
		c.last = make(map[string]netip.Addr) // of a host that is forgotten, the next request has no limit
	}
	c.last[host] = a
}

// join counts one more request to an address, and returns the addressLimit that counts the requests
// to this address.
func (c *addressLimits) join(a netip.Addr) *addressLimit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[netip.Addr]*addressLimit)
	}
	here := c.at[a]
	if here == nil {
		here = &addressLimit{places: semaphore.NewWeighted(maxPerAddress)}
		c.at[a] = here
	}
	here.users++
	return here
}

// part subtracts one from the number of requests to an address. It drops the addressLimit of an
// address without requests.
func (c *addressLimits) part(a netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at[a].users--; c.at[a].users == 0 {
		delete(c.at, a)
	}
}
