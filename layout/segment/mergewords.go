package segment

import "context"

// inputWords walks through the words of a segment that is being merged, without
// those that are known in no live document.
type inputWords struct {
	*wordWalk
	in      *input
	holding uint64
}

func (in *input) words(ctx context.Context) (*inputWords, error) {
	walk, err := in.walkWords(ctx)
	if err != nil {
		return nil, err
	}
	return &inputWords{wordWalk: walk, in: in}, nil
}

func (w *inputWords) next() (bool, error) {
	for {
		ok, err := w.wordWalk.next()
		if !ok {
			return false, err
		}
		known, live := uint64(len(w.docs)), w.docs[:0]
		for _, doc := range w.docs {
			if w.in.lives(doc) {
				live = append(live, w.in.numbers[doc])
			}
		}
		w.docs = live
		if len(live) > 0 {
			dead := min(known-uint64(len(live)), w.wordWalk.count()-1)
			w.holding = min(w.wordWalk.count()-dead, uint64(w.in.live))
			return true, nil
		}
	}
}

// count returns how many live documents hold the word. Where more than
// sampleSize hold it, dead ones that are not in the sample are counted.
func (w *inputWords) count() uint64 { return w.holding }
