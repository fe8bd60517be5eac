// Package enginetest makes engines for tests of the packages that serve their answers.
package enginetest

import (
	"io"
	"log/slog"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// New returns an engine that reads the pages of a store through bucket, which may inject faults. It reads
// manifests again after ten seconds of the store's clock, and writes its log to log.
func New(s *querytest.Store, bucket blob.Reader, log io.Writer) *engine.Engine {
	s.T.Helper()
	e, err := engine.New(bucket, engine.Options{
		Settings: s.Settings(bucket), Now: s.Clock.Now, Age: 10 * time.Second, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	s.Check(err)
	return e
}
