package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// Kept caches the versions of one strategy that a process has read.
type Kept = numbered.Kept[Document]

// History holds the versions of a strategy that were read, and the version that was in force then.
type History struct {
	// InForce is the newest version whose time From has come. It stays in force after it has
	// expired, until the time From of a newer one, so that the system runs on without its
	// operator. If no version's time From has come, InForce is the oldest version.
	InForce Document
	// Versions are the versions that were read, the newest first. InForce is one of them.
	Versions []Document
	// Warnings has a sentence for each version that cannot be read, and for each fault
	// of InForce.
	Warnings []string
}

// LoadInForce reads the versions of a strategy from the newest to the one that is in force at the
// given time. It takes one LIST, and one GET for each of these versions that is not in the given
// cache. It fails with blob.ErrAbsent if there is no version, and with numbered.ErrDamaged if none
// can be read.
func LoadInForce(ctx context.Context, bucket blob.Reader, kind Kind, now time.Time, kept *Kept) (History, error) {
	return loadHistory(ctx, bucket, kind, now, kept, func(d Document) bool { return !d.From.After(now) })
}

// LoadAll reads every version of a strategy. It takes one LIST, and one GET for each version that
// is not in the given cache. It fails with blob.ErrAbsent if there is no version, and with
// numbered.ErrDamaged if none can be read.
func LoadAll(ctx context.Context, bucket blob.Reader, kind Kind, now time.Time, kept *Kept) (History, error) {
	return loadHistory(ctx, bucket, kind, now, kept, func(Document) bool { return false })
}

// loadHistory reads the versions of a strategy, the newest first. It stops after the first version
// for which the function enough returns true.
func loadHistory(ctx context.Context, bucket blob.Reader, kind Kind, now time.Time, kept *Kept, enough func(Document) bool) (History, error) {
	var h History
	var damaged error // error of the newest damaged version
	err := store(kind).Walk(ctx, bucket, kept, func(v numbered.Version[Document]) bool {
		err := v.Damage
		if v.IsWhole {
			err = v.Document.checkIdentity(kind, v.Number)
		}
		if err != nil {
			damaged = cmp.Or(damaged, err)
			h.Warnings = append(h.Warnings, fmt.Sprintf("%v; put it back, or publish a next version", err))
			return false
		}
		if v.Damage != nil {
			h.Warnings = append(h.Warnings, fmt.Sprintf("%v, and its copy is read in its place; run `bucketsearch verify --repair`", v.Damage))
		}
		if v.Ignored != "" {
			h.Warnings = append(h.Warnings, v.Ignored)
		}
		h.Versions = append(h.Versions, v.Document)
		return enough(v.Document)
	})
	switch {
	case err != nil:
		return History{}, fmt.Errorf("cannot load the %s strategy: %w", kind, err)
	case len(h.Versions) == 0 && damaged != nil:
		return History{}, fmt.Errorf("%w: %w", damaged, numbered.ErrDamaged)
	case len(h.Versions) == 0:
		return History{}, fmt.Errorf("cannot load the %s strategy: %w", kind, blob.ErrAbsent)
	}
	h.judge(now)
	return h, nil
}

// checkIdentity returns an error if the document is stored under the key of another document: its
// fields Kind and Version differ from the parameters kind and version, which are those in the key.
func (d Document) checkIdentity(kind Kind, version uint64) error {
	if d.Kind == kind && d.Version == version {
		return nil
	}
	return fmt.Errorf("cannot read %s: it says that it is %s", layout.StrategyKey(string(kind), version), layout.StrategyKey(string(d.Kind), d.Version))
}

// judge sets InForce to the version that is in force at the given time. It adds a warning if this
// version is not valid yet or has expired, and one for each of its faults.
func (h *History) judge(now time.Time) {
	const at = time.RFC3339
	i := slices.IndexFunc(h.Versions, func(d Document) bool { return !d.From.After(now) })
	if i < 0 {
		i = len(h.Versions) - 1
	}
	h.InForce = h.Versions[i]
	d := &h.InForce
	warn := func(format string, args ...any) {
		h.Warnings = append(h.Warnings, fmt.Sprintf("%s %s", d, fmt.Sprintf(format, args...)))
	}
	switch {
	case d.From.After(now):
		warn("holds from %s and is in force before, because it is the first", d.From.Format(at))
	case !d.Expires.IsZero() && !d.Expires.After(now):
		warn("expired at %s without a successor and stays in force; publish the next version", d.Expires.Format(at))
	}
	for _, fault := range d.Faults() {
		warn("%s", fault)
	}
}

// String returns the name of the document, such as "crawl strategy version 3".
func (d *Document) String() string { return fmt.Sprintf("%s strategy version %d", d.Kind, d.Version) }
