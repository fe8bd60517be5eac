package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Partition is the permanent number of a storage partition.
type Partition int

// String returns four digits.
func (p Partition) String() string { return fmt.Sprintf("%04d", int(p)) }

// Prefixes of the bucket. A notification destination listens to one of them;
// none is a prefix of another.
const (
	Collections = "collections/"
	Strategies  = "strategy/"
	Spool       = "spool/"
	Packages    = "packages/"
	Books       = "books/"
	Segments    = "segments/"
	Overlays    = "overlays/"
	Manifests   = "manifests/"
	Hints       = "hints/"
	Epochs      = "epochs/"
	Quarantine  = "quarantine/"
	Takedowns   = "takedowns/"
	Controls    = "controls/"
	Feedback    = "feedback/"
	DeadLetters = "dead-letters/"
)

// ContentHash names an object by its content: the first 128 bits of SHA-256,
// in hexadecimal.
func ContentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// SpoolPrefix returns the prefix of a partition's spool.
func SpoolPrefix(p Partition) string { return Spool + p.String() + "/" }

// SpoolKey returns the key of what the batch fetched.
func SpoolKey(p Partition, batch Version) string {
	return SpoolPrefix(p) + batch.String() + ".spool"
}

// ParseSpoolKey reads what SpoolKey builds.
func ParseSpoolKey(key string) (Partition, Version, error) {
	p, name, err := parse(key, Spool, ".spool")
	if err != nil {
		return 0, Version{}, err
	}
	batch, err := ParseVersion(name)
	if err != nil {
		return 0, Version{}, fmt.Errorf("key %q: %w", key, err)
	}
	return p, batch, nil
}

// PackageName is the name of a storage package (thesis 2006, chapter 4): its
// pages are expected to stay valid Base^Exponent days; Created is the time of
// the newest download in it, to the millisecond; Collision, normally zero,
// tells packages apart that would share a name.
type PackageName struct {
	Base, Exponent int16
	Created        time.Time
	Collision      int
}

const packageTime = "20060102150405.000"

// PackagePrefix returns the prefix of a partition's packages.
func PackagePrefix(p Partition) string { return Packages + p.String() + "/" }

// PackageKey returns the key of a storage package.
func PackageKey(p Partition, n PackageName) string {
	stamp := strings.Replace(n.Created.UTC().Format(packageTime), ".", "", 1)
	key := fmt.Sprintf("%s%d_%d_%s", PackagePrefix(p), n.Base, n.Exponent, stamp)
	if n.Collision > 0 {
		key += "_" + strconv.Itoa(n.Collision)
	}
	return key + ".spf"
}

var packagePattern = regexp.MustCompile(`^(-?\d{1,5})_(-?\d{1,5})_(\d{14})(\d{3})(?:_([1-9]\d{0,8}))?$`)

// ParsePackageKey reads what PackageKey builds.
func ParsePackageKey(key string) (Partition, PackageName, error) {
	p, name, err := parse(key, Packages, ".spf")
	if err != nil {
		return 0, PackageName{}, err
	}
	parts := packagePattern.FindStringSubmatch(name)
	if parts == nil {
		return 0, PackageName{}, fmt.Errorf("key %q: want <base>_<exponent>_<yyyyMMddHHmmssSSS>", key)
	}
	base, errBase := strconv.ParseInt(parts[1], 10, 16)
	exponent, errExponent := strconv.ParseInt(parts[2], 10, 16)
	created, errCreated := time.Parse(packageTime, parts[3]+"."+parts[4])
	collision, _ := strconv.Atoi(parts[5])
	n := PackageName{Base: int16(base), Exponent: int16(exponent), Created: created, Collision: collision}
	if errBase != nil || errExponent != nil || errCreated != nil || PackageKey(p, n) != key {
		return 0, PackageName{}, fmt.Errorf("key %q: want <base>_<exponent>_<yyyyMMddHHmmssSSS>", key)
	}
	return p, n, nil
}

// BookKey returns the key of a book, named by its content.
func BookKey(p Partition, hash string) string { return Books + p.String() + "/" + hash + ".book" }

// SegmentKey returns the key of a segment, named by its content.
func SegmentKey(p Partition, hash string) string {
	return Segments + p.String() + "/" + hash + ".seg"
}

// OverlayPrefix returns the prefix of a partition's overlays.
func OverlayPrefix(p Partition) string { return Overlays + p.String() + "/" }

// OverlayKey returns the key of an overlay that a generation is the first to
// list. No other generation can be, so that the name is never used again, and
// overlays sort by age.
func OverlayKey(p Partition, generation uint64, hash string) string {
	return fmt.Sprintf("%s%012d_%s.ovl", OverlayPrefix(p), generation, hash)
}

// ParseOverlayKey returns of what OverlayKey builds the partition and the
// generation.
func ParseOverlayKey(key string) (Partition, uint64, error) {
	p, name, err := parse(key, Overlays, ".ovl")
	if err != nil {
		return 0, 0, err
	}
	number, hash, found := strings.Cut(name, "_")
	generation, err := strconv.ParseUint(number, 10, 64)
	if !found || err != nil || OverlayKey(p, generation, hash) != key {
		return 0, 0, fmt.Errorf("key %q: want <generation>_<content hash>", key)
	}
	return p, generation, nil
}

// ManifestPrefix returns the prefix of a partition's manifests.
func ManifestPrefix(p Partition) string { return Manifests + p.String() + "/" }

// ManifestKey returns the key of a generation of a partition's manifest.
func ManifestKey(p Partition, generation uint64) string {
	return fmt.Sprintf("%s%012d.json.zst", ManifestPrefix(p), generation)
}

