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

// originState is the robots.txt of an origin, or the reason why it could not be fetched.
type originState struct {
	status int
	body   []byte
	parsed map[string]robots.Rules // rules of the robots.txt by agent, parsed when first needed
	// nil if the robots.txt was fetched; otherwise the state and reason that every target of the
	// origin gets
	absent *verdict
}

// rules returns the rules of the robots.txt for a User-Agent. A receiver that is nil stands for a
// robots.txt that this batch did not fetch, because schedule has already checked the URLs of the
// batch against it. For this, rules returns empty rules, which allow everything.
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

// robots fetches the robots.txt of an origin, such as "https://example.org". It records the file,
// and links to the sitemaps that the file names, in the batch's ledger. It returns false if the
// batch's time ran out before the answer.
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

// follow fetches a robots.txt and follows up to maxRedirects redirects (RFC 9309, 2.3.1.2), also to
// other hosts, which it requests without a delay. It returns the last answer, and the address from
// which this came. The last answer is itself a redirect if there were too many, or if its
// destination is invalid. The result asked is false if the batch's time ran out.
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

// unreachable returns the state and reason that all targets of an origin get if the origin's
// robots.txt could not be fetched (RFC 9309, 2.3.1.4). It returns nil if the robots.txt was
// fetched, or does not exist. The state is Failed if the address or port of the origin must not be
// dialled, and Retry in all other cases. If the robots.txt was redirected to another host, the
// parameter moved is this host, else "".
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

// askers returns the names of the collections that have targets at an origin, sorted. It also
// returns the User-Agent with which the origin's robots.txt is requested: that of the origin's
// first target.
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

// sitemaps returns links to the sitemaps that a robots.txt names. Each sitemap gets one link for
// each of the collections. The parameter at is the address of the robots.txt.
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

// pace computes the earliest time of the next request to a host, from the host's answers so far.
// The ledger in the spool object passes it on to the host's next batch.
type pace struct {
	last     time.Time     // end of the last answer; zero if there was none
	slow     time.Duration // moving average of the times from request to end of answer
	failures int           // failures in a row (no answer, 429 or 503), including those of earlier batches
	rest     time.Time     // time before which no request may be sent; zero if the host did not fail
}

// next returns the earliest time of the next request; zero means now. The parameter delay is the
// pause that is required after an answer. The pause is longer if the host needs longer for an
// answer: then it is as long as the answer takes. So the host spends at most half of its time on
// our requests. A delay of 0 means no pause, however slow the host is.
func (p *pace) next(delay time.Duration) time.Time {
	if p.last.IsZero() {
		return time.Time{}
	}
	if delay > 0 {
		delay = max(delay, p.slow)
	}
	return latest(p.rest, p.last.Add(delay))
}

// observe updates the pace after an answer. After the n-th failure in a row, no request is sent for
// 2^(n-1) seconds, at most an hour; or longer, if the host demands that by Retry-After.
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

// note writes the pace into a ledger, from which the frontier takes it for the host's next batch.
func (p *pace) note(l *spool.Ledger) {
	l.Slow, l.Failures = p.slow, p.count()
	if !p.rest.IsZero() {
		l.Rest = notBefore(p.rest)
	}
}

// count returns the number of failures as it is stored.
func (p *pace) count() uint16 { return uint16(min(p.failures, math.MaxUint16)) }

// notBefore rounds the time t up to a whole millisecond, so that the result is not before t.
func notBefore(t time.Time) time.Time { return millisecond(t.Add(time.Millisecond - 1)) }

// silent reports whether the request failed without an HTTP response, for example by a timeout, and
// may succeed later.
func (a answer) silent() bool {
	return a.status == 0 && a.err != nil && judge(a.err).state == book.Retry
}

// retryAfter returns the pause that the header Retry-After asks for (RFC 9110, 10.2.3), at most
// maxRest; 0 if there is no such header, or it cannot be parsed.
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
