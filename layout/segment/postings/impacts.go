package postings

import "encoding/binary"

// impactSet collects the impacts (see Impact) of some postings, field by field. An impact dominates
// another if its frequency is at least as high and its length code at most as high. Dominated
// impacts are left out. The remaining ones are sorted by frequency, and so by length code, too.
type impactSet [Fields][]Impact

// reset removes all impacts. The memory that they took is used again for the next ones.
func (f *impactSet) reset() {
	for field := range f {
		f[field] = f[field][:0]
	}
}

// add adds an impact to the set, unless one in the set dominates it (see impactSet). It also
// removes the impacts that the new one dominates.
func (f *impactSet) add(impact Impact) {
	kept := f[impact.Field]
	// The impacts from i on have at least the new one's frequency.
	i := len(kept)
	for i > 0 && kept[i-1].Freq >= impact.Freq {
		i--
	}
	if i < len(kept) && kept[i].Length <= impact.Length {
		return
	}
	to := i
	if to < len(kept) && kept[to].Freq == impact.Freq {
		to++
	}
	for i > 0 && kept[i-1].Length >= impact.Length {
		i--
	}
	if i == to {
		kept = append(kept, Impact{})
		copy(kept[i+1:], kept[i:])
	} else {
		kept = append(kept[:i+1], kept[to:]...)
	}
	kept[i] = impact
	f[impact.Field] = kept
}

// addPosting adds the impacts of one document: for each field with the term, the frequency of the
// term and the length code of the field.
func (f *impactSet) addPosting(freq *[Fields]uint32, length *[Fields]uint8) {
	for field, n := range freq {
		if n > 0 {
			f.add(Impact{Field: uint8(field), Freq: n, Length: length[field]})
		}
	}
}

// list appends all impacts of the set to dst, field by field.
func (f *impactSet) list(dst []Impact) []Impact {
	for _, kept := range f {
		dst = append(dst, kept...)
	}
	return dst
}

// append appends the encoded impacts. First comes a byte with a bit for each field that has impacts.
// Then come the fields with impacts: for each, the number of its impacts less one, and every impact
// as its difference from the impact before it (see appendPair).
func (f *impactSet) append(dst []byte) []byte {
	fields := len(dst)
	dst = append(dst, 0)
	for field, kept := range f {
		if len(kept) == 0 {
			continue
		}
		dst[fields] |= 1 << field
		dst = append(dst, byte(len(kept)-1))
		last := Impact{}
		for _, impact := range kept {
			dst = appendPair(dst, impact.Freq-last.Freq, impact.Length-last.Length)
			last = impact
		}
	}
	return dst
}

// appendPair appends an impact, encoded by its differences from the impact before it. The
// parameters are the two differences: of the frequency, and of the length code. Each takes four
// bits of one byte. A difference of 15 or more is written as 15, and its excess over 15 follows the
// byte.
func appendPair(dst []byte, freq uint32, length uint8) []byte {
	dst = append(dst, byte(min(freq, 15)<<4)|min(length, 15))
	if freq >= 15 {
		dst = binary.AppendUvarint(dst, uint64(freq-15))
	}
	if length >= 15 {
		dst = append(dst, length-15)
	}
	return dst
}

// readPair reads what appendPair wrote: the differences of a frequency and of a length code from
// those of the impact before. It also returns the bytes after them. ok is false if data is damaged.
func readPair(data []byte) (freq uint32, length uint8, rest []byte, ok bool) {
	if len(data) == 0 {
		return 0, 0, nil, false
	}
	freq, length, data = uint32(data[0]>>4), data[0]&15, data[1:]
	if freq == 15 {
		if freq, data, ok = readNumber(data); !ok || freq > 1<<32-16 {
			return 0, 0, nil, false
		}
		freq += 15
	}
	if length == 15 {
		if len(data) == 0 || data[0] > 255-15 {
			return 0, 0, nil, false
		}
		length, data = data[0]+15, data[1:]
	}
	return freq, length, data, true
}

// readImpacts reads the impacts that impactSet.append wrote, appends them to dst, and returns the
// bytes after them. ok is false if data is damaged.
func readImpacts(dst []Impact, data []byte) (impacts []Impact, rest []byte, ok bool) {
	if len(data) == 0 || data[0]>>Fields != 0 {
		return dst, nil, false
	}
	fields := data[0]
	data = data[1:]
	for field := range uint8(Fields) {
		if fields>>field&1 == 0 {
			continue
		}
		if len(data) == 0 {
			return dst, nil, false
		}
		count := int(data[0]) + 1
		data = data[1:]
		last := Impact{Field: field}
		for range count {
			var freq uint32
			var length uint8
			if freq, length, data, ok = readPair(data); !ok || freq > 1<<32-1-last.Freq || length > 255-last.Length {
				return dst, nil, false
			}
			last.Freq, last.Length = last.Freq+freq, last.Length+length
			dst = append(dst, last)
		}
	}
	return dst, data, true
}
