package watch

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// again is when an alert is told once more while its trouble lasts.
const again = time.Hour

// Function is the watch function: it tells the log and the webhook what an
// operator should know. It runs outside of the private network, from which no
// webhook can be reached, so without a Redis; what it has told it remembers as
// long as its process lives.
type Function struct {
	System
	Settings *settings.Cache
	Client   *http.Client
	Log      *slog.Logger

	mu   sync.Mutex           // protects told
	told map[string]time.Time // by the alert's name
}

// Handle runs once a message, which is any JSON object.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, func(ctx context.Context, body string) error {
		if err := message.Decode(body, new(struct{})); err != nil {
			return err
		}
		return f.Run(ctx)
	}), nil
}

// Run judges the system and tells each alert when it begins and then every
// hour. One that the webhook did not take is told again by the next run.
func (f *Function) Run(ctx context.Context) error {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	state, err := f.Look(ctx, inForce)
	if err != nil {
		return err
	}
	alerts := vitals.Judge(state)
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	told := make(map[string]time.Time)
	for _, alert := range alerts {
		last, before := f.told[alert.Name]
		if before && state.Now.Sub(last) < again {
			told[alert.Name] = last
			continue
		}
		if err := f.tell(ctx, inForce.Control.Webhook, alert); err != nil {
			errs = append(errs, err)
			continue
		}
		told[alert.Name] = state.Now
	}
	f.told = told // what is over begins anew when it comes back
	return errors.Join(errs...)
}

func (f *Function) tell(ctx context.Context, webhook string, alert vitals.Alert) error {
	f.Log.WarnContext(ctx, "alert", "name", alert.Name, "text", alert.Text, "since", alert.Since)
	if webhook == "" {
		return nil
	}
	return vitals.Notify(ctx, f.Client, webhook, alert)
}
