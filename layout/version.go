package layout

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is the number of a batch, and the version of every page and outcome that the batch
// yields. Epoch counts the rebuilds of the frontier (the crawl's queues in Redis); Token counts
// the batches leased in one epoch. Of two versions of a page the higher one is live, whatever
// clocks say.
type Version struct {
	Epoch uint64
	Token uint64
}

// Compare orders versions by epoch, then token.
func (v Version) Compare(other Version) int {
	if c := cmp.Compare(v.Epoch, other.Epoch); c != 0 {
		return c
	}
	return cmp.Compare(v.Token, other.Token)
}

// String returns "<epoch>-<token>", both padded with zeros, so that strings sort as
// versions do.
func (v Version) String() string { return fmt.Sprintf("%08d-%012d", v.Epoch, v.Token) }

// ParseVersion parses a string that String returned.
func ParseVersion(s string) (Version, error) {
	epoch, token, found := strings.Cut(s, "-")
	e, errEpoch := strconv.ParseUint(epoch, 10, 64)
	t, errToken := strconv.ParseUint(token, 10, 64)
	v := Version{Epoch: e, Token: t}
	if !found || errEpoch != nil || errToken != nil || v.String() != s {
		return Version{}, fmt.Errorf("version %q: want <epoch>-<token>", s)
	}
	return v, nil
}

// MarshalText returns the same text as String.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText parses the text that MarshalText returns.
func (v *Version) UnmarshalText(text []byte) error {
	parsed, err := ParseVersion(string(text))
	*v = parsed
	return err
}
