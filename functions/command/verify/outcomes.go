package verify

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// fold is the state of verifying the URLs whose hash is in one range. It collects all outcomes of
// each URL and the links to it, and determines the state of the URL from them.
type fold struct {
	*run
	within  layout.Range
	account *account.Account
	asked   map[layout.Identity]*asked // URLs of the range that have outcomes, by identity
}

// asked is a URL with at least one outcome. The embedded book.Standing holds those of its outcomes,
// in books and in the spool, that determine its state.
type asked struct {
	book.Standing
	booked    book.Standing // the same as the embedded Standing, but only of outcomes in books
	url       string
	partition layout.Partition // partition of the book or spool object that has the outcome Standing.Final
}

// foldRanges reads all books and the spool, one range of URLs after another. It counts the URLs by
// state, and compares their outcomes with the pages, and the pending URLs with the frontiers.
func (v *run) foldRanges(ctx context.Context) error {
	if err := v.readFrontiers(ctx); err != nil {
		return err
	}
	progress := v.stage(Ranges, int64(len(v.ranges)))
	err := each(ctx, v.ranges, func(ctx context.Context, within layout.Range) error {
		defer progress.add(1)
		known, err := account.New(v.settings)
		if err != nil {
			return err
		}
		f := &fold{run: v, within: within, account: known, asked: make(map[layout.Identity]*asked)}
		for _, p := range v.partitions {
			if err := f.read(ctx, p); err != nil {
				return err
			}
		}
		f.judge()
		return nil
	})
	if err != nil {
		return err
	}
	if err := v.judgeUndiscovered(ctx); err != nil {
		return err
	}
	v.judgeFrontiers()
	v.judgeStrategies()
	v.report.Notes = append(v.report.Notes, v.remarks.notes()...)
	return nil
}

// read reads the books and the spool of partition p. It adds two things to f: the outcomes of URLs in
// the range f.within, and the links to such URLs.
func (f *fold) read(ctx context.Context, p *audit) error {
	check := f.forgotten(p)
	for _, b := range p.books {
		if b.lost.Load() {
			continue
		}
		if err := f.lose(b, f.readBook(ctx, b, check)); err != nil {
			return err
		}
	}
	for _, ledger := range p.spooled {
		for _, o := range ledger.Outcomes {
			if f.within.Contains(o.Place) {
				f.outcome(&o, p.Partition)
			}
		}
		for _, l := range ledger.Links {
			if f.within.Contains(l.Place) {
				f.account.Link(l)
			}
		}
	}
	return nil
}

// readBook reads one book. It adds to f the outcomes of URLs in the range f.within, and the links to
// such URLs. It reports each of these outcomes and links that should have been erased because a
// takedown covers its URL; the parameter check decides that.
func (f *fold) readBook(ctx context.Context, b *openBook, check *forgotten) error {
	for o, err := range b.reader.Outcomes(ctx, f.within) {
		if err != nil {
			return err
		}
		if check.outcome(&o) {
			f.left(b.partition, b.Key, o.URL)
		}
		f.outcome(&o, b.partition).booked.Add(&o)
	}
	var last book.Target
	for t, err := range b.reader.Targets(ctx, f.within) {
		if err != nil {
			return err
		}
		if t.Decision, t.Sources = "", 0; t == last { // most links to one target are equal without these fields
			continue
		}
		last = t
		if check.placed(t.URL, t.ID, t.Place) {
			f.left(b.partition, b.Key, t.URL)
		}
		f.account.Target(t)
	}
	return nil
}

// outcome adds an outcome to the entry of its URL in f.asked, and returns this entry. The outcome is
// from a book or spool object of partition p.
func (f *fold) outcome(o *book.Outcome, p layout.Partition) *asked {
	f.account.Outcome(*o)
	id := o.Identity()
	known, found := f.asked[id]
	if !found {
		known = &asked{url: o.URL}
		f.asked[id] = known
	}
	if known.Add(o); known.Final == o {
		known.partition = p
	}
	return known
}

