package fetch

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// origin is what is known of an origin's robots.txt.
type origin struct {
	rules  robots.Rules
	absent *verdict // on every target there, when the robots.txt could not be had
}

// robots asks for the robots.txt of an origin and notes the answer. It follows
// redirects on the same host; one that leads elsewhere counts as no file. It
// reports false when time ran out.
func (r *run) robots(ctx context.Context, name string) bool {
	from, err := address.Parse(name + "/robots.txt")
	if err != nil {
		r.origins[name] = origin{absent: &verdict{book.Failed, "bad address", err.Error()}}
		return true
	}
	var a answer
	for range maxRedirects + 1 {
		var asked bool
		a, asked = r.ask(ctx, request{url: from.URL, limit: robots.MaxBytes, lenient: true}, 0)
		if !asked {
			return false
		}
		to, err := from.Resolve(a.location())
		if a.err != nil || !isRedirect(a) || err != nil || to.Host != from.Host {
			break
		}
		from = to
	}
	note := spool.Robots{Origin: name, Fetched: millisecond(a.ended)}
	if a.err == nil {
		note.Status, note.Body = a.status, a.body
	}
	r.ledger.Robots = append(r.ledger.Robots, note)
	r.origins[name] = origin{rules: robots.Parse(note.Status, note.Body, r.f.Agent), absent: unreachable(a)}
	return true
}

// unreachable returns the verdict on an origin whose robots.txt cannot be had,
// or nil: nothing may be asked for there until it can (RFC 9309, 2.3.1.4).
func unreachable(a answer) *verdict {
	switch {
	case a.err != nil:
		v := judge(a.err)
		if v.state == book.Failed && (v.reason == "address refused" || v.reason == "port refused") {
			return &v
		}
		return &verdict{book.Retry, "robots unreachable", "robots.txt: " + v.reason + ": " + v.detail}
	case a.status/100 == 5:
		v, _ := judgeStatus(a, false)
		return &verdict{book.Retry, "robots unreachable", "robots.txt: " + v.reason}
	}
	return nil
}

func (a answer) location() string { return a.header.Get("Location") }
