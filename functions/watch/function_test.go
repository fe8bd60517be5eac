package watch_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/functions/watch"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestAlerts checks that an alert is sent when a problem begins, once an hour while it lasts, and
// at once when it comes back.
func TestAlerts(t *testing.T) {
	var told []string
	status := http.StatusOK
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var alert vitals.Alert
		if err := json.NewDecoder(r.Body).Decode(&alert); err != nil {
			t.Error(err)
		}
		told = append(told, alert.Name)
		w.WriteHeader(status)
	}))
	defer hook.Close()
	bucket, clock := memblob.New(), functionstest.NewClock()
	functionstest.Publish(t, bucket, 1, nil, "http://one.example/")
	_, err := control.Change(t.Context(), bucket, func(d *control.Document) bool {
		d.Webhook, d.Limits.StorageBytes = hook.URL, 100
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &watch.Function{
		System:   watch.System{Bucket: bucket, Now: clock.Now},
		Settings: &settings.Cache{Bucket: bucket, Now: clock.Now, Age: time.Minute},
		Client:   hook.Client(), Log: functionstest.Log(),
	}
	letter := layout.DeadLetterKey("pack", layout.ContentHash([]byte("{}")))
	step := func(advance time.Duration, wantErr string, want ...string) {
		t.Helper()
		clock.Advance(advance)
		told = nil
		err := f.Run(t.Context())
		if wantErr == "" && err != nil || wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
			t.Errorf("run: %v, want %q", err, wantErr)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	}
	step(0, "")
	functionstest.Put(t, bucket, letter, []byte("{}"))
	functionstest.Put(t, bucket, layout.ResendKey(letter), nil)
	step(time.Minute, "", "dead-letters")
	functionstest.Commit(t, bucket, 0, func(m *manifest.Manifest) {
		key := layout.PackageKey(0, layout.PackageName{Base: 2, Created: functionstest.Start})
		m.Add(manifest.Package{Key: key, Bytes: 95, Indexed: true})
	})
	status = http.StatusBadGateway
	step(time.Minute, "502", "limit/storage") // the other alert was sent a minute ago
	status = http.StatusOK
	step(time.Minute, "", "limit/storage")
	step(time.Hour, "", "dead-letters", "limit/storage")
	if err := bucket.Delete(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	step(time.Minute, "")
	functionstest.Put(t, bucket, letter, []byte("{}"))
	step(time.Minute, "", "dead-letters")
}

// TestWaitingWork checks that Look finds waiting work. In the manifests it must find packages that
// are not indexed yet. In Redis, if there is one, it must find batches that are not packed yet.
func TestWaitingWork(t *testing.T) {
	bucket, clock, rdb := memblob.New(), functionstest.NewClock(), redistest.Server(t)
	inForce := functionstest.Publish(t, bucket, 2, nil, "http://one.example/")
	functionstest.Commit(t, bucket, 1, func(m *manifest.Manifest) {
		key := layout.PackageKey(1, layout.PackageName{Base: 2, Created: functionstest.Start})
		m.Add(manifest.Package{Key: key, Bytes: 7})
		m.Books = append(m.Books, manifest.Book{Bytes: 5})
		m.Segments = append(m.Segments, manifest.Segment{Bytes: 3})
	})
	waiting := frontier.Waiting{Batch: layout.Version{Epoch: 1, Token: 1}, Since: clock.Now().Add(time.Minute)}
	if err := frontier.NewInbox(rdb, 0).Add(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	state, err := watch.System{Bucket: bucket, Redis: rdb, Now: clock.Now}.Look(t.Context(), inForce)
	if err != nil {
		t.Fatal(err)
	}
	if state.OldestUnindexed != time.Hour || state.OldestSpool != 59*time.Minute || state.Held != 15 {
		t.Errorf("unindexed for %v, unpacked for %v, %d bytes held", state.OldestUnindexed, state.OldestSpool, state.Held)
	}
	state, err = watch.System{Bucket: bucket, Now: clock.Now}.Look(t.Context(), inForce)
	if err != nil || state.OldestSpool != 0 {
		t.Errorf("without a Redis: unpacked for %v, %v", state.OldestSpool, err)
	}
}
