package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// unreadDocuments collects the damaged versions of published documents. Each damaged version becomes
// a warning. The table says what is used in place of a damaged document, and whether the crawl is
// paused until the document is repaired. Each document has numbered versions, and each version has a
// copy. The first row that applies decides:
//
//	damaged                                         used instead                          the crawl
//	a version, while its copy is intact             the copy                              goes on
//	newest takedowns and their copy                 all entries that can still be read    is paused
//	all versions and copies of a strategy           a strategy with only partition 0      is paused
//	all versions and copies of a collection         nothing: no URL is admitted for it    is paused
//	all versions and copies of the controls         no limits; the API refuses requests   is paused
//	another document's newest version and its copy  the newest readable version           goes on
type unreadDocuments struct {
	mu     sync.Mutex // protects the fields below
	faults numbered.Faults
	lost   []string // sentences for people, one for each strategy of which no version can be read
	none   []error  // errors of strategies that have no version
}

// add adds the faults of documents to u.
func (u *unreadDocuments) add(faults numbered.Faults) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.faults.Add(faults)
}

// strategy handles the result of reading a strategy into *d. If the error is numbered.ErrDamaged, no
// version of the strategy could be read. Then the method sets *d to a substitute that has only
// partition 0, records the damage, and returns nil. If the error is blob.ErrAbsent, it records that the strategy
// has no version, and returns nil (see absent). Otherwise it returns err unchanged.
func (u *unreadDocuments) strategy(d *rules.Document, kind rules.Kind, err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if errors.Is(err, blob.ErrAbsent) {
		u.none = append(u.none, fmt.Errorf("cannot read %s strategy: %w", kind, err))
		return nil
	}
	if !errors.Is(err, numbered.ErrDamaged) {
		return err
	}
	u.lost = append(u.lost, err.Error())
	*d = rules.Even(kind, 1, time.Time{})
	d.Version = 0
	return nil
}

// absent returns an error if a strategy has no version: ErrUnpublished if none has one, and there are no collections
// either. The parameter says whether there are no collections.
func (u *unreadDocuments) absent(noCollections bool) error {
	if len(u.none) == 2 && noCollections {
		return ErrUnpublished
	}
	return errors.Join(u.none...)
}

// judge adds to the settings a warning for each document that is damaged or has unknown fields, and pauses the crawl
// where the table of unreadDocuments says so.
func (u *unreadDocuments) judge(s *Settings) {
	reasons := slices.Sorted(slices.Values(u.lost))
	s.Warnings = slices.Concat(s.Warnings, reasons, slices.Sorted(slices.Values(u.faults.Ignored)))
	slices.SortFunc(u.faults.Damaged, func(a, b numbered.Damaged) int { return strings.Compare(a.Key, b.Key) })
	for _, d := range u.faults.Damaged {
		s.Warnings = append(s.Warnings, d.String())
		if d.Instead == 0 || strings.HasPrefix(d.Key, layout.Takedowns) && !d.Copied {
			reasons = append(reasons, d.String())
		}
		if d.Instead == 0 && strings.HasPrefix(d.Key, layout.Controls) {
			s.Control.KeysLost = true
		}
	}
	if len(reasons) > 0 && (s.Control.Pause == nil || !s.Control.Pause.Until.IsZero()) {
		s.Control.Pause = &control.Pause{By: control.Damage, Reason: reasons[0]}
	}
}
