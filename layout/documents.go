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

// EpochKey returns the key of the object that claims epoch n, the n-th life of the frontier (the
// crawl's queues in Redis). The content of the object is a Claim.
func EpochKey(n uint64) string { return fmt.Sprintf("%s%012d", Epochs, n) }

// ParseEpochKey returns the number of the epoch in a key that EpochKey built.
func ParseEpochKey(key string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(key, Epochs), 10, 64)
	if err != nil || EpochKey(n) != key {
		return 0, fmt.Errorf("key %q: want %s and twelve digits", key, Epochs)
	}
	return n, nil
}

// Claim is the content of the object that claims an epoch (see EpochKey). An epoch is a life of the
// frontier in Redis. A program begins a new epoch by creating this object under a key with the
// epoch's number, which fails if another program has taken the number already. An example:
//
//	{"by":"repair","nonce":"…","generations":{"0":7,"3":12},"sum":"…"}
//
// Format history: at first one line of text with the claimer and a nonce; then JSON without the sum
// (see Seal).
type Claim struct {
	By    string `json:"by"`    // name of the program that claims the epoch
	Nonce string `json:"nonce"` // random text, different in every claim
	// Generations maps each partition to the number of the newest generation of its manifest that
	// the claimer had read. If manifests are lost later, this proves that they existed.
	Generations map[Partition]uint64 `json:"generations,omitempty"`
}

// Encode returns the claim as JSON with a sum (see Seal).
func (c Claim) Encode() []byte {
	content, err := json.Marshal(c)
	if err != nil {
		panic(err) // never: strings and numbers can always be encoded
	}
	return Seal(content)
}

// CheckClaim returns an error if the content of an object that claims an epoch (see EpochKey) is
// damaged. The claims of older programs have no sum. Such a claim is found damaged only if it is
// empty, contains a zero byte, or is JSON that was cut off.
func CheckClaim(content []byte) error {
	_, sealed, err := Unseal(content)
	cut := bytes.HasPrefix(content, []byte("{")) && !json.Valid(content)
	if err == nil && !sealed && (len(content) == 0 || cut || bytes.IndexByte(content, 0) >= 0) {
		err = errors.New("it is no claim")
	}
	return err
}

// ReadClaim decodes the content of an object that claims an epoch (see EpochKey). The oldest claims
// are not JSON: ReadClaim returns their whole content as Claim.By.
func ReadClaim(content []byte) Claim {
	var c Claim
	if err := json.Unmarshal(content, &c); err != nil {
		return Claim{By: strings.TrimSpace(string(content))}
	}
	return c
}

// CollectionPrefix returns the prefix of the keys of all published versions of a collection, a set
// of pages to crawl.
func CollectionPrefix(name string) string { return Collections + name + "/" }

// CollectionKey returns the key of one published version of the collection with this name.
func CollectionKey(name string, version uint64) string {
	return numbered(CollectionPrefix(name), version)
}

// ParseCollectionKey returns the name and the version in a key that CollectionKey
// built.
func ParseCollectionKey(key string) (name string, version uint64, err error) {
	return parseNamed(key, Collections)
}

// StrategyPrefix returns the prefix of the keys of all versions of a strategy, the rules that
// divide URLs among partitions. kind is "crawl" or "storage".
func StrategyPrefix(kind string) string { return Strategies + kind + "/" }

// StrategyKey returns the key of one version of a strategy, the rules that divide URLs among
// partitions. kind is "crawl" or "storage".
func StrategyKey(kind string, version uint64) string {
	return numbered(StrategyPrefix(kind), version)
}

// TakedownKey returns the key of one version of the takedowns, the list of forgotten URLs and
// sites.
func TakedownKey(version uint64) string { return numbered(Takedowns, version) }

// ControlKey returns the key of one version of the controls: pause, limits and prices of the crawl.
func ControlKey(version uint64) string { return numbered(Controls, version) }

// Curations is the prefix of the keys of all versions of the curation (synonyms, pinned and banned results of
// searches). It begins with the prefix Controls, so that one LIST request finds the versions of the controls and
// of the curation.
const Curations = Controls + "curation/"

// CurationKey returns the key of one version of the curation (see Curations).
func CurationKey(version uint64) string { return numbered(Curations, version) }

// CopyKey returns the key of the second copy of a published document. The parameter is the
// document's own key, such as "controls/000000000003.json".
func CopyKey(document string) string { return Copies + document }

// CopiedKey returns the key of a published document from the key of its second copy; it is the
// inverse of CopyKey. Any other key is returned unchanged, with isCopy = false.
func CopiedKey(key string) (document string, isCopy bool) { return strings.CutPrefix(key, Copies) }

