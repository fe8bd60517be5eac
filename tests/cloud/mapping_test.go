package cloud

import (
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// One request to SQS receives or deletes up to ten messages; what is received counts once for each 64 KiB.
func TestBatchRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ messages, size, want int }{
		{1, 100, 2}, {10, 100, 2}, {11, 100, 4}, {64, 100, 14}, {1, 192 << 10, 4}, {2, 33 << 10, 3},
	} {
		batch := make([]events.SQSMessage, test.messages)
		for i := range batch {
			batch[i].Body = strings.Repeat("x", test.size)
		}
		if got := batchRequests(batch); got != test.want {
			t.Errorf("%d messages of %d bytes: %d requests, want %d", test.messages, test.size, got, test.want)
		}
	}
}
