package system

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// URLSelection says which URLs are wanted. Empty fields select all.
type URLSelection struct {
	State      account.State
	Reason     string // reason, or its first words: "http" selects "http 404" and "http 503"
	Collection string
	Site       string // host, or a domain with all its hosts
}

// URLs has the states of all URLs that a bucket knows.
type URLs struct {
	books  *account.Bucket
	site   string
	within layout.Range // range of the hash space that has all selected URLs
	URLSelection
}

// ReadURLs reads the states of all URLs of a bucket from its books and its spool (results that are not
// packed into books yet). It returns an error if the selection names a collection that does not exist, or
// if its Site is neither a host nor a domain.
func ReadURLs(ctx context.Context, bucket blob.Reader, selected URLSelection) (*URLs, error) {
	inForce, err := readInForce(ctx, bucket)
	if err != nil {
		return nil, err
	}
	if err := inForce.CheckName(selected.Collection); err != nil {
		return nil, err
	}
	u := &URLs{URLSelection: selected}
	if selected.Site != "" {
		at, err := address.Parse("http://" + selected.Site + "/")
		if err != nil || strings.ContainsAny(selected.Site, "/?#@") {
			return nil, literal.Wrong("--site", selected.Site, "a host or domain, such as example.org")
		}
		u.site, u.within = at.Host, at.Place.SiteRange()
	}
	u.books, err = account.Survey(ctx, bucket, inForce)
	return u, err
}

// All yields the selected URLs, in no particular order. An error ends the sequence.
func (u *URLs) All(ctx context.Context) iter.Seq2[account.URL, error] {
	return func(each func(account.URL, error) bool) {
		for url, err := range u.books.All(ctx, u.within) {
			if (err != nil || u.has(url)) && !each(url, err) || err != nil {
				return
			}
		}
	}
}

// Faults returns an error for each lost or damaged object that makes URLs missing from the result. Some of them
// are found only while All reads the objects.
func (u *URLs) Faults() []error { return u.books.Faults() }

func (u *URLs) has(url account.URL) bool {
	at := url.Address
	return (u.State == "" || url.State == u.State) &&
		(u.Reason == "" || strings.HasPrefix(ReasonOf(url)+" ", u.Reason+" ")) &&
		(u.Collection == "" || census.Belongs(url, u.Collection)) &&
		(u.site == "" || at.Host == u.site || at.Site == u.site)
}

// ReasonOf returns the reason of a URL's state; "" if there is none. What it says depends on the state:
//
//	skipped, failed   why the URL was skipped, or why it failed
//	stored            what may be incomplete or wrong in the stored page (see book.Panicked)
//	pending           why the URL is not requested now (see account.URL.Apart), or why the last request failed
func ReasonOf(u account.URL) string {
	switch {
	case u.State == account.Stored && u.Page != nil:
		return u.Page.Reason
	case u.State == account.Pending:
		return cmp.Or(u.Apart, u.Reason)
	}
	return u.Reason
}
