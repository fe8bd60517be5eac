package rank

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// share divides the hash space of URLs into n equal ranges, one for each partition, and returns the
// i-th (counted from 0). The i-th partition lists the unvisited URLs (known only by links) whose
// hashes are in this range.
func share(i, n int) (r layout.Range) {
	width := math.MaxUint64/uint64(n) + 1 // 0 for the whole space
	r.From = layout.Place(uint64(i) * width)
	if i+1 < n {
		r.To = r.From + layout.Place(width)
	}
	return r
}

// unvisited is a list of unvisited URLs (known only by links) of one partition, ready to be
// committed.
type unvisited struct {
	overlay
	content []byte // the unvisited URLs, encoded as an index segment; nil if there are no such URLs
	// number of URLs in content, and number of URLs that were left out because there were too many
	documents, cut int
}

// unvisited makes an index segment with a document for each unvisited URL (known only by links) in a
// range of the hash space. There is no page to index. So the headings of the document are the URL's
// anchors (texts of links to it), and its title is the first anchor. The document of a mail address (see
// address.ParseMail) has a URL such as mailto:jane@example.org, and its body has the words around the
// links.
func (r *ranking) unvisited(ctx context.Context, within layout.Range) (*unvisited, error) {
	found, cut, err := r.graph.Unvisited(ctx, within, r.Limits.Unvisited)
	u := &unvisited{overlay: overlay{dir: r.Dir}, documents: len(found), cut: cut}
	if err != nil || len(found) == 0 {
		return u, err
	}
	if cut > 0 {
		r.Log.InfoContext(ctx, "URLs that are known by links only are left out beyond the limit", "urls", cut)
	}
	usual := r.usual()
	for some := range slices.Chunk(found, r.Limits.Anchors) {
		var pages []*segments.Page
		for i := range some {
			page, err := r.page(&some[i], usual)
			if err != nil {
				return u, err
			}
			pages = append(pages, page)
		}
		if err := u.add(pages); err != nil {
			return u, err
		}
	}
	u.content, err = u.finish(ctx)
	return u, err
}

// page returns the document of an unvisited URL. If its own language is not known, or is that of no page, it gets the
// usual one.
func (r *ranking) page(u *linkgraph.Unvisited, usual string) (*segments.Page, error) {
	at, err := address.Parse(u.URL)
	if err != nil {
		return nil, err
	}
	d := &segments.Page{Document: segment.Document{
		ID: at.ID, URL: address.Shown(u.URL), Site: at.Site, Title: u.All[0].Text, Body: strings.Join(u.Around, "\n"),
	}}
	fill(d, u.Anchors)
	if mail, is := strings.CutPrefix(d.URL, "mailto:"); is {
		if !slices.Contains(d.Headings, mail) {
			d.Headings = append(d.Headings, mail)
		}
		d.Outside = mailWords
	}
	d.Lang, _ = language.Identify(strings.Join(d.Headings, "\n"))
	if r.languages[d.Lang] == 0 {
		d.Lang = usual // words of queries are analysed in the languages of pages
	}
	return d, nil
}

// mailWords are words by which searches find mail addresses, besides the texts of links: people look
// for "Jane Doe mail".
const mailWords = "mail e-mail"

// countLanguages counts the documents of each language, and stores the counts in r.languages. They
// decide the language of an unvisited URL whose own language is not known: it gets the most
// frequent language of all partitions. So countLanguages also reads partitions that get no new
// ranks. It leaves out segments that cannot be read.
func (r *ranking) countLanguages(ctx context.Context, all []*partition.Partition) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var mu sync.Mutex // protects r.languages
	for _, p := range all {
		listed := p.Manifest().Segments
		for i := range listed {
			group.Go(func() error {
				s, err := partition.OpenSegment(within, segment.Ranges{Bucket: r.Bucket}, &listed[i])
				if partition.IsDamaged(err) {
					r.Log.ErrorContext(ctx, "the languages of a segment that cannot be read are not counted", "key", listed[i].Key, "error", err)
					return nil
				}
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				for name, totals := range s.LanguageTotals() {
					r.languages[name] += int(totals.Fields[segment.Body].Documents)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// usual returns the language with the most documents, or "" if there are no documents.
func (r *ranking) usual() (most string) {
	for _, name := range slices.Sorted(maps.Keys(r.languages)) {
		if r.languages[name] > r.languages[most] {
			most = name
		}
	}
	return most
}
