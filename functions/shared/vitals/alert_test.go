package vitals

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

func TestJudge(t *testing.T) {
	signs := func(all ...Sign) Signs { return Signs{Over: 600, Functions: all} }
	waiting := func(d time.Duration) map[string]time.Duration { return map[string]time.Duration{"index": d} }
	limits := control.Limits{StorageBytes: 1e9, RequestsPerDay: 100, USDPerDay: 2}
	tests := []struct {
		name  string
		state State
		want  []Alert
	}{
		{"all is well", State{}, nil},
		{"dead letters", State{DeadLetters: 2}, []Alert{{"dead-letters",
			"Messages that were given up: 2; `bucketsearch status` shows why, `bucketsearch resend` sends them again.", start}}},
		{"lost generations", State{Lost: []Lost{{3, "partition 0003 has none; run it"}}}, []Alert{
			{"lost/0003", "partition 0003 has none; run it.", start}}},
		{"spool of a quarter of an hour", State{OldestSpool: 15 * time.Minute}, nil},
		{"older spool", State{OldestSpool: 16 * time.Minute}, []Alert{
			{"unpacked", "What was fetched 16m0s ago is not packed yet.", start.Add(-16 * time.Minute)}}},
		{"package of an hour", State{OldestUnindexed: time.Hour}, nil},
		{"older package", State{OldestUnindexed: 2 * time.Hour}, []Alert{
			{"unindexed", "What was packed 2h0m0s ago cannot be searched yet.", start.Add(-2 * time.Hour)}}},
		{"few failures", State{Signs: signs(Sign{Function: "pack", Invocations: 9, Failures: 9})}, nil},
		{"a tenth fails", State{Signs: signs(Sign{Function: "pack", Invocations: 100, Failures: 10})}, nil},
		{"more than a tenth fails", State{Signs: signs(
			Sign{Function: "fetch", Invocations: 100, Failures: 11, LastError: &LastError{Text: "no luck"}},
			Sign{Function: "pack", Invocations: 10, Failures: 10},
		)}, []Alert{
			{"failures/fetch", "fetch failed in 11 of 100 invocations of the last 10m0s, at last because: no luck.", start.Add(-10 * time.Minute)},
			{"failures/pack", "pack failed in 10 of 10 invocations of the last 10m0s.", start.Add(-10 * time.Minute)},
		}},
		{"a rebuild has all come back", State{Signs: signs(Sign{Function: "pack", Invocations: 337, Postponed: 80})}, nil},
		{"Redis is nearly full", State{Signs: signs(Sign{Function: "sweep", Invocations: 2, Notes: map[string]int64{RedisNearlyFull: 2}})}, []Alert{
			{"redis", "Redis has used more than 80 % of its memory, and when it is full, the crawl waits. Give it more memory (on AWS the parameter RedisNode), or limit what is crawled.", start.Add(-10 * time.Minute)}}},
		{"Redis is full", State{Signs: signs(Sign{Function: "sweep", Invocations: 2, Notes: map[string]int64{RedisNearlyFull: 1, RedisFull: 1}})}, []Alert{
			{"redis", "Redis is full. The crawl waits, and goes on by itself when there is room; nothing is lost. Give it more memory (on AWS the parameter RedisNode), or limit what is crawled.", start.Add(-10 * time.Minute)}}},
		{"leaves do not answer", State{Signs: signs(Sign{Function: "query", Invocations: 9, Notes: map[string]int64{LeafLeftOut: 4}})}, []Alert{
			{"leaves", "Answers to searches lacked pages (4 in the last 10m0s), because a server that searches a part of the index did not answer. The log of the search page names it, and so does bucketsearch_leaf_resting in its /metrics.", start.Add(-10 * time.Minute)}}},
		{"work waits for a moment", State{Waiting: waiting(Window)}, nil},
		{"work waits for what works", State{Waiting: waiting(time.Hour), Signs: signs(Sign{Function: "index", Invocations: 1})}, nil},
		{"work waits for what is at it", State{Waiting: waiting(time.Hour), Signs: signs(Sign{Function: "index", InFlight: 1})}, nil},
		{"work waits in silence", State{Waiting: waiting(time.Hour), Signs: signs(Sign{Function: "pack", Invocations: 1})}, []Alert{
			{"silent/index", "index has done nothing for 12m0s, although work has waited for it for 1h0m0s.", start.Add(-time.Hour)}}},
		{"below the limits", State{Limits: limits, Held: 899, Usage: Usage{Requests: countblob.Counts{Put: 50, Get: 39}, USD: 1.79}}, nil},
		{"without limits", State{Held: 1 << 60, Usage: Usage{Requests: countblob.Counts{Put: 1 << 60}, USD: 1e9}}, nil},
		{"near the limits", State{Limits: limits, Held: 9e8, Usage: Usage{Requests: countblob.Counts{Put: 50, Get: 49}, USD: 2.5}}, []Alert{
			{"limit/storage", "90 % of the limit on storage are used: 0.9 of 1 GB.", start},
			{"limit/requests", "99 % of the limit on requests are used: 99 of 100 requests today.", start},
			{"limit/money", "125 % of the limit on money are used: 2.5 of 2 USD today.", start},
		}},
		{"paused by a person", State{Pause: &control.Pause{By: control.Operator, Reason: "Holidays."}}, nil},
		{"paused by a limit", State{Pause: &control.Pause{By: control.Limit, Reason: "The limit is reached.", Since: start.Add(-time.Minute)}}, []Alert{
			{"paused", "The crawl is paused: The limit is reached.", start.Add(-time.Minute)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.state.Now = start
			expect(t, "alerts", tt.want, Judge(tt.state))
		})
	}
}

// answering is an http.RoundTripper that answers requests by a handler, without a network.
type answering http.HandlerFunc

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w, r)
	if err := context.Cause(r.Context()); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func TestNotify(t *testing.T) {
	alert := Alert{"unpacked", "It is not packed yet.", start.In(time.FixedZone("", 3600))}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		hook   string
		err    string
	}{
		{"taken", func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got := []string{r.Method, r.URL.String(), r.Header.Get("Content-Type"), string(body)}
			expect(t, "request", []string{http.MethodPost, "http://hook.example/a", "application/json",
				`{"name":"unpacked","text":"It is not packed yet.","since":"2026-11-21T22:00:00Z"}` + "\n"}, got)
			w.WriteHeader(http.StatusNoContent)
		}, "http://hook.example/a", ""},
		{"refused", http.NotFound, "http://hook.example/", "cannot send alert unpacked: 404 Not Found was answered"},
		{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "http://hook.example/", "deadline exceeded"},
		{"no address", nil, ":", "cannot send alert unpacked: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := Notify(t.Context(), &http.Client{Transport: answering(tt.answer)}, tt.hook, alert)
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				if took := time.Since(began); took > notifyTime {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestEmbeddedMetrics checks the JSON lines from which CloudWatch makes metrics. In each line, the
// member CloudWatchMetrics names metrics and dimensions. For each named metric, the line's root
// must have a member of that name that is a number; for each dimension, one that is a string.
func TestEmbeddedMetrics(t *testing.T) {
	clock, bucket := functionstest.NewClock(), memblob.New()
	var out bytes.Buffer
	r := New(Options{Worker: "w", Now: clock.Now, Memory: 512, Metrics: &out, Stack: "search"})
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
	expect(t, "dimensions", [][]string{{"Stack", "Function"}}, d.Dimensions)
	if d.Namespace != "Bucketsearch" || root["Function"] != "fetch" || root["Stack"] != "search" {
		t.Errorf("%s of %v in stack %v", d.Namespace, root["Function"], root["Stack"])
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
