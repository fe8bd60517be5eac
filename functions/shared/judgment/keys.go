package judgment

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Keys are the names of the judges, with hashes of the keys by which they sign in. With the zero
// Keys there are no judges.
type Keys struct{ judges []holder }

// holder is a judge: the name, and a hash of the key. The key itself is not kept.
type holder struct {
	name string
	sum  [sha256.Size]byte // SHA-256 of the key
}

// minKey is the least length of a key in bytes. A key of this length cannot be guessed.
const minKey = 16

// longer is the end of the message for a key that is too short. It says how to choose a longer key.
var longer = fmt.Sprintf("write %d or more, such as those of: openssl rand -hex 16", minKey)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// ParseKeys reads names and keys such as "ann:4hQ… bob:x9T…", with white space or commas
// between the judges; "" gives the zero Keys. Its errors do not show keys.
func ParseKeys(text string) (Keys, error) {
	var k Keys
	for i, entry := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		name, key, found := strings.Cut(entry, ":")
		if !found || !namePattern.MatchString(name) {
			return Keys{}, fmt.Errorf("judge %d is not written as NAME:KEY, with a name of 1 to 32 letters, digits, dots, hyphens or underscores", i+1)
		}
		if len(key) < minKey {
			return Keys{}, fmt.Errorf("the key of judge %s has %d bytes; %s", name, len(key), longer)
		}
		added := holder{name, sha256.Sum256([]byte(key))}
		for _, other := range k.judges {
			if other.name == name {
				return Keys{}, fmt.Errorf("two judges are called %s", name)
			}
			if other.sum == added.sum {
				return Keys{}, fmt.Errorf("judges %s and %s have the same key", other.name, name)
			}
		}
		k.judges = append(k.judges, added)
	}
	return k, nil
}

// Empty reports whether there is no judge.
func (k Keys) Empty() bool { return len(k.judges) == 0 }

// String returns the names of the judges, and no part of their keys.
func (k Keys) String() string {
	names := make([]string, len(k.judges))
	for i, j := range k.judges {
		names[i] = j.name
	}
	return strings.Join(names, " ")
}

// Judge returns the name of the judge with the given key; known is false if there is none. It takes
// the same time for every wrong key, so that nobody can infer from the time whether a part of the
// key is right.
func (k Keys) Judge(key string) (name string, known bool) {
	sum := sha256.Sum256([]byte(key))
	for _, j := range k.judges {
		if subtle.ConstantTimeCompare(sum[:], j.sum[:]) == 1 {
			name, known = j.name, true
		}
	}
	return name, known
}

// errToken means that a token is malformed, has expired, or is not signed with the key of the judge
// whom it names.
var errToken = errors.New("the token is not valid")

// Token returns a text by which the judge with the given name is recognised until the given time:
//
//	<name>|<seconds since 1970>|<HMAC-SHA-256 of what is before, in base64>
//
// The text does not contain the judge's key, and becomes invalid when the judge gets another key.
func (k Keys) Token(name string, until time.Time) string {
	text := name + "|" + strconv.FormatInt(until.Unix(), 10)
	for _, j := range k.judges {
		if j.name == name {
			return text + "|" + j.sign(text)
		}
	}
	return ""
}

// Recognise returns the name of the judge whose token this is. It fails with errToken if the token
// is not valid at the given time.
func (k Keys) Recognise(token string, now time.Time) (string, error) {
	name, rest, _ := strings.Cut(token, "|")
	until, signature, _ := strings.Cut(rest, "|")
	seconds, err := strconv.ParseInt(until, 10, 64)
	if err != nil || now.Unix() >= seconds {
		return "", errToken
	}
	for _, j := range k.judges {
		if j.name == name && hmac.Equal([]byte(signature), []byte(j.sign(name+"|"+until))) {
			return name, nil
		}
	}
	return "", errToken
}

// sign returns the signature of a token's text with the judge's key.
func (h holder) sign(text string) string { return sign(h.sum, "token|"+text) }

// sign returns the HMAC-SHA-256 of a text in base64.
func sign(key [sha256.Size]byte, text string) string {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
