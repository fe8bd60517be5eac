package judgment

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
)

// ClickKey is the secret with which a server signs the results that it shows, so that nobody can
// report clicks on other results. The zero ClickKey means that clicks are not counted.
type ClickKey struct{ sum [sha256.Size]byte } // SHA-256 of the secret

// ParseClickKey reads a secret of 16 bytes or more; "" gives the zero ClickKey. Its errors do not
// show the secret.
func ParseClickKey(text string) (ClickKey, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return ClickKey{}, nil
	}
	if len(text) < minKey {
		return ClickKey{}, fmt.Errorf("the key has %d bytes; %s", len(text), longer)
	}
	return ClickKey{sha256.Sum256([]byte(text))}, nil
}

// Empty reports whether k is the zero ClickKey, with which clicks are not counted.
func (k ClickKey) Empty() bool { return k == ClickKey{} }

// String returns a constant text, so that a log that prints the key does not show the secret.
func (k ClickKey) String() string { return "the key of clicks" }

// Sign returns the signature of a click. The parameter click is the result of Click.Encode. The
// signature is the first 132 bits of HMAC-SHA-256, in base64.
func (k ClickKey) Sign(click []byte) string { return sign(k.sum, "click|"+string(click))[:22] }

// Signed reports whether a text is the signature of a click. It takes the same time for every text.
func (k ClickKey) Signed(click []byte, signature string) bool {
	return hmac.Equal([]byte(signature), []byte(k.Sign(click)))
}
