package fetch

import (
	"context"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// canonicalRequest is a page that names another address as its canonical one (rel=canonical). It
// becomes an alias of that address if the page there proves to be alike.
type canonicalRequest struct {
	page
	link   book.Link       // link of kind Canonical, from the page to the canonical address
	to     address.Address // the canonical address
	others []book.Link     // all other links of the page
	// outcome that the page had before it was stored; if the page becomes an alias, it gets this
	// outcome again
	before book.Outcome
}

// canonical returns the canonical address that a page names (RFC 6596), and a link from the page to
// it. The parameter o is the page's outcome. The result elsewhere is true if the page may become an
// alias of the canonical address. For this the address must differ from the page's own, have the
// same origin, and be admitted by the page's collection.
func (p page) canonical(o book.Outcome, read *document.Document) (link book.Link, to address.Address, elsewhere bool) {
	to, elsewhere = p.behalf.canonical(collectionOf(o), p.address, read)
	if !elsewhere {
		return link, to, false
	}
	link = book.Link{
		Source: p.address.ID, Target: to.URL, Place: to.Place, Kind: book.Canonical, Region: book.Text, Rel: "canonical",
		Depth: o.Depth, Hops: more(o.Hops), Weight: p.target.Weight, Collection: collectionOf(o),
	}
	path := membership.Path{Collection: link.Collection, Kind: link.Kind, Depth: link.Depth, Hops: link.Hops, Weight: link.Weight}
	return link, to, p.behalf.settings.Decide(path, to) == ""
}

// canonical returns the canonical address that a page names, without the query parameters that the
// collection drops. The parameters at and read are the page's own address and its parsed content.
// The second result is true if the canonical address is valid, differs from the page's own address,
// and has the same origin.
func (b behalf) canonical(collection string, at address.Address, read *document.Document) (address.Address, bool) {
	if read.Canonical == "" {
		return address.Address{}, false
	}
	base := at
	if read.Base != "" {
		if resolved, err := base.Resolve(read.Base); err == nil {
			base = resolved
		}
	}
	to, err := base.Resolve(read.Canonical)
	if err != nil {
		return address.Address{}, false
	}
	to = b.settings.Clean(collection, to)
	return to, to.Origin == at.Origin && to.URL != at.URL
}

// isAlias makes the page an alias: it sets the state Skipped and the reason membership.Canonical in
// the page's outcome o. The parameter link leads to the canonical address.
func (p page) isAlias(o *book.Outcome, link book.Link) {
	conclude(o, p.target, verdict{book.Skipped, membership.Canonical, "to " + link.Target})
	o.Exponent = later(o.Exponent)
}

// simpler reports whether one address is simpler than another: it is the same except that some
// query parameters, or the name of an index page, are missing. Examples: /a/?p=1 is simpler than
// /a/?p=1&ref=x, and /a/ is simpler than /a/index.html.
func simpler(a, than address.Address) bool {
	path, query, _ := strings.Cut(a.Path, "?")
	longPath, longQuery, _ := strings.Cut(than.Path, "?")
	dir, file := longPath[:strings.LastIndexByte(longPath, '/')+1], longPath[strings.LastIndexByte(longPath, '/')+1:]
	isIndex := path == dir && strings.HasPrefix(file, "index.")
	return a.Origin == than.Origin && len(a.URL) < len(than.URL) && (path == longPath || isIndex) && among(query, longQuery)
}

// among reports whether all parameters of one query string also occur in a second one.
func among(query, others string) bool {
	all := strings.Split(others, "&")
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter != "" && !slices.Contains(all, parameter) {
			return false
		}
	}
	return true
}

// maxCanonicals is the greatest number of canonical addresses that are followed one after another
// from a page: the page at a canonical address may name a further one.
const maxCanonicals = 3

// canonicalPage describes the page at a canonical address. The method grant uses it to decide
// whether another page is an alias of that address.
type canonicalPage struct {
	unasked bool                    // the address could not be requested now, but a later request may succeed
	page    bool                    // there is a page, and its robots directives allow indexing
	says    fingerprint.Fingerprint // fingerprint of the page's title and text
	// canonical address that this page names, if that is not its own address; else nil
	canonical *address.Address
}

// nameOf describes a parsed page, so that it can be compared with pages that name its address as
// canonical. It leaves the field canonical nil. The caller sets this field if the page itself names
// another canonical address.
func nameOf(read *document.Document) *canonicalPage {
	return &canonicalPage{page: !read.Robots.NoIndex, says: fingerprint.Of(read.Title, read.Visible())}
}

