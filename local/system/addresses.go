package system

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Addresses returns the possible meanings of a person's web address: the address itself,
// and the addresses without dropped parameters that the collections crawl instead. It
// fails as collection.ParseSeed does.
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
