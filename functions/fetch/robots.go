package fetch

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// originState is the robots.txt of an origin, or why there is none.
type originState struct {
	status int
	body   []byte
	parsed map[string]robots.Rules // by agent
	absent *verdict                // on every target of the origin, when the robots.txt could not be fetched
}

// rules returns the rules of the robots.txt for an agent. An origin whose
// robots.txt this batch did not fetch (nil) has empty rules: they were applied
// before.
func (o *originState) rules(agent string) robots.Rules {
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

// robots fetches the robots.txt of an origin and records it and links to the
// sitemaps that it names. It returns false when the time of the batch ran out.
func (r *run) robots(ctx context.Context, name string) bool {
	at, err := address.Parse(name + "/robots.txt")
	if err != nil {
		r.origins[name] = &originState{absent: &verdict{book.Failed, "bad address", err.Error()}}
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
	known := &originState{status: note.Status, body: note.Body, parsed: map[string]robots.Rules{}, absent: unreachable(a, moved)}
	r.ledger.Robots = append(r.ledger.Robots, note)
	r.ledger.Links = append(r.ledger.Links, sitemaps(at, known.rules(agent), collections)...)
	r.origins[name] = known
	return true
}

// follow fetches a robots.txt and follows redirects, also to other hosts (RFC
// 9309, 2.3.1.2), without waiting for their pace. It returns the last answer, also
// when that is a redirect without a valid destination or one too many, and the
// address that gave it. Asked is false when the time of the batch ran out.
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

// unreachable returns the verdict on all targets of an origin whose robots.txt
// could not be fetched (RFC 9309, 2.3.1.4), nil when it was. If the robots.txt
// redirects to another host (moved) that must not be dialled, the verdict is not
// final.
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
	served := "robots.txt: "
	if moved != "" {
		served = "robots.txt, moved to " + moved + ": "
	}
	return &verdict{book.Retry, "robots unreachable", served + v.reason + ": " + v.detail}
}

// askers returns the collections, sorted, that have targets at an origin, and the agent
// that requests its robots.txt, which is that of the first target.
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

// pace computes when a host may be asked next, from its answers so far. The
// number of failures continues from batch to batch; the end of the rest and the
// duration of answers pass to the next batch by the ledger.
type pace struct {
	last     time.Time     // end of the last answer, zero before it
	slow     time.Duration // how long recent answers took
	failures int           // failures in a row (no answer, 429 or 503), earlier batches included
	rest     time.Time     // end of the host's rest: no request before it
}

// next returns when the pause after the last answer ends. A pause is at least as
// long as answers take, so that a slow host is busy with us half of the time at
// most; a delay of 0 has no pause.
func (p *pace) next(delay time.Duration) time.Time {
	if p.last.IsZero() {
		return time.Time{}
	}
	if delay > 0 {
		delay = max(delay, p.slow)
	}
	return latest(p.rest, p.last.Add(delay))
}

// observe updates the pace by an answer. After the n-th failure in a row the host
// rests for 2^(n-1) seconds, up to an hour, or for as long as it asks.
func (p *pace) observe(a answer) {
	p.last = a.ended
	if a.status != 0 {
		took := a.ended.Sub(a.began)
		if p.slow > 0 {
			took = (p.slow + took) / 2
		}
		p.slow = took
	}
	busy := a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
	if !busy && !a.silent() {
		p.failures = 0
		return
	}
	pause := min(time.Second<<min(p.failures, 30), maxBackoff)
	p.failures++
	if busy {
		pause = max(pause, retryAfter(a))
	}
	p.rest = latest(p.rest, a.ended.Add(pause))
}

// note writes the pace into a ledger, where the next batches find it.
func (p *pace) note(l *spool.Ledger) {
	l.Slow, l.Failures = p.slow, uint16(min(p.failures, math.MaxUint16))
	if !p.rest.IsZero() {
		l.Rest = notBefore(p.rest)
	}
}

// notBefore returns the first whole millisecond that is no earlier.
func notBefore(t time.Time) time.Time { return millisecond(t.Add(time.Millisecond - 1)) }

// silent reports whether the host gave no HTTP response but may give one later.
func (a answer) silent() bool {
	return a.status == 0 && a.err != nil && judge(a.err).state == book.Retry
}

// retryAfter returns how long a host asks to be left alone (RFC 9110, 10.2.3),
// at most maxRest; 0 if it does not, or not in a way that can be read.
func retryAfter(a answer) time.Duration {
	value := strings.TrimSpace(a.header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRest/time.Second))) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(0, date.Sub(a.ended)), maxRest)
}
