package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// enforceLimits pauses the crawl when a limit (of storage, requests or money) is reached. It ends
// that pause when no limit is reached any more, because one was raised or a new day (UTC) began. It
// does not change a pause that an operator made.
func (f *Function) enforceLimits(ctx context.Context, s *settings.Settings) error {
	paused := s.Control.Pause != nil && s.Control.Pause.By == control.Limit
	if s.Control.Limits == (control.Limits{}) && !paused {
		return nil
	}
	used, err := f.used(ctx, s)
	if err != nil {
		return fmt.Errorf("cannot tell whether a limit is reached: %w", err)
	}
	change := func(d *control.Document) bool { return used.enforce(d, f.Now()) }
	current := s.Control
	if !change(&current) {
		return nil
	}
	current, err = control.Change(ctx, f.Bucket, change)
	if err == nil {
		f.Log.WarnContext(ctx, "limits", "pause", current.Pause)
	}
	return err
}

// usage is the use of storage, requests and money, which is compared with the limits.
type usage struct {
	bytes    int64   // bytes of spool objects, packages, books and segments in all partitions
	requests int64   // number of requests to the object store today (UTC)
	usd      float64 // dollars spent today (UTC)
}

// used reads the present usage: from the manifests, from lists of the spool, and from the reports
// of processes about today.
func (f *Function) used(ctx context.Context, s *settings.Settings) (usage, error) {
	var u usage
	for _, p := range s.Partitions() {
		m, err := manifest.Read(ctx, f.Bucket, p)
		if err != nil {
			return usage{}, err
		}
		u.bytes += m.Bytes()
		for object, err := range f.Bucket.List(ctx, layout.SpoolPrefix(p), "") {
			if err != nil {
				return usage{}, fmt.Errorf("cannot list spool of partition %s: %w", p, err)
			}
			u.bytes += object.Size
		}
	}
	day, err := vitals.ReadUsage(ctx, f.Bucket, f.Now(), s.Control.Priced())
	u.requests, u.usd = day.Requests.Requests(), day.USD
	return u, err
}

// enforce begins, changes or ends the pause of the crawl as the limits demand. The pause is in the
// operator's settings (the control document). enforce reports whether it changed them.
func (u usage) enforce(d *control.Document, now time.Time) bool {
	current := d.Paused(now)
	pause := u.pause(d.Limits, now)
	switch {
	case current != nil && current.By == control.Operator:
		return false
	case pause == nil && d.Pause != nil && d.Pause.By == control.Limit:
		d.Pause = nil
		return true
	case pause == nil, current != nil && current.Until.Equal(pause.Until):
		return false
	}
	d.Pause = pause
	return true
}

// pause returns the pause of the crawl that the limits demand, or nil if no limit is reached. If
// the limit on storage is reached, the pause has no end. Otherwise it ends at midnight UTC, because
// the other limits are for one day.
func (u usage) pause(l control.Limits, now time.Time) *control.Pause {
	p := control.Pause{Since: now.UTC().Truncate(time.Second), By: control.Limit}
	midnight := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	switch {
	case l.StorageBytes > 0 && u.bytes >= l.StorageBytes:
		p.Reason = fmt.Sprintf("%s are stored, and the limit is %s; raise it (bucketsearch limits --storage) or forget pages",
			gigabytes(u.bytes), gigabytes(l.StorageBytes))
	case l.RequestsPerDay > 0 && u.requests >= l.RequestsPerDay:
		p.Until = midnight
		p.Reason = fmt.Sprintf("%d requests were sent to the object store today, and the limit is %d; raise it (bucketsearch limits --requests-a-day), or wait until midnight UTC",
			u.requests, l.RequestsPerDay)
	case l.USDPerDay > 0 && u.usd >= l.USDPerDay:
		p.Until = midnight
		p.Reason = fmt.Sprintf("%.4g USD were spent today, and the limit is %.4g; raise it (bucketsearch limits --usd-a-day), or wait until midnight UTC",
			u.usd, l.USDPerDay)
	default:
		return nil
	}
	return &p
}

func gigabytes(n int64) string { return fmt.Sprintf("%.4g GB", float64(n)/1e9) }
