package pack

import (
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// class gathers the pages that change at the same pace.
type class struct {
	pkg      webobject.Package
	outcomes []*book.Outcome // of the package's runs
}

// classes sorts the pages into one package an expiry class, in the order of
// the spool objects, so that packing again gives the same bytes.
func classes(spools []spool.Spool) []*class {
	var all []*class
	byExponent := make(map[int16]*class)
	for i := range spools {
		for _, page := range spools[i].Pages {
			outcome := &spools[i].Ledger.Outcomes[page.Outcome]
			c, found := byExponent[outcome.Exponent]
			if !found {
				c = &class{pkg: webobject.Package{Base: webobject.ExpiryBase, Exponent: outcome.Exponent}}
				byExponent[outcome.Exponent] = c
				all = append(all, c)
			}
			c.add(page.Run, outcome)
		}
	}
	return all
}

func (c *class) add(run webobject.Run, outcome *book.Outcome) {
	c.pkg.Runs = append(c.pkg.Runs, run)
	c.outcomes = append(c.outcomes, outcome)
	if outcome.Time.After(c.pkg.Created) {
		c.pkg.Created = outcome.Time
		c.pkg.Expires = outcome.Time.Add(webobject.Lifetime(outcome.Exponent))
	}
}
