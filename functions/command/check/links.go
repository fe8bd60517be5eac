package check

import (
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

const (
	maxExamples = 3  // greatest number of addresses in a Group
	maxGroups   = 20 // greatest number of groups of a page; all other links are in one group more
)

// Group is a number of links about which the same setting of the collection decides.
type Group struct {
	Reason   string   `json:"refused,omitempty"` // why the links are refused; "" if they are admitted
	Rule     string   `json:"rule"`              // the setting that decides, such as `exclude "*/old/*"`; "" if the reason says all
	Count    int      `json:"count"`
	Examples []string `json:"examples"` // addresses of some of the links
}

// groups counts links by the settings that decide about them. Each target counts once.
type groups struct {
	all  []Group
	seen map[layout.Identity]bool
}

// add counts a link to the target to. The parameters reason and rule are Group.Reason and Group.Rule. It
// returns false if a link to this target was counted before. Beyond maxGroups groups, links of the same
// reason are counted together as "other rules".
func (g *groups) add(reason, rule string, to address.Address) bool {
	if g.seen[to.ID] {
		return false
	}
	if g.seen == nil {
		g.seen = make(map[layout.Identity]bool)
	}
	g.seen[to.ID] = true
	i := slices.IndexFunc(g.all, func(known Group) bool { return known.Reason == reason && known.Rule == rule })
	if i < 0 && len(g.all) >= maxGroups {
		rule = "other rules"
		i = slices.IndexFunc(g.all, func(known Group) bool { return known.Reason == reason && known.Rule == rule })
	}
	if i < 0 {
		i = len(g.all)
		g.all = append(g.all, Group{Reason: reason, Rule: rule, Examples: []string{}})
	}
	if of := &g.all[i]; of.Count < maxExamples {
		of.Examples = append(of.Examples, to.URL)
	}
	g.all[i].Count++
	return true
}

// sorted returns the groups: the admitted links first, and the larger group first.
func (g *groups) sorted() []Group {
	slices.SortStableFunc(g.all, func(a, b Group) int {
		if (a.Reason == "") != (b.Reason == "") {
			if a.Reason == "" {
				return -1
			}
			return 1
		}
		return b.Count - a.Count
	})
	return g.all
}

// decide returns what a crawl does with a link. The result to is the address that is requested: the
// target of the link, without the query parameters that the collection drops. The result reason says why
// the collection refuses this address; it is "" if the collection admits the address. The parameter
// source identifies the page with the link. The function pack decides in the same way (see
// membership.Members.Assign).
func (c *checker) decide(l book.Link, source layout.Identity) (to address.Address, reason string, err error) {
	found, err := address.Parse(l.Target)
	if err != nil {
		return address.Address{}, "", fmt.Errorf("target %q of a link: %w", l.Target, err)
	}
	to = c.Settings.Clean(c.Task.Collection, found)
	if l.Kind == book.Redirect && to.ID == source {
		to = found
	}
	return to, c.Settings.Decide(membership.PathOf(l), to), nil
}

// rule returns the setting of the collection that decides about a link, as it is written in the
// collection's file, such as `exclude "*/old/*"`. The parameters to and reason are the results of decide.
// The result is "" if the reason says all.
func (c *checker) rule(l book.Link, to address.Address, reason string) string {
	switch reason {
	case "", collection.TooDeep:
		depth := l.Depth
		if reason != "" {
			depth = 0 // the seed whose scope has the address, whatever its depth
		}
		seed, found := c.explainer.Seed(to, max(depth, 1), l.Hops)
		switch {
		case !found && l.Kind == book.Asset:
			return "assets"
		case !found:
			return ""
		case reason != "":
			return fmt.Sprintf("depth %d of seed %s", seed.Depth, seed.URL)
		}
		return fmt.Sprintf("scope %s of seed %s", seed.Scope, seed.URL)
	case collection.Excluded:
		return fmt.Sprintf("exclude %q", c.explainer.Exclusion(to))
	case collection.NotIncluded:
		return fmt.Sprintf("include %q", c.collection.Include)
	case membership.OffTopic:
		return fmt.Sprintf("threshold %g of the topic", c.collection.Topic.Threshold)
	}
	return ""
}
