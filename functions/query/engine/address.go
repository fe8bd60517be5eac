package engine

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// pasted is a query that is nothing but the address of a page, or a mail address.
type pasted struct {
	// the address that is the query, without the parameters of trackers that collections drop by default
	// (utm_source); if it has no scheme (example.org/a), two addresses: with https and with http
	written []address.Address
	// The address of the query (first), and other addresses under which servers often give the same
	// page. The others differ in the scheme (https or http), in www. before the host, in a slash or
	// index.html at the end, or have the parameters of trackers.
	forms   []address.Address
	certain bool   // whether the query has a scheme or a path, and so can hardly be a word; false for a mail address
	words   string // the query without the scheme of its address
}

// readPasted reads a query that is an address instead of words, such as https://example.org/a?b#c,
// example.org/a, example.org, 127.0.0.1:8080/a or jane@example.org. The address may stand in angle brackets, as texts have
// it (RFC 3986, appendix C). readPasted returns false for any other query, such as the network 10.0.0.0/8.
func readPasted(query string) (p pasted, is bool) {
	if inner, found := strings.CutPrefix(query, "<"); found {
		query = strings.TrimSuffix(inner, ">")
	}
	if query == "" || strings.ContainsAny(query, " \t\r\n\"“”„") || query[0] == '-' || query[0] == '+' {
		return pasted{}, false
	}
	if _, err := netip.ParsePrefix(query); err == nil {
		return pasted{}, false
	}
	if mail, is := address.ParseTypedMail(query); is {
		of := []address.Address{mail}
		return pasted{written: of, forms: of, words: strings.TrimPrefix(address.Shown(mail.URL), "mailto:")}, true
	}
	scheme, rest, found := strings.Cut(query, "://")
	if !found {
		scheme, rest = "", query
	} else if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return pasted{}, false
	}
	host, behind := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host, behind = rest[:end], rest[end:]
	}
	if scheme == "" && !isHost(host) {
		return pasted{}, false
	}
	schemes := []string{"https", "http"}
	if scheme == "http" {
		slices.Reverse(schemes)
	}
	trackers := address.DefaultCleaner()
	for _, s := range schemes {
		if scheme != "" && s != scheme {
			continue
		}
		if a, err := address.Parse(s + "://" + rest); err == nil {
			p.written = append(p.written, trackers.Clean(a))
		}
	}
	if len(p.written) == 0 {
		return pasted{}, false
	}
	behind, _, _ = strings.Cut(behind, "#")
	first := p.written[0]
	_, host, _ = strings.Cut(first.Origin, "://")
	paths := append([]string{first.Path}, otherPaths(first.Path)...)
	for _, h := range []string{host, otherHost(host)} {
		for _, b := range append(paths, behind) {
			for _, s := range schemes {
				if a, err := address.Parse(s + "://" + h + b); err == nil && !slices.Contains(p.forms, a) {
					p.forms = append(p.forms, a)
				}
			}
		}
	}
	p.certain = scheme != "" || strings.Trim(behind, "/") != ""
	p.words = rest
	return p, true
}

// isHost reports whether a text is a host without a scheme: a name below a public suffix, or an IP
// address, each perhaps with a port, or localhost with a port.
func isHost(text string) bool {
	name := text
	if host, _, err := net.SplitHostPort(text); err == nil {
		name = host
	}
	name = strings.ToLower(name)
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	if strings.ContainsAny(name, "@:%") {
		return false
	}
	if a, err := address.Parse("http://" + name + "/"); err == nil {
		name, _, _ = strings.Cut(a.Host, ":") // in Punycode
	}
	suffix, public := publicsuffix.PublicSuffix(name)
	return name == "localhost" && !strings.EqualFold(name, text) || (public || strings.Contains(suffix, ".")) && len(name) > len(suffix)+1
}

// otherHost returns a host's name without the www. at its beginning, or with www. if it has none.
func otherHost(host string) string {
	if bare, found := strings.CutPrefix(host, "www."); found {
		return bare
	}
	return "www." + host
}

// otherPaths returns other paths under which servers often give the same page as under the given
// path:
//
//	/a              /a/
//	/a/             /a, /a/index.html
//	/a/index.html   /a/
//	/a?b            none
//
// In the third row, the name may also be index.htm or index.php.
func otherPaths(of string) []string {
	file, query, _ := strings.Cut(of, "?")
	if query != "" {
		return nil
	}
	name := path.Base(file)
	switch {
	case file == "" || file == "/":
		return []string{"/index.html"}
	case strings.HasSuffix(file, "/"):
		return []string{strings.TrimSuffix(file, "/"), file + "index.html"}
	case name == "index.html" || name == "index.htm" || name == "index.php":
		return []string{strings.TrimSuffix(file, name)}
	}
	return []string{file + "/"}
}

// maxLed is the greatest number of redirects and canonical addresses that are followed, one after
// another, from an address that is not stored.
const maxLed = 5

