package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Partition is the permanent number of a storage partition: a part of all URLs, whose pages, books
// and segments one manifest lists.
type Partition int

// String returns the number in decimal, with at least four digits: "0007".
func (p Partition) String() string { return fmt.Sprintf("%04d", int(p)) }

// The prefixes of all keys in the bucket. No prefix is the beginning of another, so that
// an event notification can be set up for the keys of one prefix.
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
	Copies      = "copies/"
	Judgments   = "judgments/"
	Clicks      = "clicks/"
	Due         = "due/"
	Runs        = "runs/"
)

// Prefixes are the prefixes of all keys in the bucket.
var Prefixes = []string{
	Collections, Strategies, Spool, Packages, Books, Segments, Overlays, Manifests, Hints,
	Epochs, Quarantine, Takedowns, Controls, Feedback, DeadLetters, Copies, Judgments, Clicks, Due,
	Runs,
}

// ContentHash names an object by its content: the first 128 bits of SHA-256,
// in hexadecimal.
func ContentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// SpoolPrefix returns the prefix of the keys of a partition's spool objects, which hold what was
// fetched and is not yet stored in packages.
func SpoolPrefix(p Partition) string { return Spool + p.String() + "/" }

// SpoolKey returns the key of the spool object, which holds all that was fetched for a batch.
func SpoolKey(p Partition, batch Version) string {
	return SpoolPrefix(p) + batch.String() + ".spool"
}

// ParseSpoolKey returns the partition and the batch in a key that SpoolKey built.
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

// PackageName is the name of a storage package (thesis 2006, chapter 4). The pages of the
// package are expected to stay valid for Base^Exponent days. Created is the time at which
// its newest page was downloaded, to the millisecond. Collision is 0, or a number that
// distinguishes the package from others with the same Base, Exponent and Created.
type PackageName struct {
	Base, Exponent int16
	Created        time.Time
	Collision      int
}

const packageTime = "20060102150405.000"

// PackagePrefix returns the prefix of the keys of a partition's packages, objects with stored
// pages.
func PackagePrefix(p Partition) string { return Packages + p.String() + "/" }

// PackageKey returns the key of a storage package, an object with stored pages.
func PackageKey(p Partition, n PackageName) string {
	stamp := strings.Replace(n.Created.UTC().Format(packageTime), ".", "", 1)
	key := fmt.Sprintf("%s%d_%d_%s", PackagePrefix(p), n.Base, n.Exponent, stamp)
	if n.Collision > 0 {
		key += "_" + strconv.Itoa(n.Collision)
	}
	return key + ".spf"
}

var packagePattern = regexp.MustCompile(`^(-?\d{1,5})_(-?\d{1,5})_(\d{14})(\d{3})(?:_([1-9]\d{0,8}))?$`)

// ParsePackageKey returns the partition and the name in a key that PackageKey built.
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

// BookKey returns the key of a book, an object with outcomes of URLs and with links; hash is the
// ContentHash of the book.
func BookKey(p Partition, hash string) string { return Books + p.String() + "/" + hash + ".book" }

// SegmentKey returns the key of a segment, an index of pages; hash is the ContentHash of the
// segment.
func SegmentKey(p Partition, hash string) string {
	return Segments + p.String() + "/" + hash + ".seg"
}

// DuePrefix returns the prefix of the keys of a partition's lists of URLs that become due.
func DuePrefix(p Partition) string { return Due + p.String() + "/" }

// DueKey returns the key of a list of URLs that become due, which are to be requested again. The
// parameter content holds the bytes of the list.
func DueKey(p Partition, content []byte) string { return DuePrefix(p) + ContentHash(content) + ".due" }

// CheckDue checks the content of a list of URLs that become due: it returns an error if the hash in
// the key is not that of the content.
func CheckDue(key string, content []byte) error {
	if !strings.HasSuffix(key, "/"+ContentHash(content)+".due") {
		return errors.New("it is another than its name says")
	}
	return nil
}

// RunPrefix returns the prefix of the keys of a crawl partition's runs.
func RunPrefix(crawl int) string { return Runs + Partition(crawl).String() + "/" }

// RunKey returns the key of a run, an object with states of finished URLs of a crawl partition; hash is the
// ContentHash of the run.
func RunKey(crawl int, hash string) string { return RunPrefix(crawl) + hash + ".run" }

// CheckRun checks the content of a run: it returns an error if the hash in the key is not that of the content.
func CheckRun(key string, content []byte) error {
	if !strings.HasSuffix(key, "/"+ContentHash(content)+".run") {
		return errors.New("it is another than its name says")
	}
	return nil
}

// OverlayPrefix returns the prefix of the keys of a partition's overlays: objects with later data
// about its segments.
func OverlayPrefix(p Partition) string { return Overlays + p.String() + "/" }

// OverlayKey returns the key of an overlay: an object with later data about a segment, such as
// which documents are dead. The key contains the number of the first generation of the manifest
// that lists the overlay, and the overlay's ContentHash. Because of the generation, no two commits
// use the same key, and keys sort by age.
func OverlayKey(p Partition, generation uint64, hash string) string {
	return fmt.Sprintf("%s%012d_%s.ovl", OverlayPrefix(p), generation, hash)
}

