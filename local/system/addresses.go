package system

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Addresses parses a web address that a person has typed, as collection.ParseSeed does. A collection
// may crawl the same page under another address, for example without a session id in the query
// parameters. Addresses returns the typed address, and all addresses that collections use in its
// place.
func (a *Attached) Addresses(ctx context.Context, text string) ([]address.Address, error) {
	given, err := collection.ParseSeed(text)
	if err != nil {
		return nil, err
	}
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	all := []address.Address{given}
	for _, c := range inForce.Collections {
		if cleaned := inForce.Clean(c.Name, given); !slices.Contains(all, cleaned) {
			all = append(all, cleaned)
		}
	}
	return all, nil
}
