package rules

import (
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Validate returns an error that says what is wrong with the document, or nil. It does not
// look for holes and overlaps of ranges; Faults does.
func (d Document) Validate() error {
	switch {
	case d.Kind != Crawl && d.Kind != Storage:
		return fmt.Errorf("kind %q: want %q or %q", d.Kind, Crawl, Storage)
	case d.Version == 0:
		return errors.New("version 0: versions count from 1")
	case d.From.IsZero():
		return errors.New("no time from which it holds")
	case !d.Expires.IsZero() && !d.Expires.After(d.From):
		return errors.New("expires before it holds")
	case !d.Due.IsZero() && d.Due.Before(d.From):
		return errors.New("the next version is due before this one holds")
	case d.Standard != address.Standard:
		return fmt.Errorf("standard %q: this program's addresses follow %q", d.Standard, address.Standard)
	case len(d.Rules) == 0:
		return errors.New("no rules")
	}
	for i, r := range d.Rules {
		if err := r.validate(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return nil
}

func (r Rule) validate() error {
	matchers := 0
	for _, has := range []bool{r.Pattern != "", r.Site != "", r.Range != nil} {
		if has {
			matchers++
		}
	}
	switch {
	case matchers != 1:
		return fmt.Errorf("%d matchers: want one of pattern, site and range", matchers)
	case r.Refuse && r.Range != nil:
		return errors.New("refuses a range: only a pattern or a site can be refused")
	case r.Refuse && r.Partition != 0:
		return fmt.Errorf("refuses, yet names partition %d", r.Partition)
	case r.Partition < 0 || r.Partition >= MaxPartitions:
		return fmt.Errorf("partition %d: want 0 to %d", r.Partition, MaxPartitions-1)
	case r.Range != nil && r.Range.To != 0 && r.Range.To <= r.Range.From:
		return fmt.Errorf("range from %d to %d is empty", r.Range.From, r.Range.To)
	}
	return nil
}
