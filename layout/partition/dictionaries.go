package partition

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// OpenDictionary opens a dictionary. The parameter listed is its entry in the manifest; content
// holds its bytes. The error wraps dictionary.ErrDamaged if the bytes do not match the entry.
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

// SetDictionary stores a dictionary with the bytes content, and adds its entry to the list of
// dictionaries, with the fields Key and Bytes set. The new entry replaces one with the same
// languages From and To. SetDictionary also makes the field Dictionaries.Of empty; SetDictionaries
// sets it when all dictionaries are stored. If the function rank is stopped before that, its next
// run sees the empty field, and learns the missing dictionaries.
//
// SetDictionary stores the dictionary immediately, before the commit. If the commit begins again,
// SetDictionary is called again, and stores the dictionary under another key (see Mask).
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

// SetDictionaries completes the list Manifest.Dictionaries when all new dictionaries are in it. It
// takes those dictionaries off the list for which the function keep returns false. The first two
// parameters become fields of the list: what identifies the input from which the dictionaries were
// learnt, and what was left out of them because of limits.
func (e *Edit) SetDictionaries(of string, omitted []string, keep func(manifest.Dictionary) bool) {
	e.keepDictionaries(keep)
	e.next.Dictionaries.Of, e.next.Dictionaries.Omitted = of, omitted
}

// keepDictionaries unlists all dictionaries but those for which the function keep returns true. It
// also empties the fields Of and Omitted of Manifest.Dictionaries.
func (e *Edit) keepDictionaries(keep func(manifest.Dictionary) bool) {
	next := new(manifest.Dictionaries)
	if before := e.next.Dictionaries; before != nil {
		next.All = slices.DeleteFunc(slices.Clone(before.All), func(d manifest.Dictionary) bool { return !keep(d) })
	}
	e.next.Dictionaries = next
}
