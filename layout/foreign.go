package layout

import (
	"regexp"
	"strings"
)

// Prefixes are all prefixes of the bucket.
var Prefixes = []string{
	Collections, Strategies, Spool, Packages, Books, Segments, Overlays, Manifests, Hints,
	Epochs, Quarantine, Takedowns, Controls, Feedback, DeadLetters,
}

var (
	bookPattern       = regexp.MustCompile(`^` + Books + `\d{4,}/[0-9a-f]{32}\.book$`)
	segmentPattern    = regexp.MustCompile(`^` + Segments + `\d{4,}/[0-9a-f]{32}\.seg$`)
	hintPattern       = regexp.MustCompile(`^` + Hints + `\d{4,}\.json\.zst$`)
	quarantinePattern = regexp.MustCompile(`^` + Quarantine + `[^/]*\+[^/]*$`)
	letterPattern     = regexp.MustCompile(`^` + DeadLetters + `[^/]+/[0-9a-f]{32}\.(json|again)$`)
)

// ours says of every prefix whether this package names an object below it so.
var ours = map[string]func(key string) bool{
	Collections: func(key string) bool { _, _, err := ParseCollectionKey(key); return err == nil },
	Strategies:  func(key string) bool { _, _, err := ParseStrategyKey(key); return err == nil },
	Spool:       func(key string) bool { _, _, err := ParseSpoolKey(key); return err == nil },
	Packages:    func(key string) bool { _, _, err := ParsePackageKey(key); return err == nil },
	Overlays:    func(key string) bool { _, _, err := ParseOverlayKey(key); return err == nil },
	Manifests: func(key string) bool {
		_, generation, err := ParseManifestKey(key)
		return err == nil && generation > 0
	},
	Epochs:      func(key string) bool { _, err := ParseEpochKey(key); return err == nil },
	Takedowns:   func(key string) bool { _, err := ParseNumberedKey(key, Takedowns); return err == nil },
	Controls:    func(key string) bool { _, err := ParseNumberedKey(key, Controls); return err == nil },
	Feedback:    func(key string) bool { _, err := ParseFeedbackKey(key); return err == nil },
	Books:       bookPattern.MatchString,
	Segments:    segmentPattern.MatchString,
	Hints:       hintPattern.MatchString,
	Quarantine:  quarantinePattern.MatchString,
	DeadLetters: letterPattern.MatchString,
}

// IsForeign reports whether an object of this key was written by somebody else:
// nothing is named so. Nobody reads such an object, and nobody deletes it.
func IsForeign(key string) bool {
	prefix, _, _ := strings.Cut(key, "/")
	isOurs, known := ours[prefix+"/"]
	return !known || !isOurs(key)
}
