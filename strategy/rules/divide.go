package rules

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Change publishes a next version of a strategy, which holds from now on. The function change makes its rules from the
// newest version. Its parameter unused is a number that no version has for a partition: the number after the
// highest. If somebody else publishes a version at the same time, change is called once more, with that version.
func Change(ctx context.Context, bucket blob.Bucket, kind Kind, now time.Time, change func(newest Document, unused int) ([]Rule, error)) (Document, error) {
	kept := new(Kept)
	if _, err := LoadAll(ctx, bucket, kind, now, kept); err != nil { // for example, there is no version
		return Document{}, err
	}
	var failed error
	published, _, err := store(kind).Publish(ctx, bucket, func(newest Document, version uint64) (next Document, changed bool) {
		next, failed = newest.next(ctx, bucket, version, now, kept, change)
		return next, failed == nil
	})
	if err = cmp.Or(failed, err); err != nil {
		return Document{}, err
	}
	return published, nil
}

// next returns the document that Change publishes after d, as the given version.
func (d Document) next(ctx context.Context, bucket blob.Reader, version uint64, now time.Time, kept *Kept, change func(Document, int) ([]Rule, error)) (Document, error) {
	if d.From.After(now) {
		return Document{}, fmt.Errorf("the %s holds only from %s; change its rules then", &d, d.From.Format(time.RFC3339))
	}
	history, err := LoadAll(ctx, bucket, d.Kind, now, kept)
	if err != nil {
		return Document{}, err
	}
	unused := 0
	for _, known := range history.Versions {
		for _, p := range known.Partitions() {
			unused = max(unused, p+1)
		}
	}
	next := Document{Kind: d.Kind, Version: version, From: now.UTC().Truncate(time.Millisecond), Standard: address.Standard}
	if next.Rules, err = change(d, unused); err != nil {
		return Document{}, err
	}
	if err := next.checkPublishable(); err != nil {
		return Document{}, fmt.Errorf("cannot publish the %s: %w", &next, err)
	}
	return next, nil
}

// Ranges returns the ranges of the hash space that the rules with ranges assign to a partition, in ascending order.
func (d Document) Ranges(partition int) (all []layout.Range) {
	for _, r := range d.Rules {
		if r.Range != nil && r.Partition == partition {
			all = append(all, *r.Range)
		}
	}
	slices.SortFunc(all, func(a, b layout.Range) int { return cmp.Compare(a.From, b.From) })
	return all
}

// Split returns the rules of the document, but with the ranges of one partition divided: places from at on go to the
// partition child. Rules that assign URLs by a pattern or site stay as they are. Split fails if one of the two
// partitions would have no range.
func (d Document) Split(partition, child int, at layout.Place) ([]Rule, error) {
	var rules []Rule
	for _, r := range d.Rules {
		if r.Range == nil || r.Partition != partition {
			rules = append(rules, r)
			continue
		}
		if low := (layout.Range{From: r.Range.From, To: min(r.Range.To-1, at-1) + 1}); r.Range.From < at {
			rules = append(rules, Rule{Range: &low, Partition: partition})
		}
		if high := (layout.Range{From: max(r.Range.From, at), To: r.Range.To}); high.From <= high.To-1 {
			rules = append(rules, Rule{Range: &high, Partition: child})
		}
	}
	divided := Document{Rules: rules}
	if len(divided.Ranges(partition)) == 0 || len(divided.Ranges(child)) == 0 {
		return nil, fmt.Errorf("the place %d does not divide the ranges of partition %d", at, partition)
	}
	return rules, nil
}

// Join returns the rules of the document, but with the partition into in place of the partition from. Neighbouring
// ranges become one.
func (d Document) Join(from, into int) ([]Rule, error) {
	for _, p := range []int{from, into} {
		if !slices.Contains(d.Partitions(), p) {
			return nil, fmt.Errorf("the %s has no partition %d", &d, p)
		}
	}
	if from == into {
		return nil, fmt.Errorf("partition %d cannot be joined with itself", from)
	}
	var rules []Rule
	for _, r := range d.Rules {
		if !r.Refuse && r.Partition == from {
			r.Partition = into
		}
		if last := len(rules) - 1; last >= 0 && r.Range != nil && rules[last].Range != nil &&
			r.Partition == rules[last].Partition && r.Range.From == rules[last].Range.To {
			rules[last].Range = &layout.Range{From: rules[last].Range.From, To: r.Range.To}
			continue
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Moved compares two versions of a strategy. It returns the partitions that have other URLs under the version after than
// under the version before, in ascending order. It can tell them only if in both versions the rules with ranges come last
// and cover the hash space, and the rules before them are equal. Otherwise the result told is false: any partition may
// have other URLs, and other URLs may be refused.
func Moved(before, after Document) (partitions []int, told bool) {
	was, known := before.owners()
	is, knownAfter := after.owners()
	if !known || !knownAfter || !reflect.DeepEqual(before.Rules[:len(before.Rules)-len(was)], after.Rules[:len(after.Rules)-len(is)]) {
		return nil, false
	}
	for len(was) > 0 { // both begin at the same place
		if was[0].Partition != is[0].Partition {
			partitions = append(partitions, was[0].Partition, is[0].Partition)
		}
		ended, endedAfter := was[0].Range.To-1, is[0].Range.To-1
		if ended <= endedAfter {
			was = was[1:]
		}
		if endedAfter <= ended {
			is = is[1:]
		}
	}
	slices.Sort(partitions)
	return slices.Compact(partitions), true
}

// owners returns the rules with ranges, in the order of the ranges. The result known is false unless they come last and
// cover the hash space.
func (d Document) owners() (owners []Rule, known bool) {
	first := slices.IndexFunc(d.Rules, func(r Rule) bool { return r.Range != nil })
	if first < 0 {
		return nil, false
	}
	owners = slices.Clone(d.Rules[first:])
	if slices.ContainsFunc(owners, func(r Rule) bool { return r.Range == nil }) || len((&Document{Rules: owners}).Faults()) > 0 {
		return nil, false
	}
	slices.SortFunc(owners, func(a, b Rule) int { return cmp.Compare(a.Range.From, b.Range.From) })
	return owners, true
}

// Spans returns for each partition ranges of whole sites: pages of other sites are in no case stored in the partition. All
// pages of a batch go to one partition, and a batch has URLs of one site. So if a range divides a site, the partition
// may have any page of the site.
func (d Document) Spans() map[int][]layout.Range {
	all := make(map[int][]layout.Range)
	for _, r := range d.Rules {
		span := layout.Range{} // of a rule with a pattern: any site
		switch {
		case r.Refuse:
			continue
		case r.Range != nil:
			span = r.Range.Sites()
		case r.Site != "":
			span = layout.RangeOfSite(layout.IdentityOf(r.Site))
		}
		all[r.Partition] = append(all[r.Partition], span)
	}
	return all
}
