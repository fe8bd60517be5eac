package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// EpochKey returns the key of the claim to an epoch.
func EpochKey(n uint64) string { return fmt.Sprintf("%s%012d", Epochs, n) }

// ParseEpochKey reads what EpochKey builds.
func ParseEpochKey(key string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(key, Epochs), 10, 64)
	if err != nil || EpochKey(n) != key {
		return 0, fmt.Errorf("key %q: want %s and twelve digits", key, Epochs)
	}
	return n, nil
}

// Claim is the content of an EpochKey:
//
//	{"by":"repair","nonce":"…","generations":{"0":7,"3":12},"sum":"…"}
//
// Format history: at first one line of text with the claimer and a nonce; then JSON
// without the sum (see Seal).
type Claim struct {
	By    string `json:"by"`
	Nonce string `json:"nonce"` // tells it from every other claim
	// Generations are the newest generations that the claimer had read, by
	// partition. They are not part of a partition's own chain, and so prove
	// generations that are lost later.
	Generations map[Partition]uint64 `json:"generations,omitempty"`
}

// Encode returns the claim's JSON.
func (c Claim) Encode() []byte {
	content, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return Seal(content)
}

// CheckClaim returns an error if a claim has changed since Encode.
func CheckClaim(content []byte) error {
	_, sealed, err := Unseal(content)
	cut := bytes.HasPrefix(content, []byte("{")) && !json.Valid(content)
	if err == nil && !sealed && (len(content) == 0 || cut || bytes.IndexByte(content, 0) >= 0) {
		err = errors.New("it is no claim")
	}
	return err
}

// ReadClaim decodes a claim. Any other content, such as an older claim, becomes By.
func ReadClaim(content []byte) Claim {
	var c Claim
	if err := json.Unmarshal(content, &c); err != nil {
		return Claim{By: strings.TrimSpace(string(content))}
	}
	return c
}

// CollectionPrefix returns the prefix of a collection's versions.
func CollectionPrefix(name string) string { return Collections + name + "/" }

// CollectionKey returns the key of a version of a collection.
func CollectionKey(name string, version uint64) string {
	return numbered(CollectionPrefix(name), version)
}

// ParseCollectionKey reads what CollectionKey builds.
func ParseCollectionKey(key string) (name string, version uint64, err error) {
	return parseNamed(key, Collections)
}

// StrategyPrefix returns the prefix of the versions of a strategy, "crawl" or
// "storage".
func StrategyPrefix(kind string) string { return Strategies + kind + "/" }

// StrategyKey returns the key of a version of a strategy.
func StrategyKey(kind string, version uint64) string {
	return numbered(StrategyPrefix(kind), version)
}

// TakedownKey returns the key of a version of the takedowns.
func TakedownKey(version uint64) string { return numbered(Takedowns, version) }

// ControlKey returns the key of a version of the controls.
func ControlKey(version uint64) string { return numbered(Controls, version) }

// CopyKey returns the key of the copy of a document's version.
func CopyKey(version string) string { return Copies + version }

// CopiedKey returns the version that an object is the copy of, if it is one.
func CopiedKey(key string) (version string, isCopy bool) { return strings.CutPrefix(key, Copies) }

// TwinKey returns the key of the copy of a version, or of the version of a copy.
func TwinKey(key string) string {
	if version, isCopy := CopiedKey(key); isCopy {
		return version
	}
	return CopyKey(key)
}

// ParseNumberedKey returns the version in a key below a prefix that holds only
// numbered versions, such as Takedowns and Controls.
func ParseNumberedKey(key, prefix string) (uint64, error) {
	version, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(key, prefix), ".json"), 10, 64)
	if err != nil || numbered(prefix, version) != key {
		return 0, fmt.Errorf("key %q: want %s<version>.json", key, prefix)
	}
	return version, nil
}

// parseNamed returns the name and the version of a document of <prefix><name>/.
func parseNamed(key, prefix string) (name string, version uint64, err error) {
	name, _, found := strings.Cut(strings.TrimPrefix(key, prefix), "/")
	version, err = ParseNumberedKey(key, prefix+name+"/")
	if !found || err != nil {
		return "", 0, fmt.Errorf("key %q: want %s<name>/<version>.json", key, prefix)
	}
	return name, version, nil
}

func numbered(prefix string, version uint64) string {
	return fmt.Sprintf("%s%012d.json", prefix, version)
}

// FeedbackDay returns the prefix of all vital signs of a day (UTC).
func FeedbackDay(day time.Time) string { return Feedback + day.UTC().Format("20060102") + "/" }

var notInWorker = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// FeedbackKey returns the key of a worker's vital signs up to a time (UTC, to
// the millisecond). Keys of one day sort by time.
func FeedbackKey(at time.Time, worker string) string {
	stamp := strings.Replace(at.UTC().Format("150405.000"), ".", "", 1)
	return FeedbackDay(at) + stamp + "_" + notInWorker.ReplaceAllString(worker, "-") + ".json"
}

// ParseFeedbackKey returns the time of what FeedbackKey names.
func ParseFeedbackKey(key string) (time.Time, error) {
	day, name, found := strings.Cut(strings.TrimPrefix(key, Feedback), "/")
	clock, _, foundWorker := strings.Cut(name, "_")
	if found && foundWorker && len(clock) == 9 && strings.HasPrefix(key, Feedback) {
		if at, err := time.Parse("20060102 150405.000", day+" "+clock[:6]+"."+clock[6:]); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("key %q: want %s<yyyyMMdd>/<HHmmssSSS>_<worker>.json", key, Feedback)
}

// DeadLetterKey returns the key of a message that a queue has given up, by the hash
// of its content: the same message has one dead letter, however often it is given
// up.
func DeadLetterKey(queue, hash string) string { return DeadLetters + queue + "/" + hash + ".json" }

// IsDeadLetter distinguishes a dead letter from the request to send it again.
func IsDeadLetter(key string) bool {
	return strings.HasPrefix(key, DeadLetters) && strings.HasSuffix(key, ".json") && !IsForeign(key)
}

// Again is the content of a ResendKey.
const Again = "again\n"

// ResendKey returns the key of the request to send a dead letter again.
func ResendKey(deadLetter string) string { return strings.TrimSuffix(deadLetter, ".json") + ".again" }

// QuarantinePrefix returns the prefix of the quarantined copies of objects whose keys
// begin with prefix.
func QuarantinePrefix(prefix string) string {
	return Quarantine + strings.ReplaceAll(prefix, "/", "+")
}

// QuarantineKey returns the key of the copy of a damaged object. It contains the hash
// of the bytes, so that damage of the copy is noticed. Format history: at first the
// hash was missing.
func QuarantineKey(key string, content []byte) string {
	return QuarantinePrefix(key) + "@" + ContentHash(content)
}

// CheckQuarantined returns an error if the copy of a damaged object has changed.
func CheckQuarantined(key string, content []byte) error {
	if at := strings.LastIndexByte(key, '@'); at >= 0 && key[at+1:] != ContentHash(content) {
		return errors.New("it is another than its name says")
	}
	return nil
}