// searchPasted answers a query that is the address of a page. The first hit is the page; further hits match
// the words of the address. If the page is not in the index, the answer has a note that says why it is
// missing, or to which other address it leads. The note comes from the books (files that record the outcome
// of each request of the crawl); to read them, further requests to the bucket are necessary. The parameter
// index is the index of the snapshot at without the pages that are banned for the query.
func (e *Engine) searchPasted(ctx context.Context, at *snapshot, index *search.Index, p *pasted, q search.Query) (search.Result, error) {
	q.Text, q.Named = p.words, identitiesOf(p.forms)
	found, err := index.Search(ctx, q)
	if err != nil || found.Named || found.Images || found.Partial || len(at.missing) > 0 || isFiltered(&q) {
		return found, err
	}
	led, note, err := e.leads(ctx, at, p)
	if err != nil {
		e.Log.WarnContext(ctx, "where a pasted address leads is not known", "url", p.written[0].URL, "error", err)
		return found, nil
	}
	if led != nil {
		q.Named = []layout.Identity{led.ID}
		if found, err = index.Search(ctx, q); err != nil {
			return search.Result{}, err
		}
		if found.Named {
			note += "."
		} else {
			note += ", which is not in the index."
		}
	}
	if note != "" {
		found.Notes = append(found.Notes, note)
	}
	return found, nil
}

// isFiltered reports whether the query has a filter, besides its text, that may exclude a page.
func isFiltered(q *search.Query) bool {
	return len(q.Site)+len(q.Lang)+len(q.Collection)+len(q.Type) > 0 || !q.After.IsZero() || !q.Before.IsZero()
}

func identitiesOf(addresses []address.Address) (ids []layout.Identity) {
	for _, a := range addresses {
		ids = append(ids, a.ID)
	}
	return ids
}

// leads says why a pasted address is not in the index, from the books (the records of the crawl).
//
//	in the books                           to                   note
//	the address A redirects to B, or its   B                    "A leads to B", without a full stop
//	page names B as canonical
//	another outcome of a request           nil                  why the address is not stored
//	nothing                                nil                  that the address was never requested
//
// In the first row, if B leads on to further addresses, the last of them takes its place. In the last
// row, the note is "" if the text may be meant as a word, or if some books or manifests cannot be
// read. If a takedown covers the address, the results are nil and "", whatever the books say.
func (e *Engine) leads(ctx context.Context, at *snapshot, p *pasted) (to *address.Address, note string, err error) {
	books, lost, err := openBooks(ctx, e.bucket, at.manifests)
	if err != nil {
		return nil, "", err
	}
	for _, from := range p.written {
		last, hops := from, 0
		for ; hops < maxLed; hops++ {
			next, told, err := e.look(ctx, at, books, last)
			if err != nil {
				return nil, "", err
			}
			if next == nil {
				note = cmp.Or(note, told)
				break
			}
			last = *next
		}
		switch {
		case hops == maxLed:
			note = fmt.Sprintf("%s is not stored: it leads on and on to other addresses.", from.URL)
		case hops > 0:
			return &last, fmt.Sprintf("%s leads to %s", from.URL, last.URL), nil
		}
	}
	all := len(lost) == 0 && len(at.faults) == 0 && len(books.Damaged()) == 0
	if note == "" && p.certain && all && !at.takedowns.Forgets(p.written[0]) {
		note = fmt.Sprintf("%s is not stored: it was never asked for.", p.written[0].URL)
	}
	return nil, note, nil
}

// look looks an address up in the books (the records of the crawl), to find out why its page is not
// in the index. If the address redirects to another one, or its page names another one as canonical,
// the result next is that other address. Otherwise the result told is a sentence with the reason, such
// as "https://example.org/ is not stored yet (…)." The results are nil and "" if no request for the
// address is recorded, or if a takedown covers the address.
func (e *Engine) look(ctx context.Context, at *snapshot, books *partition.Books, a address.Address) (next *address.Address, told string, err error) {
	if at.takedowns.Forgets(a) {
		return nil, "", nil
	}
	standing, err := standingIn(ctx, books, a)
	if err != nil {
		return nil, "", err
	}
	last := cmp.Or(standing.Final, standing.Asked)
	if last == nil {
		return nil, "", nil
	}
	if to, err := address.Parse(membership.LeadsTo(*last)); err == nil && len(last.Detail) < book.MaxDetail && !at.takedowns.Forgets(to) {
		return &to, "", nil
	}
	switch last.State {
	case book.Stored, book.Unchanged:
		return nil, fmt.Sprintf("%s is stored, but it is not in the index.", a.URL), nil
	case book.Skipped:
		told = "%s is not stored: it was skipped (%s)."
	case book.Retry, book.NotAsked:
		told = "%s is not stored yet (%s)."
	default:
		told = "%s is not stored: it could not be had (%s)."
	}
	return nil, fmt.Sprintf(told, a.URL, last.Reason), nil
}
