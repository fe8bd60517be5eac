package manifest

import "slices"

// Dictionaries lists the dictionaries by which queries are translated. The function rank learns them
// of the pages of all partitions, and one partition's manifest lists them.
type Dictionaries struct {
	// Of names the input of which they were learnt: a hash of the keys of all partitions' indexed
	// packages, and of the limits and rules. "" if rank is not done with them, or must learn them
	// again.
	Of  string       `json:"of,omitempty"`
	All []Dictionary `json:"all,omitempty"`
	// Omitted tells what limits left out of all of them, such as "3 of 43 pairs of languages"
	Omitted []string `json:"omitted,omitempty"`
}

// Dictionary is the entry of a dictionary from one language to another (see layout/dictionary). It is
// stored as an overlay is.
type Dictionary struct {
	From      string `json:"from"` // primary subtags of the languages (RFC 5646), such as en
	To        string `json:"to"`
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	Terms     int    `json:"terms"`     // number of terms that it translates
	Pages     int    `json:"pages"`     // number of pages that were translations of each other, read or not
	Sentences int    `json:"sentences"` // number of pairs of sentences of which it was learnt
	Rules     int    `json:"rules"`     // version of the rules by which it was learnt
	// Omitted tells what limits left out, such as "200 of 1200 pages"
	Omitted []string `json:"omitted,omitempty"`
}

// Between returns the dictionary from one language to another; nil if there is none. The receiver
// may be nil.
func (d *Dictionaries) Between(from, to string) *Dictionary {
	if d == nil {
		return nil
	}
	i := slices.IndexFunc(d.All, func(one Dictionary) bool { return one.From == from && one.To == to })
	if i < 0 {
		return nil
	}
	return &d.All[i]
}
