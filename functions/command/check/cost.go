package check

import (
	"context"
	"math"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// readSitemaps requests the sitemaps that the collection and the robots.txt files name, and those
// that these sitemaps name, up to maxSitemaps.
func (c *checker) readSitemaps(ctx context.Context) error {
	for _, url := range c.collection.Sitemaps {
		at, err := address.Parse(url)
		if err != nil {
			return err
		}
		if c.isNew(at) {
			c.sitemaps = append(c.sitemaps, target{address: at, sitemap: true})
		}
	}
	for left := maxSitemaps; left > 0 && len(c.sitemaps) > 0; {
		wave := c.sitemaps[:min(left, len(c.sitemaps))]
		c.sitemaps = c.sitemaps[len(wave):]
		left -= len(wave)
		results, err := c.ask(ctx, wave)
		if err != nil {
			return err
		}
		for _, r := range results {
			if err := c.sitemap(r); err != nil {
				return err
			}
		}
	}
	if more := len(c.sitemaps); more > 0 {
		c.note("%d sitemaps are read, %d more are not: there may be more pages, and the crawl may take longer", maxSitemaps, more)
	}
	return nil
}

// sitemap reports a sitemap, counts its pages, and notes the sitemaps that it names.
func (c *checker) sitemap(r result) error {
	o := r.outcome
	s := Sitemap{URL: r.address.URL, Found: o.Reason == membership.Sitemap, Detail: o.Detail}
	if !s.Found {
		s.Reason = o.Reason
	}
	var links groups
	for _, l := range r.links {
		to, reason, err := c.decide(l, r.address.ID)
		if err != nil {
			return err
		}
		if l.Kind == book.Sitemap {
			if reason == "" && c.isNew(to) {
				c.sitemaps = append(c.sitemaps, target{address: to, sitemap: true, depth: l.Depth, hops: l.Hops})
			}
			continue
		}
		if !links.add(reason, c.rule(l, to, reason), to) || reason != "" || c.listed[to.ID] {
			continue
		}
		c.listed[to.ID] = true
		h := c.hosts[to.Host]
		if h == nil {
			h = &host{robots: map[string]robots.Rules{}}
			c.hosts[to.Host] = h
			c.names = append(c.names, to.Host)
		}
		h.listed++
		if len(c.pages) < c.Pages && c.isNew(to) {
			c.pages = append(c.pages, target{address: to, depth: l.Depth, weight: l.Weight})
		}
	}
	s.Links = links.sorted()
	c.report.Sitemaps = append(c.report.Sitemaps, s)
	return nil
}

// cost adds the hosts to the report, and computes how long a crawl of the pages in the sitemaps takes at
// least. After each answer, fetch waits for the delay or for as long as the answer took, whichever is
// longer; without a delay it does not wait.
//
//	time of a page   time of an answer + max(delay, time of an answer); without a delay only the answer
//	time of a host   number of its pages · time of a page / host_connections
//	time of a crawl  that of the slowest host, or, if that is more and the collection sets
//	                 connections, the sum over all hosts of number of pages · time of a page / connections
//
// The number of pages of a host is at most the limits host_pages and pages of the collection.
func (c *checker) cost() {
	var sum, longest float64
	for _, name := range c.names {
		h := c.hosts[name]
		delay := max(time.Duration(c.collection.Delay), h.delay)
		page := h.slow
		if delay > 0 {
			page += max(delay, h.slow)
		}
		listed := h.listed
		for _, limit := range []int64{c.collection.HostPages, c.collection.Pages} {
			if limit > 0 {
				listed = min(listed, limit)
			}
		}
		reported := Host{Name: name, Robots: h.status, Delay: rounded(delay.Seconds()), Answer: rounded(h.slow.Seconds()), Listed: h.listed, Page: rounded(page.Seconds())}
		reported.Seconds = rounded(float64(listed) * page.Seconds() / float64(c.collection.HostConnections))
		sum, longest = sum+reported.Seconds, max(longest, reported.Seconds)
		c.report.Hosts = append(c.report.Hosts, reported)
		c.report.Listed += h.listed
	}
	if c.collection.Connections > 0 {
		longest = max(longest, sum*float64(c.collection.HostConnections)/float64(c.collection.Connections))
	}
	c.report.Seconds = rounded(longest)
	if c.late > 0 {
		c.note("%d addresses were not requested: a check ends after %s, and takes %d MiB of pages of a host at a time", c.late, MaxTime, MaxBytes>>20)
	}
}

// rounded rounds a number of seconds to milliseconds.
func rounded(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }
