package linkgraph

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// readVotes reads the links in all books. It puts the votes (links that count for ranks) for pages into
// r.votes, by the range of the hash space in which the target is, and those for aliases into r.aliasVotes. It stores in
// r.aliases to which address each alias leads. If there are no pages, it reads nothing.
func (r *reading) readVotes(ctx context.Context) (err error) {
	files, err := newSpills(r.dir, len(r.places)+1)
	if err != nil {
		return err
	}
	r.votes, r.aliasVotes = files[1:], files[0]
	var mu sync.Mutex // protects r.aliases
	var count atomic.Int64
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range r.places {
		group.Go(func() error {
			for index, b := range r.books {
				if err := r.readRange(within, index, b, i, &mu, &count); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// within returns the i-th of the ranges of the hash space into which the pages are divided. The first
// range has the number 0.
func (r *reading) within(i int) (span layout.Range) {
	if i > 0 {
		span.From = r.places[i]
	}
	if i+1 < len(r.places) {
		span.To = r.places[i+1]
	}
	return span
}

// readRange reads votes (links that count for ranks) from one book, and adds them to r.votes[i] and r.aliasVotes. It
// reads only votes whose targets are in the i-th range of the hash space. The book b is
// r.books[index]. The parameter count is the number of votes read so far from all ranges of all
// books. readRange adds to this number, and fails if it exceeds r.limits.Votes. The parameter mu
// protects r.aliases.
func (r *reading) readRange(ctx context.Context, index int, b *book.Reader, i int, mu *sync.Mutex, count *atomic.Int64) error {
	sources := r.sources[index]
	var votes []byte
	var id layout.Identity
	target, known := unknown, false
	for row, err := range b.Rows(ctx, r.within(i), false) {
		if err != nil {
			return err
		}
		if row.Former {
			continue
		}
		if row.Kind == book.Redirect || row.Kind == book.Canonical {
			r.point(row, sources, mu)
			continue
		}
		if row.ID != id { // rows of one target follow each other
			id = row.ID
			target, known = r.graph.known[id]
		}
		if !known || row.Kind != book.Anchor || !counts(row.Rel) {
			continue
		}
		into := r.votes[i]
		if !target.isPage() {
			into = r.aliasVotes
		}
		votes = votes[:0]
		for _, k := range row.Sources {
			if source := sources[k]; source.isPage() && source != target {
				votes = appendVote(votes, pagerank.NewLink(uint32(source), uint32(target&^aliasBit), row.Region == book.Navigation))
			}
		}
		if err := into.add(votes); err != nil {
			return err
		}
		if all := count.Add(int64(len(row.Sources))); all > int64(r.limits.Votes) {
			return fmt.Errorf("there are more than %d links between pages, which the function rank would not have the memory for", r.limits.Votes)
		}
	}
	return nil
}

// counts reports whether a link with this rel attribute may count for the rank of its target.
func counts(rel string) bool {
	if rel == "" {
		return true
	}
	return !slices.ContainsFunc(strings.Fields(rel), func(word string) bool { return word == "nofollow" || word == "ugc" || word == "sponsored" })
}

// point records to which address aliases lead. The row of a book has the sources of redirects, or of
// canonical links, to one target. For each source that is an alias in the graph, point stores the
// target in r.aliases. In undamaged books an alias has only one target. If it has several, point
// keeps the one with the least identity (hash of its URL).
func (r *reading) point(row book.Row, sources []number, mu *sync.Mutex) {
	for _, k := range row.Sources {
		source := sources[k]
		if source == unknown || source.isPage() {
			continue
		}
		mu.Lock()
		to := &r.aliases[source&^aliasBit]
		if *to == (layout.Identity{}) || bytes.Compare(row.ID[:], to[:]) < 0 {
			*to = row.ID
		}
		mu.Unlock()
	}
}

// maxSteps is the greatest number of aliases (addresses that lead to another one) that are
// followed, one after another, to a page.
const maxSteps = 8

// page returns the page to which an alias (a redirect or canonical link) leads, directly or by
// other aliases. The result found is false if it leads to no page.
func (r *reading) page(alias number) (page number, found bool) {
	for range maxSteps {
		next, known := r.graph.known[r.aliases[alias&^aliasBit]]
		if !known || next.isPage() {
			return next, known
		}
		alias = next
	}
	return 0, false
}

// resolve turns votes for aliases into votes for the pages to which the aliases lead: it adds them to r.votes. In a vote
// for an alias, the target is the number of the alias without aliasBit.
func (r *reading) resolve(context.Context) error {
	content, err := r.aliasVotes.content()
	if err != nil {
		return err
	}
	var vote []byte
	for l := range votesIn(content) {
		page, found := r.page(number(l.Target()) | aliasBit)
		if !found || l.Source() == uint32(page) {
			continue
		}
		to, _ := slices.BinarySearch(r.firsts, uint32(page)+1)
		vote = appendVote(vote[:0], l.To(uint32(page)))
		if err := r.votes[to-1].add(vote); err != nil {
			return err
		}
	}
	return nil
}

// makeGraph sets r.graph.votes.
func (r *reading) makeGraph(context.Context) (err error) {
	ends := make([]int, len(r.firsts)) // the page after the last one of each range
	for i := range ends {
		ends[i] = r.graph.Pages()
		if i+1 < len(ends) {
			ends[i] = int(r.firsts[i+1])
		}
	}
	r.graph.votes, err = pagerank.New(r.graph.sites, r.dir, ends, r.votesFor)
	return err
}

// votesFor returns the votes for the pages in the i-th range of the hash space, in any order, and frees their file.
func (r *reading) votesFor(i int) ([]pagerank.Link, error) {
	defer r.votes[i].close()
	content, err := r.votes[i].content()
	if err != nil {
		return nil, err
	}
	return slices.AppendSeq(make([]pagerank.Link, 0, len(content)/voteSize), votesIn(content)), nil
}

// closeVotes frees the files of votes.
func (r *reading) closeVotes() {
	closeSpills(r.votes)
	if r.aliasVotes != nil {
		r.aliasVotes.close()
	}
}

// voteSize is the size of a vote in a file, in bytes.
const voteSize = 8

func appendVote(b []byte, l pagerank.Link) []byte { return binary.BigEndian.AppendUint64(b, uint64(l)) }

// votesIn yields the votes that appendVote has encoded.
func votesIn(content []byte) iter.Seq[pagerank.Link] {
	return func(yield func(pagerank.Link) bool) {
		for ; len(content) > 0; content = content[voteSize:] {
			if !yield(pagerank.Link(binary.BigEndian.Uint64(content))) {
				return
			}
		}
	}
}
