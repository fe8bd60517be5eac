package fetch

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// origin is what is known of an origin's robots.txt.
type origin struct {
	status int
	body   []byte
	parsed map[string]robots.Rules // by agent
	absent *verdict                // on every target there, when the robots.txt could not be had
}

// rules returns what the robots.txt says to an agent. That of an origin which
// this batch did not ask has been obeyed before.
func (o *origin) rules(agent string) robots.Rules {
	if o == nil {
		return robots.Rules{}
	}
	rules, known := o.parsed[agent]
	if !known {
		rules = robots.Parse(o.status, o.body, agent)
		o.parsed[agent] = rules
	}
	return rules
}

// robots asks for the robots.txt of an origin and notes the answer, and the
// sitemaps that it names. It reports false when time ran out.
func (r *run) robots(ctx context.Context, name string) bool {
	at, err := address.Parse(name + "/robots.txt")
	if err != nil {
		r.origins[name] = &origin{absent: &verdict{book.Failed, "bad address", err.Error()}}
		return true
	}
	agent, collections := r.askers(name)
	a, from, asked := r.follow(ctx, at, agent)
	if !asked {
		return false
	}
	note := spool.Robots{Origin: name, Fetched: millisecond(a.ended)}
	if a.err == nil {
		note.Status, note.Body = a.status, a.body
	}
	moved := ""
	if from.Host != at.Host {
		moved = from.Host
	}
	known := &origin{status: note.Status, body: note.Body, parsed: map[string]robots.Rules{}, absent: unreachable(a, moved)}
	r.ledger.Robots = append(r.ledger.Robots, note)
	r.ledger.Links = append(r.ledger.Links, sitemaps(at, known.rules(agent), collections)...)
	r.origins[name] = known
	return true
}

// follow asks for a robots.txt and follows redirects, also to other hosts (RFC
// 9309, 2.3.1.2), which are asked out of turn. One that leads nowhere, or too
// far, is the answer. It returns where the answer came from, too.
func (r *run) follow(ctx context.Context, at address.Address, agent string) (a answer, from address.Address, asked bool) {
	host := at.Host
	for range maxRedirects + 1 {
		from = at
		a, asked = r.ask(ctx, request{url: at.URL, agent: agent, limit: robots.MaxBytes, lenient: true, away: at.Host != host}, 0)
		if !asked || a.err != nil || !isRedirect(a) {
			break
		}
		var err error
		if at, err = at.Resolve(a.location()); err != nil {
			break
		}
	}
	return a, from, asked
}

// unreachable returns the verdict on an origin whose robots.txt cannot be had,
// or nil: nothing may be asked for there until it can (RFC 9309, 2.3.1.4). If
// it has moved to another host, that this may not be asked is no final verdict
// on the origin.
func unreachable(a answer, moved string) *verdict {
	var v verdict
	switch {
	case a.err != nil:
		v = judge(a.err)
	case !robots.Reachable(a.status):
		v, _ = judgeStatus(a, nil)
	default:
		return nil
	}
	if moved == "" && (v.reason == "address refused" || v.reason == "port refused") {
		return &v
	}
	where := "robots.txt: "
	if moved != "" {
		where = "robots.txt, moved to " + moved + ": "
	}
	return &verdict{book.Retry, "robots unreachable", where + v.reason + ": " + v.detail}
}

// askers returns the collections, sorted, that have targets at an origin, and
// the agent that asks for its robots.txt: that of the first target.
func (r *run) askers(origin string) (agent string, collections []string) {
	for i, wanted := range r.wanted {
		if r.targets[i].Origin != origin {
			continue
		}
		if agent == "" {
			agent = r.behalf.agentOf(collectionOf(book.Outcome{Collections: wanted}))
		}
		collections = append(collections, wanted...)
	}
	if agent == "" {
		agent = r.behalf.agent
	}
	slices.Sort(collections)
	return agent, slices.Compact(collections)
}

// sitemaps returns links to the sitemaps that a robots.txt names, on behalf of
// each of the collections.
func sitemaps(at address.Address, rules robots.Rules, collections []string) []book.Link {
	var links []book.Link
	for _, name := range rules.Sitemaps() {
		to, err := address.Parse(name)
		if err != nil {
			continue
		}
		for _, c := range collections {
			links = append(links, book.Link{
				Source: at.ID, Target: to.URL, Place: to.Place, Kind: book.Sitemap, Region: book.Text, Collection: c,
			})
		}
	}
	return links
}
