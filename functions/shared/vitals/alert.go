package vitals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// Thresholds of the alerts.
const (
	longUnpacked  = 15 * time.Minute
	longUnindexed = time.Hour
	fewFailures   = 10  // least number of failures that raises an alert
	failureShare  = 0.1 // fraction of all invocations; if more fail, an alert is raised
	nearLimit     = 0.9 // fraction of a limit; once it is used up, an alert is raised
)

// Notes of the function sweep about the memory of Redis (see message.Note).
const (
	RedisFull       = "Redis is full"        // it refuses writes
	RedisNearlyFull = "Redis is nearly full" // it has used 80 % of its memory or more
)

// LeafLeftOut is the note of the function query that an answer lacks pages: a server that searches a part of the index
// did not answer.
const LeafLeftOut = "an answer lacks the pages of a server"

// Alert is a condition that a person should know of.
type Alert struct {
	Name  string    `json:"name"`  // kind of the condition, such as "limit/requests"
	Text  string    `json:"text"`  // sentence for a person
	Since time.Time `json:"since"` // earliest known time of the condition
}

// State is the state of the whole system, from which Judge makes alerts.
type State struct {
	Now             time.Time
	DeadLetters     int
	OldestSpool     time.Duration            // age of the oldest spool object that is not packed; 0: there is none
	OldestUnindexed time.Duration            // age of the oldest package that is not indexed; 0: there is none
	Waiting         map[string]time.Duration // age of the oldest work that waits for a function, by the name of the function
	Signs           Signs
	Usage           Usage // usage of all processes on the present day (UTC)
	Held            int64 // size of all packages, books and segments, in bytes
	Limits          control.Limits
	Pause           *control.Pause // pause of the crawl that is in force, or nil
	Warnings        []string       // sentences about mistakes in the published settings
	Lost            []Lost         // partitions with lost or damaged versions of their manifest
}

// Lost is a partition with generations (versions of its manifest) that are lost or damaged.
type Lost struct {
	Partition layout.Partition
	Text      string // sentence that says what to do
}

// Judge returns the alerts that the state of the system raises, always in the same order.
func Judge(s State) []Alert {
	var alerts []Alert
	raise := func(name string, since time.Time, text string, values ...any) {
		alerts = append(alerts, Alert{Name: name, Text: fmt.Sprintf(text, values...), Since: since})
	}
	for _, lost := range s.Lost {
		raise("lost/"+lost.Partition.String(), s.Now, "%s.", lost.Text)
	}
	if s.DeadLetters > 0 {
		raise("dead-letters", s.Now, "Messages that were given up: %d; `bucketsearch status` shows why, `bucketsearch resend` sends them again.", s.DeadLetters)
	}
	if s.OldestSpool > longUnpacked {
		raise("unpacked", s.Now.Add(-s.OldestSpool), "What was fetched %v ago is not packed yet.", s.OldestSpool.Round(time.Minute))
	}
	if s.OldestUnindexed > longUnindexed {
		raise("unindexed", s.Now.Add(-s.OldestUnindexed), "What was packed %v ago cannot be searched yet.", s.OldestUnindexed.Round(time.Minute))
	}
	for _, f := range s.Signs.Functions {
		if f.Failures >= fewFailures && float64(f.Failures) > failureShare*float64(f.Invocations) {
			reason := ""
			if f.LastError != nil {
				reason = ", at last because: " + f.LastError.Text
			}
			raise("failures/"+f.Function, s.Now.Add(-s.Signs.Over.Duration()), "%s failed in %d of %d invocations of the last %v%s.",
				f.Function, f.Failures, f.Invocations, s.Signs.Over.Duration().Round(time.Minute), reason)
		}
	}
	const room = "Give it more memory (on AWS the parameter RedisNode), or limit what is crawled"
	switch notes := s.Signs.Function("sweep").Notes; {
	case notes[RedisFull] > 0:
		raise("redis", s.Now.Add(-s.Signs.Over.Duration()), "Redis is full. The crawl waits, and goes on by itself when there is room; nothing is lost. %s.", room)
	case notes[RedisNearlyFull] > 0:
		raise("redis", s.Now.Add(-s.Signs.Over.Duration()), "Redis has used more than 80 %% of its memory, and when it is full, the crawl waits. %s.", room)
	}
	if n := s.Signs.Function("query").Notes[LeafLeftOut]; n > 0 {
		raise("leaves", s.Now.Add(-s.Signs.Over.Duration()), "Answers to searches lacked pages (%d in the last %v), because a server that searches a part of the index did not answer. The log of the search page names it, and so does bucketsearch_leaf_resting in its /metrics.",
			n, s.Signs.Over.Duration().Round(time.Minute))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Waiting)) {
		waited, sign := s.Waiting[name], s.Signs.Function(name)
		if waited > Window && sign.Invocations == 0 && sign.InFlight == 0 {
			raise("silent/"+name, s.Now.Add(-waited), "%s has done nothing for %v, although work has waited for it for %v.", name, Window, waited.Round(time.Minute))
		}
	}
	for _, text := range s.Warnings {
		name, _, _ := strings.Cut(text, " ")
		raise("published/"+name, s.Now, "%s", text)
	}
	limit := func(name string, used, most float64, unit string) {
		if most > 0 && used >= nearLimit*most {
			raise("limit/"+name, s.Now, "%.0f %% of the limit on %s are used: %.4g of %.4g %s.", 100*used/most, name, used, most, unit)
		}
	}
	limit("storage", float64(s.Held)/1e9, float64(s.Limits.StorageBytes)/1e9, "GB")
	limit("requests", float64(s.Usage.Requests.Requests()), float64(s.Limits.RequestsPerDay), "requests today")
	limit("money", s.Usage.USD, s.Limits.USDPerDay, "USD today")
	if s.Pause != nil && s.Pause.By == control.Damage {
		raise("paused", s.Now, "The crawl is paused: %s", s.Pause.Reason)
	}
	if s.Pause != nil && s.Pause.By == control.Limit { // the pause says more than the warning that a limit is near
		alerts = slices.DeleteFunc(alerts, func(a Alert) bool { return strings.HasPrefix(a.Name, "limit/") })
		raise("paused", s.Pause.Since, "The crawl is paused: %s", s.Pause.Reason)
	}
	return alerts
}

