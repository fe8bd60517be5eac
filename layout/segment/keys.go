package segment

import "bytes"

// cursor walks through something that has ascending keys.
type cursor interface {
	next() (bool, error) // false behind the last
	key() []byte         // valid until the next
}

// eachKey calls visit for each key that any of the cursors has, in ascending
// order, with the cursors that have it, in their order.
func eachKey[C cursor](cursors []C, visit func(key []byte, having []C) error) error {
	type place struct {
		cursor C
		key    []byte
		moves  bool // its key is the lowest
	}
	live := make([]place, len(cursors)) // those that are not behind their last
	for i, c := range cursors {
		live[i] = place{cursor: c, moves: true}
	}
	having := make([]C, 0, len(cursors))
	for {
		kept := live[:0]
		for _, p := range live {
			if p.moves {
				ok, err := p.cursor.next()
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				p.key = p.cursor.key()
			}
			kept = append(kept, p)
		}
		if live = kept; len(live) == 0 {
			return nil
		}
		lowest := live[0].key
		for _, p := range live[1:] {
			if bytes.Compare(p.key, lowest) < 0 {
				lowest = p.key
			}
		}
		having = having[:0]
		for i := range live {
			p := &live[i]
			if p.moves = bytes.Equal(p.key, lowest); p.moves {
				having = append(having, p.cursor)
			}
		}
		if err := visit(lowest, having); err != nil {
			return err
		}
	}
}
