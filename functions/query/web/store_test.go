package web

import (
	"io"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/engine/enginetest"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// store is a querytest.Store, whose engines tests use.
type store struct{ *querytest.Store }

func newStore(t testing.TB, partitions int) *store { return &store{querytest.NewStore(t, partitions)} }

// engine returns an engine that reads the store through bucket.
func (s *store) engine(bucket blob.Reader) *engine.Engine { return s.logging(bucket, s.T.Output()) }

func (s *store) logging(bucket blob.Reader, log io.Writer) *engine.Engine {
	return enginetest.New(s.Store, bucket, log)
}
