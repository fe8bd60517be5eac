package fetch

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// share gives the outcome of a page that is not stored to all whose it would be
// whatever it were about, so that none of them asks for it once more, and the
// link to where it is instead is one of each. But what the settings of one keep
// from being asked for may be had for another.
func (r *run) share(i int) {
	o, t := &r.ledger.Outcomes[i], r.batch.Targets[i]
	if t.Sitemap || o.State != book.Skipped && o.State != book.Failed {
		return
	}
	others := r.behalf.kept(t)
	if !membership.WasUnasked(*o) {
		others = append(others, r.claiming(i).sure...)
	}
	o.Collections = together(o.Collections, others...)
}

// claims are the collections of which a page is one, see membership.Members.
type claims struct{ sure, topical []string }

func (r *run) claiming(i int) *claims {
	if r.claims[i] == nil {
		t := r.batch.Targets[i]
		sure, topical := r.behalf.settings.Claiming(r.targets[i], t.Depth, t.Hops)
		r.claims[i] = &claims{sure, topical}
	}
	return r.claims[i]
}

// kept returns the collections that the last look at a target was for, and that
// there still are.
func (b behalf) kept(t batch.Target) []string {
	if t.Last == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Last.Collections), b.isNone)
}

// had returns the last look at a target, nil if it brought nothing: that of a
// page which was never stored tells only for which collections it was.
func had(t batch.Target) *batch.Look {
	if t.Last != nil && t.Last.Digest == 0 && !t.Sitemap {
		return nil
	}
	return t.Last
}

// confirmable returns the last look at a target if what it brought may stay as it
// is: no collection lacks it of those that ask for it or claim it. Else it is nil.
func confirmable(t batch.Target, claiming []string) *batch.Look {
	last := had(t)
	lacks := func(name string) bool { return !slices.Contains(last.Collections, name) }
	if last == nil || slices.ContainsFunc(t.Collections, lacks) || slices.ContainsFunc(claiming, lacks) {
		return nil
	}
	return last
}

// collections returns those for which the page is stored.
func (p page) collections(read *document.Document) []string {
	all := together(p.target.Collections, append(p.behalf.kept(p.target), p.sure...)...)
	for _, name := range p.topical {
		if !slices.Contains(all, name) && p.isAbout(name, read) {
			all = append(all, name)
		}
	}
	return together(all)
}

// isAbout reports whether the page is on the topic of a collection.
func (p page) isAbout(name string, read *document.Document) bool {
	return p.behalf.topicOf(name).Page(read.Title, read.Visible()) >= p.behalf.settings.Collection(name).Topic.Threshold
}

// together returns names as an outcome has them: the first, then the others
// and more of them, sorted, each once, and no more than a book takes.
func together(names []string, others ...string) []string {
	all := slices.Concat(names, others)
	if len(all) == 0 {
		return nil
	}
	others = all[1:]
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(name string) bool { return name == all[0] })
	return all[:min(1+len(others), book.MaxCollections)]
}
