package collection

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Explainer names the settings of a collection by which its Admission decides. It is slower than an
// Admission, and meant for texts that people read. It is safe for concurrent use.
type Explainer struct {
	seeds []Seed
	alone []Admission // for each seed, the Admission of a collection that has only this seed and no patterns
	all   Admission
}

// Explain returns the Explainer of the collection. It fails as Rules does.
func (c Collection) Explain() (Explainer, error) {
	e := Explainer{seeds: c.Seeds}
	for _, seed := range c.Seeds {
		alone, err := Collection{Seeds: []Seed{seed}}.Rules()
		if err != nil {
			return Explainer{}, err
		}
		e.alone = append(e.alone, alone)
	}
	var err error
	e.all, err = c.Rules()
	return e, err
}

// Seed returns the first seed that admits an address at this depth, after this number of redirects.
// The patterns of the collection do not matter. The result found is false if no seed admits it.
func (e Explainer) Seed(target address.Address, depth uint16, hops uint8) (seed Seed, found bool) {
	i := slices.IndexFunc(e.alone, func(a Admission) bool { return a.Decide(target, depth, hops) == "" })
	if i < 0 {
		return Seed{}, false
	}
	return e.seeds[i], true
}

// Exclusion returns the first pattern of Exclude that matches an address, as it is written in the
// collection; "" if none does.
func (e Explainer) Exclusion(target address.Address) string {
	for _, p := range e.all.exclude {
		if p.match(target.URL) {
			return p.text
		}
	}
	return ""
}