// ParseOverlayKey returns the partition and the generation in a key that OverlayKey
// built.
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

// IsOverlayOf reports whether a key is the key of an overlay with this content, whatever generation
// the key contains (see OverlayKey).
func IsOverlayOf(key string, content []byte) bool {
	p, generation, err := ParseOverlayKey(key)
	return err == nil && key == OverlayKey(p, generation, ContentHash(content))
}

// ManifestPrefix returns the prefix of the keys of all generations, the numbered versions of a
// partition's manifest.
func ManifestPrefix(p Partition) string { return Manifests + p.String() + "/" }

// ManifestKey returns the key of one generation, a numbered version of a partition's manifest.
func ManifestKey(p Partition, generation uint64) string {
	return fmt.Sprintf("%s%012d.json.zst", ManifestPrefix(p), generation)
}

// ParseManifestKey returns the partition and the generation in a key that ManifestKey
// built.
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

// SettingsHint is the key of the hint of the settings, which names all versions of the documents that people
// publish (see package numbered). Only hints are replaced by other content.
const SettingsHint = Hints + "settings.json"

// Census is the key of the hint with the numbers of URLs by their states, which the command status shows (see
// functions/shared/census).
const Census = Hints + "census.json"

// HintKey returns the key of a partition's hint, the copy of a recent generation of its manifest.
func HintKey(p Partition) string { return Hints + p.String() + ".json.zst" }

// parse splits the key <prefix><partition>/<name><suffix>, and returns the partition
// and the name.
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

var (
	bookPattern       = regexp.MustCompile(`^` + Books + `\d{4,}/[0-9a-f]{32}\.book$`)
	segmentPattern    = regexp.MustCompile(`^` + Segments + `\d{4,}/[0-9a-f]{32}\.seg$`)
	duePattern        = regexp.MustCompile(`^` + Due + `\d{4,}/[0-9a-f]{32}\.due$`)
	runPattern        = regexp.MustCompile(`^` + Runs + `\d{4,}/[0-9a-f]{32}\.run$`)
	hintPattern       = regexp.MustCompile(`^` + Hints + `\d{4,}\.json\.zst$`)
	quarantinePattern = regexp.MustCompile(`^` + Quarantine + `[^/]*\+[^/]*$`)
	letterPattern     = regexp.MustCompile(`^` + DeadLetters + `[^/]+/[0-9a-f]{32}\.(json|again)$`)
	judgmentPattern   = regexp.MustCompile(`^` + Judgments + `[0-9a-f]{32}/[0-9a-f]{32}\.json$`)
)

// ours maps the prefixes of keys, except Copies, to functions. A function gets a key that begins with
// its prefix, and reports whether Bucketsearch itself writes such keys. If not, the key is foreign
// (see IsForeign).
var ours = map[string]func(key string) bool{
	Collections: func(key string) bool { _, _, err := ParseCollectionKey(key); return err == nil },
	Strategies:  func(key string) bool { _, _, err := parseNamed(key, Strategies); return err == nil },
	Spool:       func(key string) bool { _, _, err := ParseSpoolKey(key); return err == nil },
	Packages:    func(key string) bool { _, _, err := ParsePackageKey(key); return err == nil },
	Overlays:    func(key string) bool { _, _, err := ParseOverlayKey(key); return err == nil },
	Manifests: func(key string) bool {
		_, generation, err := ParseManifestKey(key)
		return err == nil && generation > 0
	},
	Epochs:    func(key string) bool { _, err := ParseEpochKey(key); return err == nil },
	Takedowns: func(key string) bool { _, err := ParseNumberedKey(key, Takedowns); return err == nil },
	Controls: func(key string) bool {
		_, err := ParseNumberedKey(key, Controls)
		_, errCuration := ParseNumberedKey(key, Curations)
		return err == nil || errCuration == nil
	},
	Feedback:    func(key string) bool { _, err := ParseFeedbackKey(key); return err == nil },
	Books:       bookPattern.MatchString,
	Segments:    segmentPattern.MatchString,
	Hints:       func(key string) bool { return key == SettingsHint || key == Census || hintPattern.MatchString(key) },
	Quarantine:  quarantinePattern.MatchString,
	DeadLetters: letterPattern.MatchString,
	Judgments:   judgmentPattern.MatchString,
	Clicks:      func(key string) bool { _, err := ParseClickKey(key); return err == nil },
	Due:         duePattern.MatchString,
	Runs:        runPattern.MatchString,
}

// Published are the prefixes of the documents that people publish in numbered versions.
// A second copy of each version lies below Copies.
var Published = []string{Collections, Strategies, Takedowns, Controls}

// IsForeign reports whether a key has none of the forms of the keys that Bucketsearch writes. Then
// the object was written by another program, and Bucketsearch never reads or deletes it.
func IsForeign(key string) bool {
	document, isCopy := CopiedKey(key)
	prefix, _, _ := strings.Cut(document, "/")
	isOurs, known := ours[prefix+"/"]
	return !known || !isOurs(document) || isCopy && !slices.Contains(Published, prefix+"/")
}