const notifyTime = 10 * time.Second // time within which a webhook must answer

// Notify posts an alert to a webhook as JSON:
//
//	{"name": "unpacked", "text": "…a sentence…", "since": "2026-11-22T02:00:00Z"}
//
// It fails unless the webhook answers with a status of 2xx within ten seconds.
func Notify(ctx context.Context, client *http.Client, webhook string, alert Alert) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	alert.Since = alert.Since.UTC()
	content, err := reply.Marshal(alert, false)
	if err != nil {
		return fmt.Errorf("cannot encode alert %s: %w", alert.Name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook, bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("cannot send alert %s: %w", alert.Name, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("cannot send alert %s: %w", alert.Name, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("cannot send alert %s: %s was answered", alert.Name, response.Status)
	}
	return nil
}

// namespace is the CloudWatch namespace of the metrics.
const namespace = "Bucketsearch"

// embedded is one line of CloudWatch's embedded metric format. CloudWatch makes metrics from such
// lines in Lambda's log.
type embedded struct {
	AWS struct {
		Timestamp         int64 // time of the metrics, in milliseconds since 1970
		CloudWatchMetrics []directive
	} `json:"_aws"`
	Stack         string // name of the stack, by which the metrics of several stacks of an account are told apart
	Function      string
	Worker        string // name of the process; a property for searching lines, not a dimension
	Invocations   int64
	Failures      int64
	Postponed     int64
	Busy          float64
	StoreRequests int64
	StoreBytes    int64
	CPU           float64
	Memory        int64
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

type metric struct{ Name, Unit string }

var embeddedMetrics = []metric{
	{"Invocations", "Count"}, {"Failures", "Count"}, {"Postponed", "Count"}, {"Busy", "Seconds"}, {"StoreRequests", "Count"},
	{"StoreBytes", "Bytes"}, {"CPU", "Seconds"}, {"Memory", "Bytes"},
}

// writeMetrics writes the metrics of every function in the feedback to Options.Metrics, one line of
// CloudWatch's format for each function. If Options.Metrics is nil, it writes nothing. Processor
// time and memory are those of the process, which in Lambda runs one function.
func (r *Recorder) writeMetrics(f *Feedback) error {
	if r.options.Metrics == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Functions)) {
		activity := f.Functions[name]
		line := embedded{
			Stack: r.options.Stack, Function: name, Worker: f.Worker, Invocations: activity.Invocations, Failures: activity.Failures, Postponed: activity.Postponed,
			Busy: activity.BusySeconds, StoreRequests: activity.Requests.Requests(),
			StoreBytes: activity.Requests.Read + activity.Requests.Written, CPU: f.Process.CPUSeconds, Memory: f.Process.Resident,
		}
		line.AWS.Timestamp = f.At.UnixMilli()
		line.AWS.CloudWatchMetrics = []directive{{namespace, [][]string{{"Stack", "Function"}}, embeddedMetrics}}
		content, err := json.Marshal(line)
		if err == nil {
			_, err = r.options.Metrics.Write(append(content, '\n'))
		}
		if err != nil {
			return fmt.Errorf("cannot write metrics of %s: %w", name, err)
		}
	}
	return nil
}
