package system

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Searcher is a server of searches that needs the bucket only, and runs nothing else. Any number of
// them may run on a bucket. Their credentials need not be allowed to write: what writes is judging,
// counting clicks, and KeepSigns.
type Searcher struct {
	Page http.Handler // serves the search page, as System.Page does

	store  *store
	vitals *vitals.Recorder
	log    *slog.Logger
}

// NewSearcher returns a server of searches for the bucket at the URL Options.S3. It sends no request:
// while nothing is in the bucket, or the store does not answer, the page /readyz says so.
func NewSearcher(o Options, page PageOptions, log *slog.Logger) (*Searcher, error) {
	s := &Searcher{vitals: vitals.New(vitals.Options{Worker: processName(), Now: time.Now}), log: log}
	var err error
	if s.store, _, err = connect(o.S3, o.Getenv, nil, s.vitals.Traffic()); err != nil {
		return nil, err
	}
	searching := engine.Options{Log: log.With("function", queryName), Name: o.S3}
	s.Page, err = page.handler(s.store.of(queryName, s.vitals), s.vitals, searching, nil)
	return s, err
}

// Listener returns a listener that counts bytes, as System.Listener does.
func (s *Searcher) Listener(l net.Listener) net.Listener { return s.vitals.Traffic().Listener(l) }

// KeepSigns stores the vital signs of this process in the bucket again and again, and once more when ctx
// ends. The command status and the limits of cost count what they say. If the store refuses to store
// them, KeepSigns logs it and returns.
func (s *Searcher) KeepSigns(ctx context.Context) {
	ticker := time.NewTicker(feedbackTick)
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C:
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), LastSigns)
		err := s.vitals.Flush(within, s.store.bucket)
		cancel()
		if err != nil && !errors.Is(err, blob.ErrRetryable) {
			s.log.Info("vital signs are not kept, so status and limits do not count this server; without the right to write below feedback/ that is as it should be", "error", err)
			return
		}
	}
}
