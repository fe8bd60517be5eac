package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

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
