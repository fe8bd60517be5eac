package index

import (
	"encoding/binary"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// translationOf returns segment.Document.Translation of a page: a number that is the same for the
// translations of a page. The parameters are the page's address, its language, and the addresses
// that it names as its translations. The number is made of
//
//	the lowest identity of the page and these addresses     if the page names translations
//	the identity of the URL without the part that names     if it names none
//	the language (see address.Untranslated)
//
// So pages that name each other as translations have the same number, in whatever order they are
// named.
func translationOf(a address.Address, language string, named []address.Address) uint64 {
	of := a.ID
	if len(named) == 0 {
		rest, _ := address.Untranslated(a.URL, language)
		of = layout.IdentityOf(rest)
	}
	for _, other := range named {
		if other.ID.Compare(of) < 0 {
			of = other.ID
		}
	}
	return binary.BigEndian.Uint64(of[8:]) // the lowest identities have zeros at their beginning
}
