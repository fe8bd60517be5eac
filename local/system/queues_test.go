package system

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

// The queues on a laptop have the same settings as those in the template for AWS (see TestQueues
// in infra). A message that is not deleted is visible again after six times the timeout of its
// function. It becomes a dead letter after the same number of receives as in AWS.
func TestQueuesAreThoseOfTheCloud(t *testing.T) {
	t.Parallel()
	for _, name := range task.Queues {
		synctest.Test(t, func(t *testing.T) {
			var dead []message.DeadLetter
			q := newQueues(nil, func(d message.DeadLetter) { dead = append(dead, d) })[name]
			if _, err := q.Send("{}", 0); err != nil {
				t.Fatal(err)
			}
			for n := range message.MaxReceives {
				if len(q.Receive(1)) != 1 {
					t.Fatalf("%s: not delivered for the %d. time", name, n+1)
				}
				time.Sleep(task.Visibility(name) - time.Nanosecond)
				if len(q.Receive(1)) != 0 {
					t.Fatalf("%s: visible too soon", name)
				}
				time.Sleep(time.Nanosecond)
			}
			if len(q.Receive(1)) != 0 || len(dead) != 1 || dead[0].Receives != message.MaxReceives {
				t.Errorf("%s: dead letters %+v", name, dead)
			}
		})
	}
}
