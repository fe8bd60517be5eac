package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Faults describes each hole between the ranges of the rules, and each overlap of two ranges, by a
// clause such as "has a hole: …". Pages whose hashes are in a hole have no partition; in an overlap,
// the rule that comes first applies. A rule with the pattern "*" matches every page and closes all
// holes. Documents with faults are not published; if an older program has published one, it is used
// nevertheless.
func (d *Document) Faults() []string {
	type ranged struct {
		number int // number of the rule, from 1
		layout.Range
	}
	var all []ranged
	whole := false // the pattern of a rule matches every page
	for i, r := range d.Rules {
		if r.Range != nil {
			all = append(all, ranged{i + 1, *r.Range})
		}
		whole = whole || r.Pattern != "" && strings.Trim(r.Pattern, "*") == ""
	}
	slices.SortStableFunc(all, func(a, b ranged) int { return cmp.Compare(a.From, b.From) })
	var faults []string
	hole := func(from layout.Place, to string, beside string) {
		if !whole {
			faults = append(faults, fmt.Sprintf("has a hole: no rule says where pages of the places from %d to %s belong (%s)", from, to, beside))
		}
	}
	if len(all) == 0 {
		hole(0, "the end of the space", "no rule has a range")
		return faults
	}
	var next layout.Place // the first place after the ranges so far
	last, ended := ranged{}, false
	for _, r := range all {
		switch {
		case ended || r.From < next:
			faults = append(faults, fmt.Sprintf("has an overlap: the ranges of rules %d and %d both hold the place %d", last.number, r.number, r.From))
		case r.From > next && last.number == 0:
			hole(next, fmt.Sprint(r.From), fmt.Sprintf("before rule %d", r.number))
		case r.From > next:
			hole(next, fmt.Sprint(r.From), fmt.Sprintf("between rules %d and %d", last.number, r.number))
		}
		if !ended && (r.To == 0 || r.To > next) {
			next, last, ended = r.To, r, r.To == 0
		}
	}
	if !ended {
		hole(next, "the end of the space", fmt.Sprintf("behind rule %d", last.number))
	}
	return faults
}

// checkPublishable returns an error if the document is invalid or has Faults, and so must
// not be published.
func (d *Document) checkPublishable() error {
	if err := d.Validate(); err != nil {
		return err
	}
	if faults := d.Faults(); len(faults) > 0 {
		return errors.New("it " + strings.Join(faults, "; it "))
	}
	return nil
}
