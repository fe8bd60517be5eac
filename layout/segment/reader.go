package segment

import (
	"errors"
	"fmt"

	"github.com/blugelabs/bluge/search"
	api "github.com/blugelabs/bluge_segment_api"
)

// reader shows an index to bluge's searchers as if it were one segment.
// Documents are numbered through all segments; dead ones are left out.
type reader struct{ ix *Index }

var _ search.Reader = reader{}

// lists returns a term's postings in each segment; nil in an empty one.
func (r reader) lists(term []byte, field string) ([]api.PostingsList, error) {
	lists := make([]api.PostingsList, len(r.ix.segments))
	for n, s := range r.ix.segments {
		if s.postings == nil {
			continue
		}
		dictionary, err := s.postings.Dictionary(field)
		if err != nil {
			return nil, fmt.Errorf("cannot open the dictionary of %s: %w", field, err)
		}
		if lists[n], err = dictionary.PostingsList(term, r.ix.dead[n], nil); err != nil {
			return nil, fmt.Errorf("cannot find %q in %s: %w", term, field, err)
		}
	}
	return lists, nil
}

// frequency returns in how many live documents the field holds the term.
func (r reader) frequency(term, field string) (uint64, error) {
	lists, err := r.lists([]byte(term), field)
	return count(lists), err
}

func count(lists []api.PostingsList) (n uint64) {
	for _, list := range lists {
		if list != nil {
			n += list.Count()
		}
	}
	return n
}

// PostingsIterator implements search.Reader.
func (r reader) PostingsIterator(term []byte, field string, freq, norm, locations bool) (api.PostingsIterator, error) {
	lists, err := r.lists(term, field)
	if err != nil {
		return nil, err
	}
	p := &postings{ix: r.ix, count: count(lists), parts: make([]api.PostingsIterator, len(lists))}
	for n, list := range lists {
		if list == nil || list.Count() == 0 {
			continue
		}
		if p.parts[n], err = list.Iterator(freq, norm, locations, nil); err != nil {
			return nil, fmt.Errorf("cannot read postings of %q in %s: %w", term, field, err)
		}
	}
	return p, nil
}

// The searchers that we use ask for postings only.

func (reader) CollectionStats(string) (api.CollectionStats, error) {
	return nil, errors.ErrUnsupported
}

func (reader) DictionaryLookup(string) (api.DictionaryLookup, error) {
	return nil, errors.ErrUnsupported
}

func (reader) DictionaryIterator(string, api.Automaton, []byte, []byte) (api.DictionaryIterator, error) {
	return nil, errors.ErrUnsupported
}

func (reader) DocumentValueReader([]string) (api.DocumentValueReader, error) {
	return nil, errors.ErrUnsupported
}

func (reader) VisitStoredFields(uint64, api.StoredFieldVisitor) error {
	return errors.ErrUnsupported
}

func (reader) Close() error { return nil }

// postings runs through a term's postings, one segment after another.
type postings struct {
	ix    *Index
	parts []api.PostingsIterator // nil where the term does not occur
	at    int                    // the part being read
	count uint64
}

// Next implements segment.PostingsIterator.
func (p *postings) Next() (api.Posting, error) { return p.read(0) }

// Advance implements segment.PostingsIterator.
func (p *postings) Advance(number uint64) (api.Posting, error) {
	n, doc := p.ix.locate(number)
	if n > p.at {
		p.at = n
	}
	if n < p.at {
		doc = 0
	}
	return p.read(uint64(doc))
}

// read returns the next posting whose number in the current part is at least
// doc, or the first of a later part.
func (p *postings) read(doc uint64) (api.Posting, error) {
	for ; p.at < len(p.parts); p.at++ {
		if p.parts[p.at] != nil {
			posting, err := p.parts[p.at].Advance(doc)
			if err != nil {
				return nil, fmt.Errorf("cannot read postings of segment %d: %w", p.at, err)
			}
			if posting != nil {
				posting.SetNumber(posting.Number() + p.ix.offsets[p.at])
				return posting, nil
			}
		}
		doc = 0
	}
	return nil, nil
}

func (p *postings) Count() uint64 { return p.count }
func (p *postings) Empty() bool   { return p.count == 0 }
func (p *postings) Size() int     { return 0 }
func (p *postings) Close() error  { return nil }