// prove decides for the pages parsed so far whether they become aliases of the canonical addresses
// that they name. If a canonical address is itself a target of the batch, the page there may not be
// parsed yet. So this decision is postponed until all targets are parsed: to the last call of
// prove, which has over = true.
func (r *run) prove(ctx context.Context, d *digester, over bool) {
	if r.over = over; over {
		close(d.canonicals)
	}
	for {
		select {
		case w, open := <-d.canonicals:
			if !open {
				for _, w := range r.postponed {
					r.grant(ctx, d, w)
				}
				return
			}
			if r.target(w.to) >= 0 {
				r.postponed = append(r.postponed, w)
			} else {
				r.grant(ctx, d, w)
			}
		default:
			return
		}
	}
}

// grant makes a page an alias of its canonical address if the page at that address has nearly the
// same text and names no other canonical address. If the canonical page does name another address,
// grant tries that one, and so on, up to maxCanonicals addresses. If a canonical address cannot be
// requested now, the page is stored without ETag and Last-Modified. So the next request for the
// page is unconditional, and the alias is decided then.
func (r *run) grant(ctx context.Context, d *digester, w *canonicalRequest) {
	o := &r.ledger.Outcomes[w.index]
	at, says := w.to, d.results[w.index].named.says
	for range maxCanonicals {
		n := r.namedBy(ctx, d, at, w.link)
		switch {
		case n.unasked:
			o.ETag, o.Modified, o.Body = "", "", 0
			return
		case !n.page:
			return
		case n.canonical == nil:
			if n.says.IsAlike(says) {
				w.link.Target, w.link.Place = at.URL, at.Place
				*o = w.before
				w.isAlias(o, w.link)
				d.results[w.index] = digested{links: append(w.others, w.link), named: d.results[w.index].named}
			}
			return
		case n.canonical.ID == w.address.ID:
			return
		}
		at = *n.canonical
	}
}

// namedBy returns the page at a canonical address, to which the given link leads. If the address is
// a target of the batch and was fetched, namedBy takes the page from the batch. Otherwise it
// requests the page, at most once in a batch for each User-Agent.
func (r *run) namedBy(ctx context.Context, d *digester, at address.Address, by book.Link) canonicalPage {
	agent := r.behalf.agentOf(by.Collection)
	key := agent + " " + at.URL
	n, known := r.named[key]
	if known {
		return n
	}
	if i := r.target(at); i >= 0 && r.over {
		switch named := d.results[i].named; {
		case named != nil:
			return *named
		case r.ledger.Outcomes[i].State == book.Failed, r.ledger.Outcomes[i].State == book.Skipped:
			return n
		}
	}
	n = r.askNamed(ctx, at, by, agent)
	r.named[key] = n
	return n
}

// target returns the index of the batch's target with the address, or -1 if there is none.
func (r *run) target(at address.Address) int {
	return slices.IndexFunc(r.targets, func(a address.Address) bool { return a.ID == at.ID })
}

// askNamed requests the canonical address to which the given link leads, with the given User-Agent,
// and returns the page there. It first fetches the robots.txt of the origin, unless this batch has
// done so, and requests nothing that the robots.txt forbids.
func (r *run) askNamed(ctx context.Context, at address.Address, by book.Link, agent string) (n canonicalPage) {
	if r.replayed || r.origins[at.Origin] == nil && !r.robots(ctx, at.Origin) {
		return canonicalPage{unasked: true}
	}
	origin := r.origins[at.Origin]
	if origin.absent != nil {
		return canonicalPage{unasked: true}
	}
	rules := origin.rules(agent)
	if !rules.Allows(at.Path) {
		return canonicalPage{}
	}
	a, asked := r.ask(ctx, request{url: at.URL, agent: agent, limit: r.f.Limits.Page}, rules.Delay())
	if !asked {
		return canonicalPage{unasked: true}
	}
	if a.err != nil {
		return canonicalPage{unasked: judge(a.err).state == book.Retry}
	}
	if v, final := judgeStatus(a, nil); final {
		return canonicalPage{unasked: v.state == book.Retry}
	}
	r.receive(int64(len(a.body)))
	defer func() {
		if recover() != nil { // the parser panicked on this page
			n = canonicalPage{}
		}
	}()
	there := page{address: at, behalf: r.behalf, answer: a, parse: document.Read}
	read, err := there.read()
	if err != nil || read == nil {
		return canonicalPage{}
	}
	there.ask(read, by.Collection)
	n = *nameOf(read)
	to, elsewhere := r.behalf.canonical(by.Collection, at, read)
	if elsewhere && r.behalf.settings.Decide(membership.PathOf(by), to) == "" {
		n.canonical = &to
	}
	return n
}
