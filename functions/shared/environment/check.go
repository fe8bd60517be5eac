package environment

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// checkEvent is the event {"check":true}. By it, infra/deploy asks a new version of a function whether it can work,
// before anything else invokes that version.
type checkEvent struct {
	Check bool `json:"check"`
}

// checkTime is the time limit of a check. It is shorter than the timeout of any function.
const checkTime = 30 * time.Second

// check returns an error if the function cannot write into the bucket, or cannot reach its Redis. That it is called
// shows that the binary starts, and that all environment variables are right. What it writes are the vital signs of this
// invocation.
func (e *Environment) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if e.Redis != nil {
		if err := e.Redis.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("cannot reach Redis: %w", err)
		}
	}
	_, _ = e.vitals.Watch(e.function, func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
		return events.SQSEventResponse{}, nil
	})(ctx, events.SQSEvent{}) // makes the vital signs, and cannot fail
	if err := e.vitals.Flush(ctx, e.feedback); err != nil {
		return fmt.Errorf("cannot write into the bucket: %w", err)
	}
	return nil
}
