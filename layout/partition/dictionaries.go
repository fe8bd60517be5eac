package partition

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// OpenDictionary opens a dictionary from its entry in the manifest, the parameter listed, and its
// bytes, the parameter content. Its error wraps dictionary.ErrDamaged if the bytes do not match the
// entry.
func OpenDictionary(listed *manifest.Dictionary, content []byte) (*dictionary.Dictionary, error) {
	if !layout.IsOverlayOf(listed.Key, content) {
		return nil, fmt.Errorf("cannot open dictionary %s: %w: its content is that of another object", listed.Key, dictionary.ErrDamaged)
	}
	d, err := dictionary.Open(content)
	if err == nil && (d.From != listed.From || d.To != listed.To) {
		err = fmt.Errorf("%w: it is from %s to %s, and the manifest says from %s to %s", dictionary.ErrDamaged, d.From, d.To, listed.From, listed.To)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open dictionary %s: %w", listed.Key, err)
	}
	return d, nil
}

// SetDictionary stores a dictionary, whose bytes are the parameter content, and lists it by the
// parameter entry, of which it sets the fields Key and Bytes. A listed dictionary with the same
// languages From and To is replaced. Dictionaries.Of is empty until SetDictionaries is called, so
// that rank continues if only some dictionaries have been stored.
//
// SetDictionary stores immediately, before the commit; an edit that runs again stores the
// dictionary again (see Mask).
func (e *Edit) SetDictionary(ctx context.Context, entry manifest.Dictionary, content []byte) error {
	key, err := e.putOverlay(ctx, content)
	if err != nil {
		return err
	}
	entry.Key, entry.Bytes = key, int64(len(content))
	e.keepDictionaries(func(d manifest.Dictionary) bool { return d.From != entry.From || d.To != entry.To })
	e.next.Dictionaries.All = append(e.next.Dictionaries.All, entry)
	return nil
}

// SetDictionaries sets two fields of the list of dictionaries: Of identifies the input from which
// the dictionaries were learnt, and Omitted names the parts of this input that were left out
// because of limits. It unlists the dictionaries for which the function keep returns false.
func (e *Edit) SetDictionaries(of string, omitted []string, keep func(manifest.Dictionary) bool) {
	e.keepDictionaries(keep)
	e.next.Dictionaries.Of, e.next.Dictionaries.Omitted = of, omitted
}

// keepDictionaries replaces the list of dictionaries by a new one. The new list has the
// dictionaries for which the function keep returns true; its fields Of and Omitted are empty.
func (e *Edit) keepDictionaries(keep func(manifest.Dictionary) bool) {
	next := new(manifest.Dictionaries)
	if before := e.next.Dictionaries; before != nil {
		next.All = slices.DeleteFunc(slices.Clone(before.All), func(d manifest.Dictionary) bool { return !keep(d) })
	}
	e.next.Dictionaries = next
}
