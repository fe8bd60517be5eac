package linkgraph

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Texts has the texts of the links to some pages. The pages are in groups, which are numbered from 0. The texts are
// in files without names, one for each group, so that only those of one group need to be in memory.
//
// A file has an entry for each row of a book (see book.Row) whose links lead to a page of the group. All numbers are
// varints:
//
//	number of the page
//	order: the entries of a page are used in the order of these numbers, and those with the same number in the
//	order in which they are written
//	number of links; number of sites; the sites
//	size of the text; text
type Texts struct{ groups []*spill }

// Texts reads the texts of the links to some pages from all books (the records of the crawl), once. The parameter
// groups is the number of groups. The function of returns the groups that a page is in, none if its texts are not
// wanted. Pages are given by their indexes (see Find). The files are made in a directory (see scratch.Create).
//
// Links in the navigation of a site to a page of the same site are left out, because they are the
// same on all pages.
//
// The caller must call Close in the end.
func (g *Graph) Texts(ctx context.Context, dir string, groups int, of func(page int) []uint16) (t *Texts, err error) {
	t = new(Texts)
	if t.groups, err = newSpills(dir, groups); err != nil {
		return nil, err
	}
	r := g.read
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range r.places {
		group.Go(func() error {
			for index, b := range r.books {
				if err := r.readTexts(within, index, b, i, of, t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err = group.Wait(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close frees the files.
func (t *Texts) Close() { closeSpills(t.groups) }

// readTexts reads the texts of links from the book b, which is r.books[index]. It reads only links
// whose target is in the i-th range of the hash space. The target page of a link is the page under
// this URL or, if the URL is an alias, the page to which the alias leads. readTexts adds each text to the groups that
// the function of returns for the page.
func (r *reading) readTexts(ctx context.Context, index int, b *book.Reader, i int, of func(page int) []uint16, into *Texts) error {
	sources := r.sources[index]
	order := uint64(index*len(r.places) + i)
	var entry []byte
	for row, err := range b.Rows(ctx, r.within(i), true) {
		if err != nil {
			return err
		}
		if !isNaming(&row) {
			continue
		}
		page, found := r.graph.known[row.ID]
		if found && !page.isPage() {
			page, found = r.page(page)
		}
		if !found {
			continue
		}
		groups := of(int(page))
		if len(groups) == 0 {
			continue
		}
		v := r.voters(&row, sources, page, r.graph.sites[page])
		if v.links == 0 {
			continue
		}
		entry = appendEntry(entry[:0], page, order, &v, row.Anchor)
		for _, g := range groups {
			if err := into.groups[g].add(entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendEntry(b []byte, page number, order uint64, v *voters, text string) []byte {
	b = binary.AppendUvarint(b, uint64(page))
	b = binary.AppendUvarint(b, order)
	b = binary.AppendUvarint(b, uint64(v.links))
	b = binary.AppendUvarint(b, uint64(len(v.sites)))
	for _, site := range v.sites {
		b = binary.AppendUvarint(b, uint64(site))
	}
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// placed says where an entry of a page is in the file of a group.
type placed struct {
	page  number
	order uint64
	at    int // after the first two numbers
}

// Anchors returns the anchors of the pages of a group: for each page, the texts of links to it that the most
// sites use. If several pages of a site have links with the same text, the site counts once. The keys of the map are
// the indexes of pages; a page without anchors is missing. Anchors frees the file of the group, so it may be called
// once for each group.
func (t *Texts) Anchors(group int) (map[int32]Anchors, error) {
	defer t.groups[group].close()
	content, err := t.groups[group].content()
	if err != nil {
		return nil, err
	}
	all := make(map[int32]Anchors)
	entries := listEntries(content)
	for len(entries) > 0 {
		page := entries[0].page
		named := texts{of: make(map[string]*voters)}
		for len(entries) > 0 && entries[0].page == page {
			e := entryReader{content, entries[0].at}
			v := e.voters()
			named.add(e.text(), v)
			entries = entries[1:]
		}
		all[int32(page)] = named.anchors()
	}
	return all, nil
}

// listEntries returns the entries of a file in the order in which they are used, page by page.
func listEntries(content []byte) (all []placed) {
	for e := (entryReader{content: content}); e.at < len(content); e.skip() {
		p := placed{page: number(e.number()), order: e.number()}
		p.at = e.at
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.order, b.order), cmp.Compare(a.at, b.at))
	})
	return all
}

// entryReader reads entries, which this process itself has written.
type entryReader struct {
	content []byte
	at      int
}

func (e *entryReader) number() uint64 {
	n, size := binary.Uvarint(e.content[e.at:])
	e.at += size
	return n
}

func (e *entryReader) voters() voters {
	v := voters{links: int(e.number())}
	v.sites = make([]uint32, e.number())
	for i := range v.sites {
		v.sites[i] = uint32(e.number())
	}
	return v
}

func (e *entryReader) text() string {
	size := int(e.number())
	e.at += size
	return string(e.content[e.at-size : e.at])
}

// skip goes on behind an entry of which the first two numbers have been read.
func (e *entryReader) skip() {
	e.number()
	for range e.number() {
		e.number()
	}
	size := int(e.number())
	e.at += size
}
