package system

import (
	"context"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// listeners maps the prefix of an object's key to the queue that gets the event that the
// object was stored.
var listeners = map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index}

// raise sends the event that an object was stored to the queue that listeners has for the prefix
// of its key, as S3 does by a bucket notification. For any other prefix it does nothing.
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
