package query

import (
	"io"
	"net/http"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/engine/enginetest"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
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

// handler returns an HTTP handler that reads the store through bucket, and writes its log to log.
func (s *store) handler(bucket blob.Reader, log io.Writer) http.Handler {
	return handlerOf(s.logging(bucket, log))
}

// serve returns a handler that reads the store directly, without injected faults, and logs to the
// test's output.
func (s *store) serve() http.Handler { return s.handler(s.Bucket, s.T.Output()) }

// handlerOf returns an HTTP handler that answers by an engine; nobody judges or counts clicks.
func handlerOf(e *engine.Engine) http.Handler { return Handler(web.Site{Engine: e}) }
