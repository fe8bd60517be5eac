package system

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// listeners maps a prefix of keys to the name of a queue. When an object whose key begins with
// this prefix is stored, the queue gets an event.
var listeners = map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index}

// raiser returns a function to be called when an object with a key and a size was stored. It sends the
// event to a queue, as S3 does by a bucket notification. The map listeners names the queue for each prefix
// of keys; for any other prefix, the function does nothing.
func raiser(to task.Sender, log *slog.Logger) func(key string, size int64) {
	return func(key string, size int64) {
		directory, _, _ := strings.Cut(key, "/")
		queue, found := listeners[directory+"/"]
		if !found {
			return
		}
		if err := message.Raise(context.Background(), to, queue, key, size, time.Now()); err != nil {
			log.Error("event is lost until the next sweep", "key", key, "error", err)
		}
	}
}
