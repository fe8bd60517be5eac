package sweep

import (
	"strconv"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestFullRedis sweeps with a redis-server of less and less memory, and then with enough of it. The sweep notes how
// full Redis is. While Redis refuses writes, the sweep is postponed; when there is room, it does its work.
func TestFullRedis(t *testing.T) {
	rdb := redistest.Server(t) // the embedded Redis has no limit
	w := newWorld(t, rdb)
	for _, step := range []struct {
		most  string // memory of Redis; "0": no limit
		want  []string
		fails bool
	}{
		{"0", nil, false},
		{"100mb", nil, false},
		{"nearly", []string{vitals.RedisNearlyFull}, false},
		{"1b", []string{vitals.RedisFull}, true},
		{"0", nil, false},
	} {
		if step.most == "nearly" {
			info, err := rdb.Info(t.Context(), "memory").Result()
			if err != nil {
				t.Fatal(err)
			}
			used, err := strconv.Atoi(memoryLine.FindStringSubmatch(info)[2])
			if err != nil {
				t.Fatal(err)
			}
			step.most = strconv.Itoa(used * 10 / 9)
		}
		if err := rdb.ConfigSet(t.Context(), "maxmemory", step.most).Err(); err != nil {
			t.Fatal(err)
		}
		if err := rdb.Del(t.Context(), "f:{0}:epoch").Err(); err != nil { // so that the sweep has to write
			t.Fatal(err)
		}
		var noted []string
		var failed error
		ctx := message.Listen(t.Context(), message.Listener{
			Noted:  func(what string) { noted = append(noted, what) },
			Failed: func(_ events.SQSMessage, err error) { failed = err },
		})
		if _, err := w.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: "{}"}}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, noted); diff != "" {
			t.Errorf("with %s: notes (-want +got):\n%s", step.most, diff)
		}
		if (failed != nil) != step.fails || failed != nil && !message.IsLater(failed) {
			t.Errorf("with %s: %v, want an error that is postponed: %v", step.most, failed, step.fails)
		}
	}
}
