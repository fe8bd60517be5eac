package segment

import "context"

// mergeInputTerms writes the terms of all inputs.
func mergeInputTerms(ctx context.Context, all []*input) (*termWriter, error) {
	cursors := make([]termCursor, len(all))
	for i, in := range all {
		cursors[i] = &inputTerms{termWalk: in.walkTerms(ctx), in: in}
	}
	return mergeTerms(cursors)
}

// inputTerms walks through the terms of a segment that is being merged.
type inputTerms struct {
	termWalk
	in *input
}

func (t *inputTerms) addTo(w *termWriter, alone bool) error {
	list, positions := t.encoded()
	var err error
	if alone && t.in.live == t.in.tail.documents {
		err = w.addMoved(t.key(), list, positions, t.in.numbers[0])
	} else {
		err = w.encoder.AddList(list, positions, t.in.numbers)
	}
	if err != nil {
		return t.segment.wrap(damaged("term %q: %w", t.key(), err))
	}
	return nil
}
