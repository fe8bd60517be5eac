package sweep

import (
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestHandle(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	event := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: "{}"}}}
	if response, err := w.Handle(t.Context(), event); err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("%+v, %v", response, err)
	}
	if sent := w.sender.Take(); !slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Queue == task.Schedule }) {
		t.Errorf("sent %v", sent)
	}
	w.sender.Fail(errors.New("refused"))
	if response, err := w.Handle(t.Context(), event); err != nil || len(response.BatchItemFailures) != 1 {
		t.Errorf("%+v, %v; want the message to come again", response, err)
	}
}
