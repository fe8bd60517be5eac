package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// forgetting sets p.clean if the partition's manifest says that all pages which takedowns cover have
// been erased. Otherwise it counts the partition in Waiting.Forget.
func (v *run) forgetting(p *audit) {
	switch version := v.settings.Takedowns.Version; {
	case version == 0:
	case p.Forgotten >= version:
		p.clean = true
	default:
		v.report.Waiting.Forget++
	}
}

// left adds a problem to the report: the object with the given key still contains a forgotten URL
// (one that a takedown covers).
func (v *run) left(p layout.Partition, key, url string) {
	v.problems.add(Problem{Kind: Behind, Partition: p, Key: key, URL: url, Detail: details[Behind]})
}

// forgotten recognizes URLs that should have been erased from a partition because a takedown covers
// them. As long as the partition has not erased all URLs that takedowns cover, nothing is wrong with
// those that it still has: all methods return false. For a series of URLs of one site it is decided only
// once whether a takedown covers the site. So the methods are fast if the URLs are sorted by site.
// forgotten is not safe for concurrent use.
type forgotten struct {
	set  *takedown.Set // takedowns in force; nil if there are none, or if the partition has still to erase URLs
	site uint32        // site of the URL that was asked about last
	hit  bool          // whether the whole site of the URL that was asked about last is forgotten
	any  bool          // whether site and hit have a meaning: the URL that was asked about last is where it would be today
}

// forgotten returns a checker, which decides for URLs found in partition p whether they should have
// been erased because a takedown covers them.
func (v *run) forgotten(p *audit) *forgotten {
	f := new(forgotten)
	if set := &v.settings.Takedowns; p.clean && !set.Empty() {
		f.set = set
	}
	return f
}

// url reports whether a URL is forgotten. It computes the URL's identity and site.
func (f *forgotten) url(url string) bool { return f.set != nil && f.set.ForgetsURL(url) }

// placed reports whether a takedown covers a URL. It returns the same as the method url. It is faster,
// because it is given two hashes that url has to compute: the URL's identity and place.
func (f *forgotten) placed(url string, id layout.Identity, place layout.Place) bool {
	if f.set == nil {
		return false
	}
	if f.set.ForgetsID(id) || !f.set.HasSites() {
		return f.set.ForgetsID(id)
	}
	if site := place.Site(); !f.any || site != f.site {
		a, err := address.Parse(url)
		f.any, f.site, f.hit = err == nil && a.Place == place, site, err == nil && f.set.Forgets(a)
	}
	return f.hit
}

// outcome reports whether the URL of an outcome, or the target of its redirect, is
// forgotten.
func (f *forgotten) outcome(o *book.Outcome) bool {
	if f.set == nil {
		return false
	}
	to, found := strings.CutPrefix(o.Detail, "to ")
	return f.placed(o.URL, o.Identity(), o.Place) || found && f.url(to)
}

// id reports whether a takedown names the URL with this identity. It does not find out whether a
// takedown names the whole site of the URL.
func (f *forgotten) id(id layout.Identity) bool { return f.set != nil && f.set.ForgetsID(id) }

// ledger searches a ledger (the outcomes and links of a batch) for a forgotten URL, first in the
// outcomes, then in the links. It returns the URL by which the report is to name what it has found;
// "" if it finds nothing:
//
//	the forgotten URL is                          result
//	the URL or redirect target of an outcome      the URL of the outcome
//	the source or target of a link                the target of the link
func (f *forgotten) ledger(l *spool.Ledger) string {
	if f.set == nil {
		return ""
	}
	for i := range l.Outcomes {
		if o := &l.Outcomes[i]; f.outcome(o) {
			return o.URL
		}
	}
	for i := range l.Links {
		if k := &l.Links[i]; f.id(k.Source) || f.placed(k.Target, layout.IdentityOf(k.Target), k.Place) {
			return k.Target
		}
	}
	return ""
}

// readQuarantine reports forgotten URLs in quarantined packages and books, as far as these
// can be read.
func (v *run) readQuarantine(ctx context.Context) error {
	if !slices.ContainsFunc(v.partitions, func(p *audit) bool { return v.forgotten(p).set != nil }) {
		return nil
	}
	for object, err := range v.Bucket.List(ctx, layout.Quarantine, "") {
		if err != nil {
			return fmt.Errorf("cannot list the quarantine: %w", err)
		}
		for _, p := range v.partitions {
			if !strings.Contains(object.Key, "+"+p.Partition.String()+"+") || v.forgotten(p).set == nil {
				continue
			}
			content, found, err := blob.Find(ctx, v.Bucket, object.Key)
			if err != nil {
				return err
			}
			if url := v.forgotten(p).copied(content); found && url != "" {
				v.left(p.Partition, object.Key, url)
			}
		}
	}
	return nil
}

// readJudgments reports judgments of forgotten URLs, and clicks on them. It does nothing until
// every partition has erased everything that is forgotten.
func (v *run) readJudgments(ctx context.Context) error {
	if slices.ContainsFunc(v.partitions, func(p *audit) bool { return v.forgotten(p).set == nil }) {
		return nil
	}
	keys, err := judgment.Forgotten(ctx, v.Bucket, &v.settings.Takedowns)
	for _, key := range keys {
		v.left(0, key, "")
	}
	return err
}

// copied returns the first forgotten URL in a quarantined package or book, whose bytes are given; ""
// if there is none.
func (f *forgotten) copied(content []byte) string {
	if reader, err := webobject.Open(content); err == nil {
		for entry := range reader.Objects() {
			if f.url(entry.URL) {
				return entry.URL
			}
		}
		return ""
	}
	learnt, err := book.Decode(content)
	if err != nil {
		return ""
	}
	return f.ledger(&spool.Ledger{Outcomes: learnt.Outcomes, Links: learnt.Links})
}

// readSpool reads the given spool objects, and adds their ledgers (outcomes and links) to p.spooled.
// A spool object is a fetched batch that is not packed yet. readSpool reports damaged objects, and
// objects with forgotten URLs. It ignores objects whose batch is packed or closed, and objects whose
// name is not that of a batch.
func (v *run) readSpool(ctx context.Context, p *audit, spooled []blob.Object) error {
	for _, object := range spooled {
		key := object.Key
		_, batch, err := layout.ParseSpoolKey(key)
		if err != nil || p.HasConsumed(batch) || p.IsClosed(batch) {
			continue
		}
		content, err := spool.Read(ctx, v.Bucket, key)
		switch {
		case errors.Is(err, blob.ErrAbsent): // consumed and deleted since it was listed
			continue
		case errors.Is(err, spool.ErrDamaged):
			v.problem(Damaged, p.Partition, key, "is damaged: %v", err)
			continue
		case err != nil:
			return err
		}
		if url := v.forgotten(p).ledger(&content.Ledger); url != "" {
			v.left(p.Partition, key, url)
		}
		pages, err := membership.ParsePages(content.Ledger.Outcomes)
		if err == nil {
			content.Ledger.Links, err = v.settings.Assign(content.Ledger.Links, pages, nil) // as pack will
		}
		if err != nil {
			v.problem(Damaged, p.Partition, key, "is damaged: %v", err)
			continue
		}
		p.spooled = append(p.spooled, content.Ledger)
		v.report.Waiting.Spool++
	}
	return nil
}