// ParseManifestKey reads what ManifestKey builds.
func ParseManifestKey(key string) (Partition, uint64, error) {
	p, name, err := parse(key, Manifests, ".json.zst")
	if err != nil {
		return 0, 0, err
	}
	generation, err := strconv.ParseUint(name, 10, 64)
	if err != nil || ManifestKey(p, generation) != key {
		return 0, 0, fmt.Errorf("key %q: want a generation of twelve digits", key)
	}
	return p, generation, nil
}

// HintKey returns the key of the disposable copy of a partition's newest
// manifest, the one object that is ever overwritten.
func HintKey(p Partition) string { return Hints + p.String() + ".json.zst" }

// EpochKey returns the key that claims a life of the frontier.
func EpochKey(n uint64) string { return fmt.Sprintf("%s%012d", Epochs, n) }

// ParseEpochKey reads what EpochKey builds.
func ParseEpochKey(key string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(key, Epochs), 10, 64)
	if err != nil || EpochKey(n) != key {
		return 0, fmt.Errorf("key %q: want %s and twelve digits", key, Epochs)
	}
	return n, nil
}

// CollectionPrefix returns the prefix of a collection's versions.
func CollectionPrefix(name string) string { return Collections + name + "/" }

// CollectionKey returns the key of a version of a collection.
func CollectionKey(name string, version uint64) string {
	return fmt.Sprintf("%s%012d.json", CollectionPrefix(name), version)
}

// ParseCollectionKey reads what CollectionKey builds.
func ParseCollectionKey(key string) (name string, version uint64, err error) {
	name, number, found := strings.Cut(strings.TrimPrefix(key, Collections), "/")
	version, errNumber := strconv.ParseUint(strings.TrimSuffix(number, ".json"), 10, 64)
	if !found || errNumber != nil || CollectionKey(name, version) != key {
		return "", 0, fmt.Errorf("key %q: want %s<name>/<version>.json", key, Collections)
	}
	return name, version, nil
}

// StrategyPrefix returns the prefix of the versions of a strategy, "crawl" or
// "storage".
func StrategyPrefix(kind string) string { return Strategies + kind + "/" }

// StrategyKey returns the key of a version of a strategy.
func StrategyKey(kind string, version uint64) string {
	return fmt.Sprintf("%s%012d.json", StrategyPrefix(kind), version)
}

// ParseStrategyKey reads what StrategyKey builds.
func ParseStrategyKey(key string) (kind string, version uint64, err error) {
	kind, number, found := strings.Cut(strings.TrimPrefix(key, Strategies), "/")
	version, errNumber := strconv.ParseUint(strings.TrimSuffix(number, ".json"), 10, 64)
	if !found || errNumber != nil || StrategyKey(kind, version) != key {
		return "", 0, fmt.Errorf("key %q: want %s<kind>/<version>.json", key, Strategies)
	}
	return kind, version, nil
}

// TakedownKey returns the key of a version of the takedowns.
func TakedownKey(version uint64) string { return numbered(Takedowns, version) }

// ControlKey returns the key of a version of the controls.
func ControlKey(version uint64) string { return numbered(Controls, version) }

// ParseNumberedKey returns the version of a document below a prefix that holds
// nothing but numbered versions, such as Takedowns and Controls.
func ParseNumberedKey(key, prefix string) (uint64, error) {
	version, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(key, prefix), ".json"), 10, 64)
	if err != nil || numbered(prefix, version) != key {
		return 0, fmt.Errorf("key %q: want %s<version>.json", key, prefix)
	}
	return version, nil
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

// DeadLetterKey returns the key of a message that a queue has given up, named
// by its content: the same message is one dead letter, however often it dies.
func DeadLetterKey(queue, hash string) string { return DeadLetters + queue + "/" + hash + ".json" }

// IsDeadLetter tells a dead letter from the wish to send one again.
func IsDeadLetter(key string) bool {
	return strings.HasPrefix(key, DeadLetters) && strings.HasSuffix(key, ".json") && !IsForeign(key)
}

// Again is what stands under a ResendKey.
const Again = "again\n"

// ResendKey returns the key of the request to send a dead letter again.
func ResendKey(deadLetter string) string { return strings.TrimSuffix(deadLetter, ".json") + ".again" }

// QuarantinePrefix returns what the keys begin with under which the bytes of
// damaged objects are kept whose keys begin with prefix.
func QuarantinePrefix(prefix string) string {
	return Quarantine + strings.ReplaceAll(prefix, "/", "+")
}

// QuarantineKey returns where the bytes of a damaged object are kept, named by
// them too, so that damage of the copy is noticed. Format history: at first the
// hash was missing.
func QuarantineKey(key string, content []byte) string {
	return QuarantinePrefix(key) + "@" + ContentHash(content)
}

// CheckQuarantined fails if a damaged object's copy has changed since.
func CheckQuarantined(key string, content []byte) error {
	if at := strings.LastIndexByte(key, '@'); at >= 0 && key[at+1:] != ContentHash(content) {
		return errors.New("it is another than its name says")
	}
	return nil
}

func parse(key, prefix, suffix string) (Partition, string, error) {
	rest, hasPrefix := strings.CutPrefix(key, prefix)
	rest, hasSuffix := strings.CutSuffix(rest, suffix)
	digits, name, found := strings.Cut(rest, "/")
	n, err := strconv.Atoi(digits)
	p := Partition(n)
	if !hasPrefix || !hasSuffix || !found || err != nil || n < 0 || p.String() != digits || strings.Contains(name, "/") {
		return 0, "", fmt.Errorf("key %q: want %s<partition>/<name>%s", key, prefix, suffix)
	}
	return p, name, nil
}
