package system

import (
	"context"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// listeners maps a prefix of keys to the name of a queue. When an object whose key begins with
// this prefix is stored, the queue gets an event.
var listeners = map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index}

// raise must be called when an object with this key and size was stored. It sends the event to a
// queue, as S3 does by a bucket notification. The map listeners names the queue for each prefix of
// keys; for any other prefix, raise does nothing.
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
