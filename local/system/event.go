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

// raise sends the event of an object that was stored to the queue for its prefix, as S3
// does by a bucket notification. It does nothing for other prefixes.
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
