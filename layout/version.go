package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Version orders everything that is learnt about a URL. Epoch counts the lives
// of the frontier, Token the batches leased in one life; a batch's version is
// its name, and of two versions of a page the higher one is live, whatever any
// clock says.
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

// String returns "<epoch>-<token>", zero-padded so that it sorts.
func (v Version) String() string { return fmt.Sprintf("%08d-%012d", v.Epoch, v.Token) }

// ParseVersion reads what String writes.
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

// MarshalText writes what String does.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Version) UnmarshalText(text []byte) error {
	parsed, err := ParseVersion(string(text))
	*v = parsed
	return err
}

// Claim is what is stored below Epochs under the number that somebody claims:
//
//	{"by":"repair","nonce":"…","generations":{"0":7,"3":12},"sum":"…"}
//
// Format history: at first it was a line of text, by whom and a nonce, then
// without the sum (see Seal).
type Claim struct {
	By    string `json:"by"`
	Nonce string `json:"nonce"` // tells it from every other claim
	// Generations are the newest that the claimer had read, of the partitions
	// that it had read. Since they are no part of a partition's own chain, they
	// tell of generations that were lost later.
	Generations map[Partition]uint64 `json:"generations,omitempty"`
}

// Encode returns the bytes to be stored.
func (c Claim) Encode() []byte {
	content, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return Seal(content)
}

// CheckClaim fails if what Encode wrote has changed since.
func CheckClaim(content []byte) error {
	_, sealed, err := Unseal(content)
	cut := bytes.HasPrefix(content, []byte("{")) && !json.Valid(content)
	if err == nil && !sealed && (len(content) == 0 || cut || bytes.IndexByte(content, 0) >= 0) {
		err = errors.New("it is no claim")
	}
	return err
}

// ReadClaim reads what Encode writes. Of anything else, such as an older claim,
// it returns the text as By.
func ReadClaim(content []byte) Claim {
	var c Claim
	if err := json.Unmarshal(content, &c); err != nil {
		return Claim{By: strings.TrimSpace(string(content))}
	}
	return c
}
