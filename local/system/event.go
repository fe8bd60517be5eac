package system

import (
	"context"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// listeners are the bucket's notification destinations.
var listeners = map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index}

// raise delivers the event of an object to the queue that listens to its
// prefix, as a bucket notification does.
func (s *System) raise(key string, size int64) {
	directory, _, _ := strings.Cut(key, "/")
	queue, found := listeners[directory+"/"]
	if !found {
		return
	}
	event := message.S3Event(bucketName, key, size, time.Now())
	if err := s.queues.Send(context.Background(), queue, event, 0); err != nil {
		s.Log.Error("event is lost until the next sweep", "key", key, "error", err)
	}
}
