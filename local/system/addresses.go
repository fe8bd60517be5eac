package system

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// ParseAddress parses an address that a person has typed: a web address, as collection.ParseSeed does,
// or a mail address, with or without "mailto:".
func ParseAddress(text string) (address.Address, error) {
	if mail, is := address.ParseTypedMail(text); is {
		return mail, nil
	}
	return collection.ParseSeed(text)
}

// Addresses parses an address that a person has typed (see ParseAddress). A collection
// may crawl the same page under another address, for example without a session id in the query
// parameters. Addresses returns the typed address, and all addresses that collections use in its
// place.
func (a *Attached) Addresses(ctx context.Context, text string) ([]address.Address, error) {
	given, err := ParseAddress(text)
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
