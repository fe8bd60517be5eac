package vitals

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// CloudWatch takes a metric from a line if it is named in a directive, and is
// a number of the root, as the dimensions are strings of the root.
func TestEmbeddedMetrics(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New()
	var out bytes.Buffer
	r := New(Options{Worker: "w", Now: clock.Now, Memory: 512, Metrics: &out})
	flush(t, r, bucket)
	if out.Len() > 0 {
		t.Errorf("wrote of nothing: %s", out.String())
	}
	ask(t, r.Bucket("fetch", bucket), "x")
	work(t, r, clock, "fetch", "x", "fail")
	work(t, r, clock, "pack", "x")
	flush(t, r, bucket)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want one a function:\n%s", len(lines), out.String())
	}
	var root map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &root); err != nil {
		t.Fatal(err)
	}
	var head struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []directive
		} `json:"_aws"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil {
		t.Fatal(err)
	}
	if head.AWS.Timestamp != clock.Now().UnixMilli() || len(head.AWS.CloudWatchMetrics) != 1 {
		t.Fatalf("%+v", head.AWS)
	}
	d := head.AWS.CloudWatchMetrics[0]
	expect(t, "dimensions", [][]string{{"Function"}}, d.Dimensions)
	if d.Namespace != "Bucketsearch" || root["Function"] != "fetch" {
		t.Errorf("%s of %v", d.Namespace, root["Function"])
	}
	got := make(map[string]float64)
	for _, m := range d.Metrics {
		value, isNumber := root[m.Name].(float64)
		if !isNumber {
			t.Errorf("%s is %v", m.Name, root[m.Name])
		}
		if m.Name != "CPU" && m.Name != "Memory" { // which no test decides
			got[m.Name] = value
		}
	}
	expect(t, "metrics", map[string]float64{"Invocations": 2, "Failures": 1, "Postponed": 0, "Busy": 2, "StoreRequests": 2, "StoreBytes": 3}, got)
}
