package system

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// Choose publishes which collections and seeds are crawled from now on: only those of the plan
// if Plan.Only is set, otherwise all.
func (s *System) Choose(ctx context.Context, p Plan) error {
	only, err := p.only()
	if err == nil {
		_, err = control.Change(ctx, s.Bucket, func(d *control.Document) bool {
			changed := !reflect.DeepEqual(d.Only, only)
			d.Only = only
			return changed
		})
	}
	if err != nil {
		return fmt.Errorf("cannot choose what is crawled: %w", err)
	}
	return nil
}

// only returns the collections and seeds to which the plan limits the crawl; nil if the plan
// does not limit it.
func (p Plan) only() (*control.Only, error) {
	if !p.Only {
		return nil, nil
	}
	var only control.Only
	for _, c := range p.Collections {
		only = append(only, control.Chosen{Collection: c.Name})
	}
	if len(p.Seeds) == 0 {
		return &only, nil
	}
	admission, err := collection.Collection{Seeds: p.Seeds}.Rules()
	if err != nil {
		return nil, err
	}
	some := control.Chosen{Collection: DefaultCollection}
	for _, seed := range p.Seeds {
		at, err := collection.ParseSeed(seed.URL)
		if err != nil {
			return nil, err
		}
		some.Seeds = append(some.Seeds, admission.Clean(at).URL) // in the form in which planSeeds publishes it
	}
	only = append(only, some)
	return &only, nil
}
