package system

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// Failing reports a partition.Fault (lost or damaged manifests or books) at once, and any other
// failure of a function when it repeats. When the function succeeds, its failures are no longer
// reported.
func TestFailures(t *testing.T) {
	var f failures
	fault, away := partition.BooksFault(errors.New("a book is lost")), errors.New("no luck\nnor room")
	receives := "1"
	body := "{}"
	run := func(name string, reason error) []string {
		handle := f.watch(name, func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			if name == task.Sweep { // in the same way as the function
				event.Records = slices.DeleteFunc(event.Records, func(m events.SQSMessage) bool { return m.Attributes["ApproximateReceiveCount"] > "1" })
			}
			return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(context.Context, string) error { return reason }), nil
		})
		if _, err := handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: body, Attributes: map[string]string{"ApproximateReceiveCount": receives}}}}); err != nil {
			t.Fatal(err)
		}
		return f.sentences()
	}
	for i, step := range []struct {
		name   string
		reason error
		want   []string
	}{
		{"pack", away, nil},
		{"pack", message.Later(away), nil},
		{"pack", away, []string{"pack fails: no luck; nor room"}},
		{"sweep", errors.Join(away, fault), []string{"pack fails: no luck; nor room", fault.Error()}},
		{"pack", fault, []string{fault.Error()}},
		{"sweep", nil, []string{fault.Error()}},
		{"pack", nil, nil},
		{"pack", away, nil},
	} {
		if diff := cmp.Diff(step.want, run(step.name, step.reason)); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
	body = `{"storage":3}`
	run("sweep", away)
	if diff := cmp.Diff([]string{"sweep of partition 0003 fails: no luck; nor room"}, run("sweep", away)); diff != "" {
		t.Errorf("a partition (-want +got):\n%s", diff)
	}
	body = `{"storage":4}`
	if got := run("sweep", nil); len(got) != 1 {
		t.Errorf("after another partition: %q", got)
	}
	body = `{"storage":3}`
	if got := run("sweep", nil); len(got) != 0 {
		t.Errorf("after a success: %q", got)
	}
	body = "{}"
	run("sweep", fault)
	receives = "2"
	if got := run("sweep", nil); len(got) != 1 { // the function has done nothing
		t.Errorf("after a retry of sweep: %q", got)
	}
}
