package system

import (
	"context"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// listeners maps a prefix of keys to the name of a queue. When an object whose key has this prefix
// is stored, the queue gets an event.
var listeners = map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index}

// raise must be called when an object with this key and size was stored. It sends the event to the
// queue that listeners names for the key's prefix, as S3 does by a bucket notification. For any
// other prefix it does nothing.
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
