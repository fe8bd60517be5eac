package segment

// Distinct returns another segment of the same documents as one that Finish or
// Merge returned. Every number makes bytes of their own, so that it can be
// stored under a content hash that was never used. Number 0 makes the segment
// as it was built.
func Distinct(content []byte, number uint64) []byte {
	s, err := OpenBytes(content)
	if err != nil {
		panic(err) // content is no segment
	}
	t := *s.tail
	t.copy = number
	end := t.end()
	return t.appendTo(append(make([]byte, 0, len(content)+16), content[:end]...))
}
