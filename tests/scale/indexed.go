package main

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// batch is the number of pages of a segment before segments are merged.
const batch = 8192

// keptIndex opens the bucket with the index of a web in the directory dir. If there is none, it makes and keeps it
// first.
func keptIndex(ctx context.Context, w *web, dir string) (*store, error) {
	name := filepath.Join(dir, fmt.Sprintf("%d.bucket", w.pages()))
	kept, found, err := openStore(name, time.Now)
	if err != nil || found {
		return kept, err
	}
	if kept, err = newStore(dir, functionstest.NewClock().Now); err != nil {
		return nil, err
	}
	defer kept.Close() //nolint:errcheck // its content is in another file
	if err := indexWeb(ctx, w, kept, dir); err != nil {
		return nil, err
	}
	if err := kept.save(name); err != nil {
		return nil, err
	}
	kept, _, err = openStore(name, time.Now)
	return kept, err
}

// indexWeb makes what queries read of a web that was crawled, merged and ranked: one segment, with anchors and ranks.
// It makes no HTML, and keeps no pages. So it takes a third of the time of a crawl.
func indexWeb(ctx context.Context, w *web, kept *store, dir string) error {
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(ctx, kept, rules.Even(kind, 1, kept.now())); err != nil {
			return err
		}
	}
	merged, free, err := buildMerged(ctx, kept, dir, w, (*web).document)
	if err != nil {
		return err
	}
	defer free()
	anchors, freeAnchors, err := buildMerged(ctx, kept, dir, w, (*web).anchors)
	if err != nil {
		return err
	}
	defer freeAnchors()
	p, err := partition.Open(ctx, kept, 0, kept.now)
	if err != nil {
		return err
	}
	put, err := p.PutSegment(ctx, merged)
	if err != nil {
		return err
	}
	return p.Commit(ctx, func(e *partition.Edit) error {
		if err := e.AddSegment(put); err != nil {
			return err
		}
		if _, err := e.SetAnchors(ctx, map[string][]byte{put.Key: anchors}); err != nil {
			return err
		}
		_, err := e.SetRanks(ctx, map[string][]segment.Rank{put.Key: w.ranks()})
		return err
	})
}

// buildMerged builds a segment of the documents that the function makes of the web's pages. Like the function index,
// it builds many small segments, and then merges them.
func buildMerged(ctx context.Context, kept *store, dir string, w *web, document func(w *web, site, page int) (*segments.Page, error)) ([]byte, func(), error) {
	inputs := make([]segment.Input, (w.pages()+batch-1)/batch)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, of := range w.batches() {
		group.Go(func() (err error) {
			pages := make([]*segments.Page, len(of))
			for k, at := range of {
				if pages[k], err = document(w, at.site, at.page); err != nil {
					return err
				}
			}
			inputs[i].Segment, err = buildPart(ctx, kept, i, pages)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	content, free, err := segment.Merge(ctx, inputs, segment.MaxBytes, dir)
	for _, in := range inputs {
		if err == nil {
			err = kept.Delete(ctx, in.Segment.Ref().Key)
		}
	}
	return content, free, err
}

// buildPart builds a segment of pages, stores it as the n-th part, and opens it.
func buildPart(ctx context.Context, kept *store, n int, pages []*segments.Page) (*segment.Segment, error) {
	content, err := segments.Build(pages)
	if err != nil {
		return nil, err
	}
	ref := segment.Ref{Key: fmt.Sprintf("parts/%d", n), Bytes: int64(len(content))}
	if ref.Tail, err = segment.TailOf(content); err != nil {
		return nil, err
	}
	if err := kept.Create(ctx, ref.Key, content); err != nil {
		return nil, err
	}
	return segment.Open(ctx, segment.Ranges{Bucket: kept}, ref)
}

// document returns a page as the function index makes it of the page's HTML.
func (w *web) document(site, page int) (*segments.Page, error) {
	a, err := address.Parse(w.url(site, page))
	if err != nil {
		return nil, err
	}
	var body, outside strings.Builder
	w.text(site, page, func(text string) { body.WriteString(text + " ") }, func(site, page int) { body.WriteString(title(site, page) + " ") })
	for i := range min(6, w.sizes[site]) {
		outside.WriteString(title(site, i*50%w.sizes[site]) + "\n")
	}
	p := &segments.Page{
		Document: segment.Document{
			ID: a.ID, Version: layout.Version{Epoch: 1, Token: 1}, URL: a.URL, Site: a.Site, Title: title(site, page),
			Headings: []string{title(site, page)}, Body: body.String(), Lang: "en", LangSource: "declared", MIME: "text/html",
			Fetched: functionstest.Start, Package: "packages/0000/web.spf", Collections: []string{"web"},
		},
		Outside: outside.String(),
	}
	if page == 0 {
		p.SiteNames = []string{p.Title}
	}
	return p, nil
}

// anchors returns the document of a page in the overlay of anchors.
func (w *web) anchors(site, page int) (*segments.Page, error) {
	a, err := address.Parse(w.url(site, page))
	return &segments.Page{Document: segment.Document{ID: a.ID, Lang: "en", Headings: []string{title(site, page)}}}, err
}

// ranks returns ranks of all pages: those of the first pages of a site, to which most links lead, are the greatest.
func (w *web) ranks() (ranks []segment.Rank) {
	for _, size := range w.sizes {
		for page := range size {
			ranks = append(ranks, segment.RankOf(float64(size)/8/float64(page+1)+.1))
		}
	}
	return ranks
}

// place is the place of a page in the web.
type place struct{ site, page int }

// batches yields all pages of the web, in batches.
func (w *web) batches() iter.Seq2[int, []place] {
	return func(yield func(int, []place) bool) {
		n := 0
		var of []place
		for site, size := range w.sizes {
			for page := range size {
				if of = append(of, place{site, page}); len(of) == batch {
					if !yield(n, of) {
						return
					}
					n, of = n+1, nil
				}
			}
		}
		if len(of) > 0 {
			yield(n, of)
		}
	}
}
