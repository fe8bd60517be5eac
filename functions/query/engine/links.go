package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	// maxLinks is the greatest number of links that are read for a filter such as link:example.org.
	maxLinks = 1 << 20
	// maxBooks is the greatest number of books (records of the crawl, which have the links) in which links are
	// looked for. If there are more, the filter is ignored. Merges keep the number of books low.
	maxBooks = 512
	// linksAtOnce is the number of links of a book after whose reading their effort is announced, and linksPerUnit
	// the number of links that are read by a unit of effort (see package effort).
	linksAtOnce  = 4096
	linksPerUnit = 16
)

// linkTarget is the parsed value of a filter link:, which is a page or a host.
type linkTarget struct {
	pages []address.Address // target pages: one, or the one with https and the one with http; or one mail address
	host  string            // target host: links to any of its pages count; "" if the target is pages
	all   layout.Range      // if the target is a host: range of the hash space of URLs that contains all its pages
}

// readTarget parses the value of a filter link:. It returns false if the value is no address.
//
//	https://example.org/a    this page
//	example.org/a            this page, with https or http
//	example.org              all pages of this host; also example.org/
//	mailto:jane@example.org  this mail address; also jane@example.org
func readTarget(text string) (t linkTarget, is bool) {
	if mail, is := address.ParseTypedMail(text); is {
		return linkTarget{pages: []address.Address{mail}}, true
	}
	raws := []string{text}
	if !strings.Contains(text, "://") {
		raws = []string{"https://" + text, "http://" + text}
	}
	for _, raw := range raws {
		a, err := address.Parse(raw)
		if err != nil {
			return linkTarget{}, false
		}
		t.pages = append(t.pages, a)
	}
	if len(raws) > 1 && !strings.Contains(strings.TrimSuffix(text, "/"), "/") {
		site := layout.Place(t.pages[0].Place.Site())
		return linkTarget{host: t.pages[0].Host, all: layout.Range{From: site << 32, To: (site + 1) << 32}}, true
	}
	return t, true
}

// ranges returns the ranges of the hash space of URLs in which the target pages are.
func (t *linkTarget) ranges() (all []layout.Range) {
	if t.host != "" {
		return []layout.Range{t.all}
	}
	for _, a := range t.pages {
		all = append(all, layout.Range{From: a.Place, To: a.Place + 1})
	}
	return all
}

// has reports whether the links in a row of a book lead to the target. All links in a row have the same target
// URL.
func (t *linkTarget) has(row *book.Row) bool {
	if t.host != "" {
		a, err := address.Parse(row.Target)
		return err == nil && a.Host == t.host
	}
	for _, a := range t.pages {
		if row.ID == a.ID {
			return true
		}
	}
	return false
}

// linking returns the function that finds the pages with links to the target of a filter link: (see
// search.Linking). The function opens the books (records of the crawl, which have the links) once. It keeps its
// answers: if it is called again with the same target, it reads nothing.
func (e *Engine) linking(at *snapshot) search.Linking {
	type answer struct {
		sources map[layout.Identity]bool
		notes   []string
	}
	var mu sync.Mutex // protects the variables below
	known := make(map[string]answer)
	var books *partition.Books
	var lost []error
	return func(ctx context.Context, target string) (map[layout.Identity]bool, []string, error) {
		mu.Lock()
		defer mu.Unlock()
		if found, is := known[target]; is {
			return found.sources, found.notes, nil
		}
		to, is := readTarget(target)
		if !is {
			return nil, []string{fmt.Sprintf("link:%s was ignored: write a page or a host, such as link:https://example.org/page or link:example.org.", target)}, nil
		}
		n := 0
		for _, m := range at.manifests {
			n += len(m.Books)
		}
		if n > maxBooks {
			return nil, []string{fmt.Sprintf("link:%s was ignored: the links are in %d books, and at most %d are read.", target, n, maxBooks)}, nil
		}
		var err error
		if books == nil {
			if books, lost, err = openBooks(ctx, e.bucket, at.manifests); err != nil {
				return nil, nil, fmt.Errorf("cannot read links to %.200q: %w", target, err)
			}
		}
		var found answer
		var cut bool
		if found.sources, cut, err = linksTo(ctx, books, &to, at.takedowns, maxLinks/max(1, n)); err != nil {
			return nil, nil, fmt.Errorf("cannot read links to %.200q: %w", target, err)
		}
		if cut {
			found.notes = append(found.notes, fmt.Sprintf("Not all links were read for link:%s, as there are too many to its site; at most %d are.", target, maxLinks))
		}
		if len(lost)+len(at.faults)+len(books.Damaged()) > 0 {
			found.notes = append(found.notes, fmt.Sprintf("Some links to %s may be missing, because a part of the records of the crawl cannot be read.", target))
		}
		known[target] = found
		return found.sources, found.notes, nil
	}
}

// linksTo returns the pages with links to a target, from the books. Books know the links of all pages that are stored,
// also of those that wait to be indexed. A link that a page no longer has counts until a merge of books marks it as
// former. The result cut says whether links were left out because a book has more than the given number of links to
// the target's site.
func linksTo(ctx context.Context, books *partition.Books, target *linkTarget, takedowns takedown.Set, perBook int) (sources map[layout.Identity]bool, cut bool, err error) {
	var mu sync.Mutex // protects sources and cut
	sources = make(map[layout.Identity]bool)
	err = books.Each(ctx, func(ctx context.Context, _ int, r *book.Reader) error {
		seen, unpaid := 0, 0            // numbers of links that were read, and of those whose effort was not announced yet
		wanted := make(map[uint32]bool) // indexes of pages in the book's table
		for _, within := range target.ranges() {
			for row, err := range r.Rows(ctx, within, false) {
				if err != nil {
					return err
				}
				if seen += len(row.Sources); seen > perBook {
					break
				}
				if unpaid += len(row.Sources); unpaid >= linksAtOnce {
					if err := effort.Spend(ctx, unpaid/linksPerUnit); err != nil {
						return err
					}
					unpaid = 0
				}
				if row.Kind != book.Anchor || row.Former || !target.has(&row) || takedowns.ForgetsURL(row.Target) {
					continue
				}
				for _, n := range row.Sources {
					wanted[n] = true
				}
			}
		}
		mu.Lock()
		cut = cut || seen > perBook
		mu.Unlock()
		if len(wanted) == 0 {
			return nil
		}
		table, err := r.Sources(ctx)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for n := range wanted {
			sources[table[n]] = true
		}
		return nil
	})
	return sources, cut, err
}
