package check

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// maxHosts is the greatest number of hosts that are requested at the same time.
const maxHosts = 8

// target is a URL that is to be requested.
type target struct {
	address address.Address
	seed    bool
	sitemap bool
	from    string // see Page.From
	depth   uint16
	hops    uint8
	weight  uint8
}

// result is what fetch has recorded about a target.
type result struct {
	target
	outcome book.Outcome
	page    *webobject.Object // the stored page; nil if none is stored
	links   []book.Link
}

// host is what is known of a host so far.
type host struct {
	robots   map[string]robots.Rules // rules of its origins; an origin whose robots.txt could not be had forbids all
	status   int                     // HTTP status of the last robots.txt
	delay    time.Duration           // longest delay that a robots.txt of the host asks for
	next     time.Time               // time before which no request may be sent
	slow     time.Duration           // average time of an answer; 0 if unknown
	failures uint16                  // see batch.Batch.Failures
	listed   int64                   // see Host.Listed
}

// ask requests targets by the function fetch, and returns one result for each, in the order of the
// targets. At most maxHosts hosts are requested at the same time; the targets of one host are requested
// one after another. A target that is not requested because the time is over (see checker.end) has no
// result; ask counts it in c.late. Sitemaps that a robots.txt names are added to c.sitemaps.
func (c *checker) ask(ctx context.Context, targets []target) ([]result, error) {
	if c.Progress != nil {
		c.Progress(c.done, c.done+len(targets))
	}
	byHost := make(map[string][]int)
	var names []string
	for i, t := range targets {
		name := t.address.Host
		if byHost[name] == nil {
			names = append(names, name)
		}
		byHost[name] = append(byHost[name], i)
		if c.hosts[name] == nil {
			c.hosts[name] = &host{robots: map[string]robots.Rules{}}
			c.names = append(c.names, name)
		}
	}
	results := make([]*result, len(targets))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxHosts)
	for n, name := range names {
		group.Go(func() error {
			version := layout.Version{Epoch: 1, Token: uint64(c.done + n + 1)}
			return c.askHost(ctx, version, name, targets, byHost[name], results)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	c.done += len(targets)
	var all []result
	for _, r := range results {
		if r == nil {
			c.late++
			continue
		}
		all = append(all, *r)
		for _, l := range r.links {
			if l.Kind == book.Sitemap && !r.sitemap {
				if at, err := address.Parse(l.Target); err == nil && c.isNew(at) {
					c.sitemaps = append(c.sitemaps, target{address: at, sitemap: true})
				}
			}
		}
	}
	return all, nil
}

// askHost requests the targets of the host name in one batch with the given version. The parameter own
// lists the indexes of these targets in targets. askHost writes the result of targets[i] into results[i];
// results has as many elements as targets.
func (c *checker) askHost(ctx context.Context, version layout.Version, name string, targets []target, own []int, results []*result) error {
	h := c.hosts[name]
	delay := max(time.Duration(c.collection.Delay), h.delay)
	b := batch.Batch{Version: version, Host: name, NotBefore: h.next, Deadline: c.end, DelayMillis: delay.Milliseconds(), Failures: h.failures}
	for _, i := range own {
		t := targets[i]
		asked := batch.Target{URL: t.address.URL, Depth: t.depth, Hops: t.hops, Weight: t.weight, Collections: []string{c.Task.Collection}, Sitemap: t.sitemap}
		switch rules, known := h.robots[t.address.Origin]; {
		case known && !rules.Allows(t.address.Path):
			asked.Denied = membership.Robots
		case !known && !slices.Contains(b.Robots, t.address.Origin):
			b.Robots = append(b.Robots, t.address.Origin)
		}
		b.Targets = append(b.Targets, asked)
	}
	if err := c.Fetch.Run(ctx, b); err != nil {
		return err
	}
	answer, err := spool.Read(ctx, c.Bucket, layout.SpoolKey(b.Storage, b.Version))
	if errors.Is(err, blob.ErrAbsent) { // the time was over before the batch began
		return nil
	}
	if err != nil {
		return err
	}
	h.learn(answer.Ledger, c.collection.Agent, time.Duration(c.collection.Delay))
	return record(answer, targets, own, results)
}

// learn takes from the ledger of a batch (what fetch has recorded about the host) what the next batch of
// the host needs: the rules of robots.txt for the User-Agent agent, the time of an answer, and the time
// of the next request. The parameter delay is the delay that the collection sets.
func (h *host) learn(l spool.Ledger, agent string, delay time.Duration) {
	for _, r := range l.Robots {
		rules := robots.Parse(r.Status, r.Body, agent)
		h.robots[r.Origin], h.status = rules, r.Status
		h.delay = max(h.delay, rules.Delay())
	}
	h.slow, h.failures = l.Slow, l.Failures
	h.next = l.Ended.Add(max(h.delay, delay, l.Slow))
	if l.Rest.After(h.next) {
		h.next = l.Rest
	}
}

// record writes the content of a spool object (what fetch has stored for a batch) into results: the
// result of targets[i] becomes results[i], for each index i in own. Targets that were not requested
// because the time was over get no result. Links that fetch has found in a robots.txt go to the first
// target of the batch.
func record(answer spool.Spool, targets []target, own []int, results []*result) error {
	byURL := make(map[string]*result)
	byID := make(map[layout.Identity]*result)
	var first *result
	for _, i := range own {
		r := &result{target: targets[i]}
		byURL[r.address.URL], byID[r.address.ID] = r, r
		for _, o := range answer.Ledger.Outcomes {
			if o.URL == r.address.URL && o.State != book.NotAsked {
				r.outcome, results[i] = o, r
			}
		}
		if first == nil {
			first = results[i]
		}
	}
	for _, p := range answer.Pages {
		o, err := p.Run.Object()
		if err != nil {
			return err
		}
		if r := byURL[o.URL]; r != nil {
			r.page = &o
		}
	}
	for _, l := range answer.Ledger.Links {
		r := byID[l.Source]
		if r == nil && l.Kind == book.Sitemap {
			r = first
		}
		if r != nil {
			r.links = append(r.links, l)
		}
	}
	return nil
}