// judge counts the URLs of the range by state, and compares their outcomes with the
// pages in packages.
func (f *fold) judge() {
	var sums Report
	for u, err := range f.account.All() {
		if err != nil {
			f.problems.add(Problem{Kind: Damaged, Detail: err.Error()})
			continue
		}
		if !f.within.Contains(u.Address.Place) { // a seed of another range
			continue
		}
		sums.URLs++
		switch u.State {
		case account.Stored:
			sums.Stored++
			if u.Page != nil {
				f.remarks.add(u.Page.Reason, u.Address.URL)
			}
		case account.Skipped:
			sums.Skipped++
		case account.Failed:
			sums.Failed++
		case account.Pending:
			sums.Pending++
			switch u.Apart {
			case "":
				f.pending(u.Address.ID, u.Address.URL)
			case membership.HeldBack:
				sums.Waiting.Held++
			}
		}
		if u.Apart == membership.NoPartition {
			f.unplaced.Add(1)
		}
		switch known := f.asked[u.Address.ID]; {
		case known == nil || known.Final == nil:
		case known.Final.State != book.Lost && !u.Discovered:
			f.noteUndiscovered(u.Address.URL, known.partition)
		case known.Final.State == book.Lost && u.State == account.Pending:
			sums.Waiting.Fetch++
		}
	}
	for id, known := range f.asked {
		if known.Final != nil {
			f.pagesOf(id, known)
		}
	}
	f.count(func(r *Report) {
		r.URLs += sums.URLs
		r.Stored += sums.Stored
		r.Skipped += sums.Skipped
		r.Failed += sums.Failed
		r.Pending += sums.Pending
		r.Waiting.Fetch += sums.Waiting.Fetch
		r.Waiting.Held += sums.Waiting.Held
	})
}

// pagesOf compares the versions of a URL's page in packages with the outcomes of the URL (results of
// requests). At most one version is live: the one that the outcomes name as the stored one. Every
// other version should be older than the last outcome. So pagesOf
//
//	marks every version as known: its URL has an outcome
//	marks the live version as live, or reports that it is missing
//	reports each other version that is not older than the last outcome
//
// If the last outcome in the books says that the page is gone, pagesOf also marks all versions as gone
// that are older than that outcome.
func (f *fold) pagesOf(id layout.Identity, known *asked) {
	own := f.pages.of(id)
	var live *page
	switch {
	case known.Stands() && known.Page.Package != "": // else it may wait to be packed
		live = f.place(id, known)
	case known.Final.State == book.Unchanged && known.Page == nil:
		f.problems.add(Problem{Kind: Missing, Partition: known.partition, URL: known.url, Detail: "is said to be what it was, and no page of it was ever stored"})
	}
	for i := range own {
		p := &own[i]
		p.mark(markKnown)
		in := f.packages[p.pkg]
		if known.booked.Gone() && p.version.Compare(known.booked.Final.Version) < 0 {
			p.mark(markGone)
		}
		if p == live || p.has(markDamaged) || in.partition.incomplete() {
			continue
		}
		wrong := Problem{Partition: in.partition.Partition, Key: in.Key, Offset: int64(p.offset), URL: known.url}
		switch newer := p.version.Compare(known.Final.Version); {
		case newer < 0:
			continue
		case newer == 0 && known.Final.State == book.Stored:
			wrong.Kind, wrong.Detail = Double, fmt.Sprintf("is the page of batch %s, which stands in %s at byte %d", p.version, known.Page.Package, known.Page.Offset)
		default:
			wrong.Kind, wrong.Detail = Unaccounted, fmt.Sprintf("was fetched by batch %s, and the last outcome is of %s", p.version, known.Final.Version)
		}
		f.problems.add(wrong)
	}
}

// place marks the stored page of a URL as live, and returns it. The URL's outcome says in which
// package and at which offset the page is. If that page is not there, place reports it and returns
// nil. If the whole package is missing or unreadable, place returns nil and reports nothing, because
// the package is reported elsewhere.
func (f *fold) place(id layout.Identity, known *asked) *page {
	o := known.Page
	in := f.byKey[o.Package]
	if in != nil && in.gone { // reported once for the package
		return nil
	}
	p := f.pages.at(id, in, o.Offset)
	if p == nil || !p.has(markDamaged) && (p.version != o.Version || int64(p.length) != o.Length) {
		f.problems.add(Problem{Kind: Missing, Partition: known.partition, Key: o.Package, Offset: o.Offset, URL: o.URL,
			Detail: fmt.Sprintf("is said to stand there since batch %s, and does not", o.Version)})
		return nil
	}
	p.mark(markLive)
	return p
}
