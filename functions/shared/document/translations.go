package document

import "github.com/bucketsearch/bucketsearch/strategy/address"

// Translations returns the addresses that the page names as those of the same page in other languages
// or for other regions, by <link rel=alternate hreflang> (WHATWG HTML, 4.6.7.1). Most pages name their
// own address among them. Addresses that only headers or sitemaps name are missing. The parameter a
// is the address of the page.
func (d *Document) Translations(a address.Address) (all []address.Address) {
	if d.page == nil {
		return nil
	}
	r := d.resolver(a, 0)
	for _, l := range d.page.Links {
		if l.Language == "" || !hasWord(l.Rel, "alternate") {
			continue
		}
		if to, ok := r.resolve(l.Address); ok {
			all = append(all, to)
		}
	}
	return all
}
