package index

import (
	"encoding/binary"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// translationOf returns segment.Document.Translation of a page at address a in a language. It is a
// hash of
//
//	the lowest identity of a and the addresses in named     if the page names translations
//	the URL without its language (address.Untranslated)     if it names none
//
// So translations that name each other have the same value, in whatever order they are named. The
// parameter named has the addresses that the page names as its translations.
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
