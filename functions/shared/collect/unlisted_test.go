package collect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// TestUnlisted checks when objects that no manifest lists are condemned, that is, marked for deletion.
// This must happen when they are as old as Limits.Grace. There are two exceptions:
//
//	If more than half of the partition's objects are unlisted, they are only condemned if an
//	operator has asked for it.
//	If there is evidence that manifests are lost, no object is condemned.
func TestUnlisted(t *testing.T) {
	const site = "http://a.example/"
	version := func(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }
	for name, test := range map[string]struct {
		age      time.Duration
		orphans  int
		spooled  bool // the batch of the unlisted packages is still in the spool
		onDemand bool
		refusal  string // a word of the error; "": none
		want     int    // number of condemned objects
	}{
		"young":                    {time.Hour, 1, true, false, "", 0},
		"as old as the grace":      {24 * time.Hour, 1, true, false, "", 1},
		"half":                     {24 * time.Hour, 2, true, false, "", 2},
		"more than half":           {24 * time.Hour, 3, true, false, "verify --repair", 0},
		"more than half, asked":    {24 * time.Hour, 3, true, true, "", 3},
		"young, though asked":      {time.Hour, 3, true, true, "", 0},
		"of a lost generation":     {24 * time.Hour, 1, false, false, "lost", 0},
		"of a lost one, on demand": {24 * time.Hour, 3, false, true, "lost", 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := functionstest.NewClock()
			bucket := memblob.NewAt(clock.Now)
			functionstest.Begin(t, bucket, 0)
			functionstest.Put(t, bucket, layout.PackagePrefix(0)+"notes.txt", nil) // a foreign object, which stays
			pkg, outcomes := functionstest.Package(t, bucket, 0, functionstest.Page(version(1), site))
			functionstest.Learn(t, bucket, 0, book.Book{Outcomes: outcomes}, pkg)
			for i := range test.orphans {
				functionstest.Package(t, bucket, 0, functionstest.Page(version(2), fmt.Sprint(site, i)))
			}
			if test.spooled {
				functionstest.Put(t, bucket, layout.SpoolKey(0, version(2)), []byte("spooled"))
			}
			clock.Advance(test.age)
			p, err := partition.Open(t.Context(), bucket, 0, clock.Now)
			if err != nil {
				t.Fatal(err)
			}
			c := collect.Collector{Partition: p, Bucket: bucket, Now: clock.Now, Limits: collect.DefaultLimits(), Log: functionstest.Log()}
			if test.onDemand {
				err = c.UnlistedOnDemand(t.Context())
			} else {
				err = c.Unlisted(t.Context())
			}
			if (err == nil) != (test.refusal == "") || err != nil && !strings.Contains(err.Error(), test.refusal) {
				t.Errorf("error %v", err)
			}
			if lost := errors.Is(err, partition.ErrLost); lost != (test.refusal == "lost") {
				t.Errorf("lost: %v", lost)
			}
			if m := functionstest.Manifest(t, bucket, 0); len(m.Condemned) != test.want {
				t.Errorf("condemned %+v, want %d", m.Condemned, test.want)
			}
		})
	}
}
