package cloud

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// notification says which objects a bucket reports to a queue.
type notification struct {
	Event, Queue string
	Filter       struct {
		S3Key struct {
			Rules []struct{ Name, Value string }
		}
	}
}

// concerns reports whether a new object with the key is reported.
func (n notification) concerns(key string) bool {
	for _, r := range n.Filter.S3Key.Rules {
		if r.Name != "prefix" || !strings.HasPrefix(key, r.Value) {
			return false
		}
	}
	return n.Event == "s3:ObjectCreated:*"
}

// rule is a rule of EventBridge: it says which events of buckets are sent to queues.
type rule struct {
	EventPattern struct {
		Source     []string
		DetailType []string `json:"detail-type"`
		Detail     struct {
			Bucket struct{ Name []string }
			Object struct{ Key []struct{ Prefix string } }
		}
	}
	Targets []struct{ Arn string }
}

// concerns reports whether the event of a new object of the bucket is sent.
func (r rule) concerns(bucket, key string) bool {
	p := r.EventPattern
	return slices.Contains(p.Source, "aws.s3") && slices.Contains(p.DetailType, objectCreated) && slices.Contains(p.Detail.Bucket.Name, bucket) &&
		slices.ContainsFunc(p.Detail.Object.Key, func(o struct{ Prefix string }) bool { return strings.HasPrefix(key, o.Prefix) })
}

// The roles in which services send messages.
const (
	s3Service     = "s3.amazonaws.com"
	eventsService = "events.amazonaws.com"
)

// notify sends the events of a new object to the queues: those of a bucket of the template by its notifications, and
// those of another bucket by EventBridge, to which the bucket's owner lets it send all events.
func (c *Cloud) notify(key string, size int64) {
	c.puts.Add(1)
	c.putBytes.Add(size)
	for _, n := range c.notifications {
		if n.concerns(key) {
			c.queues.post("", s3Service, n.Queue, string(message.S3Event(c.bucket, key, size, time.Now())))
		}
	}
	if len(c.rules) > 0 {
		c.meter.add(s3Service, usage{Events: 1})
	}
	for name, r := range c.rules {
		if r.concerns(c.bucket, key) {
			for _, target := range r.Targets {
				c.queues.post(ruleARN(name), eventsService, target.Arn, bridgeEvent(c.bucket, key, size))
			}
		}
	}
}

const objectCreated = "Object Created"

// bridgeEvent returns the event by which EventBridge tells of a new object: those fields that S3 always sends.
func bridgeEvent(bucket, key string, size int64) string {
	event, _ := json.Marshal(map[string]any{ // strings, numbers and a time always have a JSON form
		"version": "0", "source": "aws.s3", "detail-type": objectCreated, "account": account, "region": region, "time": time.Now().UTC(),
		"detail": map[string]any{
			"version": "0", "bucket": map[string]any{"name": bucket}, "object": map[string]any{"key": key, "size": size}, "reason": "PutObject",
		},
	})
	return string(event)
}

// readNotifications reads by which notifications and rules the template connects the bucket with queues.
func (c *Cloud) readNotifications(t template) error {
	buckets, err := resourcesOf[struct {
		NotificationConfiguration struct{ QueueConfigurations []notification }
	}](t, "AWS::S3::Bucket")
	if err != nil {
		return err
	}
	c.notifications = buckets["Bucket"].NotificationConfiguration.QueueConfigurations
	c.rules, err = resourcesOf[rule](t, "AWS::Events::Rule")
	return err
}
