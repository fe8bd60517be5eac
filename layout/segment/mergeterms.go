package segment

import "context"

// mergeInputTerms writes the terms of all inputs.
func mergeInputTerms(ctx context.Context, all []*input) (*termWriter, error) {
	cursors, size := make([]termCursor, len(all)), int64(0)
	for i, in := range all {
		cursors[i] = &inputTerms{termWalk: in.walkTerms(ctx), in: in}
		size += in.tail.terms.end() - in.tail.terms.start
	}
	return mergeTerms(cursors, int(size))
}

// inputTerms walks through the terms of a segment that is being merged.
type inputTerms struct {
	termWalk
	in *input
}

func (t *inputTerms) addTo(w *termWriter, alone bool) error {
	list, positions, err := t.encoded()
	if err != nil {
		return err
	}
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