// TwinKey converts between the two keys of a published document. For the document's own key, such
// as "controls/000000000003.json", it returns the key of the second copy,
// "copies/controls/000000000003.json". For the key of the second copy, it returns the document's
// own key.
func TwinKey(key string) string {
	if document, isCopy := CopiedKey(key); isCopy {
		return document
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

// parseNamed returns the name and the version in a key <prefix><name>/<version>.json.
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

// FeedbackDay returns the prefix of the keys under which the processes of the system store their
// vital signs on a day (UTC).
func FeedbackDay(day time.Time) string { return Feedback + day.UTC().Format("20060102") + "/" }

var notInWorker = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// FeedbackKey returns the key under which a process stores its vital signs. The parameters are the
// time of storing (UTC, to the millisecond), and the name of the process. Keys of one day sort by
// time.
func FeedbackKey(at time.Time, worker string) string {
	stamp := strings.Replace(at.UTC().Format("150405.000"), ".", "", 1)
	return FeedbackDay(at) + stamp + "_" + notInWorker.ReplaceAllString(worker, "-") + ".json"
}

// ParseFeedbackKey returns the time in a key that FeedbackKey built.
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

// DeadLetterKey returns the key of a dead letter, which is a message that a queue has
// given up. hash is the ContentHash of the message: however often the same message is
// given up, there is one dead letter.
func DeadLetterKey(queue, hash string) string { return DeadLetters + queue + "/" + hash + ".json" }

// IsDeadLetter reports whether a key is that of a dead letter. It is false for the keys that
// ResendKey returns, which also begin with DeadLetters.
func IsDeadLetter(key string) bool {
	return strings.HasPrefix(key, DeadLetters) && strings.HasSuffix(key, ".json") && !IsForeign(key)
}

// Again is the content of an object that asks for a dead letter (a message given up) to be sent
// again. ResendKey returns the key of this object.
const Again = "again\n"

// ResendKey returns the key of the request to send a dead letter again. The parameter is the key of
// the dead letter.
func ResendKey(deadLetter string) string { return strings.TrimSuffix(deadLetter, ".json") + ".again" }

// JudgmentPrefix returns the prefix of the keys of all judgments on the results of one
// query. query is the content hash of the query (see functions/shared/judgment).
func JudgmentPrefix(query string) string { return Judgments + query + "/" }

// JudgmentKey returns the key of an object with judgments that one judge made at one time
// on the results of one query. query is the content hash of the query; content holds the
// bytes of the object.
func JudgmentKey(query string, content []byte) string {
	return JudgmentPrefix(query) + ContentHash(content) + ".json"
}

// ClickDay returns the prefix of the keys of all clicks on results that were shown on a day
// (UTC).
func ClickDay(day time.Time) string { return Clicks + day.UTC().Format("20060102") + "/" }

// ClickPrefix returns the prefix of the keys under which clicks of one day (UTC) on one result are
// stored. The parameter pair stands for the result: it is the content hash of query and page (see
// functions/shared/judgment).
func ClickPrefix(day time.Time, pair string) string { return ClickDay(day) + pair + "/" }

// ClickKey returns the key under which one click on a result is stored. The parameter day is the
// day of the click (UTC). The parameter pair stands for the result and its query (see ClickPrefix).
// The parameter slot, a number below 100, distinguishes the clicks on this result on this day.
func ClickKey(day time.Time, pair string, slot int) string {
	return fmt.Sprintf("%s%02d.json", ClickPrefix(day, pair), slot)
}

var clickPattern = regexp.MustCompile(`^` + Clicks + `\d{8}/([0-9a-f]{32})/\d{2}\.json$`)

// ParseClickKey returns the hash of query and page (see ClickPrefix) from a key that ClickKey
// built.
func ParseClickKey(key string) (pair string, err error) {
	parts := clickPattern.FindStringSubmatch(key)
	if parts == nil {
		return "", fmt.Errorf("key %q: want %s<yyyyMMdd>/<hash of query and page>/<slot>.json", key, Clicks)
	}
	return parts[1], nil
}

// QuarantinePrefix returns a prefix of keys in quarantine, where copies of damaged objects are
// kept. It covers the copies of all objects whose own keys begin with the parameter prefix.
func QuarantinePrefix(prefix string) string {
	return Quarantine + strings.ReplaceAll(prefix, "/", "+")
}

// QuarantineKey returns the key under which a damaged object is copied to quarantine. The parameter
// key is the object's own key; content holds its bytes. The result contains the hash of these
// bytes, by which CheckQuarantined finds damage of the copy. Format history: at first the hash was
// missing.
func QuarantineKey(key string, content []byte) string {
	return QuarantinePrefix(key) + "@" + ContentHash(content)
}

// CheckQuarantined checks the content of a copy in quarantine: it returns an error if the
// hash in the key is not that of the content. A key of the first format, without a hash,
// gives no error.
func CheckQuarantined(key string, content []byte) error {
	if at := strings.LastIndexByte(key, '@'); at >= 0 && key[at+1:] != ContentHash(content) {
		return errors.New("it is another than its name says")
	}
	return nil
}
