package manifest

import "slices"

// Dictionaries lists the dictionaries by which queries are translated. The function rank learns them
// from the pages of all partitions, and the manifest of one partition lists them.
type Dictionaries struct {
	// Of identifies the input from which the dictionaries were learnt: it is a hash of the keys of
	// all partitions' indexed packages, and of the limits and rules. It is "" if the function rank
	// has not learnt all dictionaries yet, or must learn them again.
	Of  string       `json:"of,omitempty"`
	All []Dictionary `json:"all,omitempty"`
	// Omitted says what was left out of all the dictionaries because of limits, such as "3 of 43
	// pairs of languages".
	Omitted []string `json:"omitted,omitempty"`
}

// Dictionary is the entry in a manifest of a dictionary from one language to another (see
// layout/dictionary). The dictionary itself is an object whose key begins with layout.Overlays.
type Dictionary struct {
	From  string `json:"from"` // primary subtags of the languages (RFC 5646), such as "en"
	To    string `json:"to"`
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
	Terms int    `json:"terms"` // number of terms that the dictionary translates
	// number of pages in these languages that had a translation when the dictionary was learnt. If
	// they were more than a limit, it was learnt from only some of them
	Pages     int `json:"pages"`
	Sentences int `json:"sentences"` // number of pairs of sentences that the dictionary was learnt from
	// version of the rules by which the dictionary was learnt. It is 0 if some pages could not be
	// read: then the dictionary will be learnt again, like one that was learnt by older rules.
	Rules int `json:"rules"`
	// Omitted says what was left out of the dictionary because of limits, such as "200 of 1200
	// pages".
	Omitted []string `json:"omitted,omitempty"`
}

// list returns the field All; nil if there are no dictionaries. The receiver may be nil.
func (d *Dictionaries) list() []Dictionary {
	if d == nil {
		return nil
	}
	return d.All
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
