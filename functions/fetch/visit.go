package fetch

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// page asks for a target that is a page, notes what the answer says, and hands
// the page on.
func (r *run) page(ctx context.Context, i int, agent string, delay time.Duration, d *digester) {
	t := r.batch.Targets[i]
	p := page{index: i, target: t, address: r.targets[i], behalf: r.behalf, claims: *r.claiming(i), parse: document.Read}
	p.known = confirmable(t, p.sure)
	a, asked := r.ask(ctx, request{url: p.address.URL, agent: agent, limit: r.f.Limits.Page, unless: p.known}, delay)
	if !asked {
		return
	}
	r.received += int64(len(a.body))
	o := r.answered(i, a)
	if a.err != nil {
		conclude(o, t, judge(a.err))
	} else if isRedirect(a) {
		conclude(o, t, r.redirect(i, a))
	} else if v, final := judgeStatus(a, p.known); !final {
		p.answer = a
		d.pages <- p
	} else {
		if v.state == book.Unchanged {
			o.ETag, o.Modified = validators(a, p.known)
		}
		conclude(o, t, v)
	}
}

// answered notes in the outcome of a target that there was an answer.
func (r *run) answered(i int, a answer) *book.Outcome {
	o := &r.ledger.Outcomes[i]
	o.Attempts, o.Status, o.Time = more(o.Attempts), uint16(a.status), millisecond(a.ended)
	return o
}

// redirect records where a target led as a link. What a sitemap leads to is read
// as one, too.
func (r *run) redirect(i int, a answer) verdict {
	to, err := r.targets[i].Resolve(a.location())
	if err != nil {
		return verdict{book.Failed, "bad redirect", fmt.Sprintf("%s: %v", http.StatusText(a.status), err)}
	}
	o, kind := r.ledger.Outcomes[i], book.Redirect
	if r.batch.Targets[i].Sitemap {
		kind = book.Sitemap
	}
	r.links[i] = []book.Link{{
		Source: r.targets[i].ID, Target: to.URL, Place: to.Place, Kind: kind, Region: book.Text,
		Depth: o.Depth, Hops: more(o.Hops), Weight: r.batch.Targets[i].Weight, Collection: collectionOf(o),
	}}
	return verdict{book.Skipped, membership.Redirect, "to " + to.URL}
}
