package manifest

import "fmt"

// change is one change of a list: from the place At on, counted from 0 in the list before all changes, Drop
// entries are left out, and the entries of Put are inserted. The changes of a list are sorted by At, and do not
// overlap. Example: the list a, b, c, d becomes a, x, c, d, y by the changes
//
//	{At: 1, Drop: 1, Put: [x]}    x in place of b
//	{At: 4, Put: [y]}             y at the end
type change[T any] struct {
	At   int `json:"at"`
	Drop int `json:"drop,omitempty"`
	Put  []T `json:"put,omitempty"`
}

// changesOf returns the changes that turn one list into another; nil if the two are equal. An entry
// of the new list is kept, and not put, if the old list has an equal one behind all that were kept
// already. The function key returns what identifies an entry within a list; if two entries of one
// list have the same key, the changes are still right, but longer. The function same compares all
// fields of two entries.
func changesOf[T any, K comparable](before, after []T, key func(*T) K, same func(a, b *T) bool) []change[T] {
	head := 0
	for head < min(len(before), len(after)) && same(&before[head], &after[head]) {
		head++
	}
	end, endAfter := len(before), len(after)
	for end > head && endAfter > head && same(&before[end-1], &after[endAfter-1]) {
		end, endAfter = end-1, endAfter-1
	}
	places := make(map[K]int, end-head)
	for i := head; i < end; i++ {
		places[key(&before[i])] = i
	}
	var changes []change[T]
	next := head // first entry of the old list that is neither kept nor dropped yet
	var put []T
	keep := func(i int) {
		if i > next || len(put) > 0 {
			changes = append(changes, change[T]{At: next, Drop: i - next, Put: put})
		}
		next, put = i+1, nil
	}
	for i := head; i < endAfter; i++ {
		if place, found := places[key(&after[i])]; found && place >= next && same(&before[place], &after[i]) {
			keep(place)
			continue
		}
		put = append(put, after[i])
	}
	keep(end)
	return changes
}

// applied returns a list with changes applied. It shares no memory with the given list, unless there
// are no changes. It fails if the changes do not fit the list.
func applied[T any](before []T, changes []change[T]) ([]T, error) {
	if len(changes) == 0 {
		return before, nil
	}
	size, next := len(before), 0
	for _, c := range changes {
		if c.At < next || c.At > len(before) || c.Drop < 0 || c.Drop > len(before)-c.At {
			return nil, fmt.Errorf("a change drops %d entries from place %d of %d, and the one before it ended at %d", c.Drop, c.At, len(before), next)
		}
		next = c.At + c.Drop
		size += len(c.Put) - c.Drop
	}
	after := make([]T, 0, size)
	next = 0
	for _, c := range changes {
		after = append(append(after, before[next:c.At]...), c.Put...)
		next = c.At + c.Drop
	}
	return append(after, before[next:]...), nil
}
