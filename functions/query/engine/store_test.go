package engine

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// store is a querytest.Store, whose engines tests use.
type store struct{ *querytest.Store }

func newStore(t testing.TB, partitions int) *store { return &store{querytest.NewStore(t, partitions)} }

// engine returns an engine that reads the store through bucket.
func (s *store) engine(bucket blob.Reader) *Engine { return s.logging(bucket, s.T.Output()) }

func (s *store) logging(bucket blob.Reader, log io.Writer) *Engine {
	e, err := New(bucket, Options{
		Settings: s.Settings(bucket),
		Now:      s.Clock.Now,
		Age:      10 * time.Second,
		Log:      slog.New(slog.NewTextHandler(log, nil)),
	})
	s.Check(err)
	return e
}
