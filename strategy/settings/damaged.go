package settings

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// unreadDocuments collects the published documents that cannot be read. Each becomes a
// warning. Its copy or an older version is used instead; where that is not enough to
// crawl safely, the crawl is paused until the document is repaired:
//
//	damaged                                     used instead                          the crawl
//	any version with an undamaged copy          the copy                              goes on
//	newest version, an older one can be read    the older one                         goes on
//	newest takedowns                            the union of all readable versions    is paused
//	all versions of a strategy                  a strategy with only partition 0      is paused
//	all versions of a collection                nothing: no URL is admitted for it    is paused
//	all versions of the controls                no limits                             is paused
type unreadDocuments struct {
	mu      sync.Mutex // protects the fields below
	damaged []numbered.Damaged
	lost    []string // a sentence for each strategy of which no version can be read
}

// add adds damaged versions of documents to u.
func (u *unreadDocuments) add(damaged []numbered.Damaged) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.damaged = append(u.damaged, damaged...)
}

// strategy replaces a strategy of which no version can be read. err is the error of reading *d. If
// it is numbered.ErrDamaged, strategy sets *d to a strategy with only partition 0, records the
// damage, and returns nil. It returns any other err unchanged.
func (u *unreadDocuments) strategy(d *rules.Document, kind rules.Kind, err error) error {
	if !errors.Is(err, numbered.ErrDamaged) {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lost = append(u.lost, err.Error())
	*d = rules.Even(kind, 1, time.Time{})
	d.Version = 0
	return nil
}

// judge adds to the settings a warning for each damaged document, and pauses the crawl
// where the table of unreadDocuments says so.
func (u *unreadDocuments) judge(s *Settings) {
	reasons := slices.Sorted(slices.Values(u.lost))
	s.Warnings = append(s.Warnings, reasons...)
	slices.SortFunc(u.damaged, func(a, b numbered.Damaged) int { return strings.Compare(a.Key, b.Key) })
	for _, d := range u.damaged {
		s.Warnings = append(s.Warnings, d.String())
		if d.Instead == 0 || strings.HasPrefix(d.Key, layout.Takedowns) && !d.Copied {
			reasons = append(reasons, d.String())
		}
	}
	if len(reasons) > 0 && (s.Control.Pause == nil || !s.Control.Pause.Until.IsZero()) {
		s.Control.Pause = &control.Pause{By: control.Damage, Reason: reasons[0]}
	}
}
