package address

import "strings"

// Limits of an address. An address above one of these limits looks as if it were made by a trap: a
// site that generates addresses without end.
const (
	MaxLength     = 1024 // maximum length of the address, in bytes
	MaxSegments   = 20   // maximum number of segments of the path
	MaxParameters = 12   // maximum number of parameters of the query
)

// The reasons that Suspicious returns.
const (
	TooLong           = "long address"
	TooManySegments   = "many path segments"
	TooManyParameters = "many parameters"
	Repeats           = "path repeats itself"
)

// Suspicious returns the reason why an address looks as if it were made by a trap; "" if it does
// not. A suspicious address exceeds a limit such as MaxLength, or its path repeats itself: a
// segment, or a sequence of segments, occurs three times in a row, as in /a/a/a/ and /a/b/a/b/a/b.
func Suspicious(a Address) (reason string) {
	path, query, hasQuery := strings.Cut(a.Path, "?")
	switch {
	case len(a.URL) > MaxLength:
		return TooLong
	case strings.Count(path, "/") > MaxSegments:
		return TooManySegments
	case hasQuery && strings.Count(query, "&") >= MaxParameters:
		return TooManyParameters
	case repeats(path):
		return Repeats
	}
	return ""
}

// repeats reports whether a sequence of segments occurs three times in a row in the
// path, which must have at most MaxSegments.
func repeats(path string) bool {
	var room [MaxSegments]string
	segments := room[:0]
	for segment := range strings.SplitSeq(path[1:], "/") {
		segments = append(segments, segment)
	}
	for row := 1; 3*row <= len(segments); row++ {
		equal := 0 // number of segments in a row so far, each of which equals the segment row places before it
		for i := row; i < len(segments); i++ {
			if segments[i] != segments[i-row] {
				equal = 0
			} else if equal++; equal == 2*row {
				return true
			}
		}
	}
	return false
}
