package vitals

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// namespace is where CloudWatch shows the metrics.
const namespace = "Bucketsearch"

// embedded is one line of CloudWatch's embedded metric format, which Lambda's
// log turns into metrics.
type embedded struct {
	AWS struct {
		Timestamp         int64 // ms
		CloudWatchMetrics []directive
	} `json:"_aws"`
	Function      string
	Worker        string // to be looked for, no dimension
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

// writeMetrics writes a line for every function of the feedback. Processor and
// memory are those of its process, which in Lambda runs one function.
func (r *Recorder) writeMetrics(f *Feedback) error {
	if r.options.Metrics == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Functions)) {
		activity := f.Functions[name]
		line := embedded{
			Function: name, Worker: f.Worker, Invocations: activity.Invocations, Failures: activity.Failures, Postponed: activity.Postponed,
			Busy: activity.BusySeconds, StoreRequests: activity.Requests.Requests(),
			StoreBytes: activity.Requests.Read + activity.Requests.Written, CPU: f.Process.CPUSeconds, Memory: f.Process.Resident,
		}
		line.AWS.Timestamp = f.At.UnixMilli()
		line.AWS.CloudWatchMetrics = []directive{{namespace, [][]string{{"Function"}}, embeddedMetrics}}
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
