package cloud

import (
	"os"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// The binaries of functions serve events as AWS sends them, or refuse them: none is ignored without a word.
func TestEvents(t *testing.T) {
	t.Parallel()
	c, said := start(t, false)
	for _, test := range []struct {
		function, event string
		answer, refusal string // part of the answer, or of the error
	}{
		{"Schedule", "scheduler", `{"batchItemFailures":null}`, ""},
		{"Sweep", "rule", `{"batchItemFailures":null}`, ""},
		{"Schedule", "sqs-batch", `{"batchItemFailures":[]}`, ""}, // the bad message becomes a dead letter
		{"Pack", "sqs-test", `{"batchItemFailures":null}`, ""},
		{"Index", "sqs-sns-test", `{"batchItemFailures":null}`, ""},
		{"Query", "function-url", `{"statusCode":200`, ""},
		{"Query", "sqs-s3", "", "answers only requests to its function URL"},
		{"Query", "alb", "", "answers only requests to its function URL"},
		{"Fetch", "function-url", "", "it is an HTTP request"},
		{"Pack", "kinesis", "", `it is from "aws:kinesis"`},
		{"Fetch", "scheduler", `{"batchItemFailures":[]}`, ""}, // becomes a dead letter
	} {
		event, err := os.ReadFile("../../functions/shared/message/testdata/events/" + test.event + ".json")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.functions[test.function].invoke(t.Context(), event)
		refused := test.refusal != "" && err != nil && strings.Contains(err.Error(), test.refusal)
		if !refused && (test.refusal != "" || err != nil || !strings.HasPrefix(string(answer), test.answer)) {
			t.Errorf("%s, %s: %s, %v\n%s", test.function, test.event, answer, err, said.take())
		}
	}
	var buried []string
	for key, err := range message.DeadLetters(t.Context(), c.Bucket) {
		if err != nil {
			t.Fatal(err)
		}
		buried = append(buried, strings.Split(key, "/")[1])
	}
	if got := strings.Join(buried, " "); got != "fetch schedule" {
		t.Errorf("dead letters of %q, want those of fetch and schedule", got)
	}
}

// Each new version of a function can be asked whether it can work, before anything else invokes it. One whose role may
// not use the bucket cannot.
func TestCheck(t *testing.T) {
	t.Parallel()
	c, said := start(t, false)
	check := []byte(`{"check":true}`)
	for name, f := range c.functions {
		if answer, err := f.invoke(t.Context(), check); err != nil {
			t.Errorf("%s: %s, %v\n%s", name, answer, err, said.take())
		}
	}
	c.mustBeSound(t, said)
	c.access.statements["Pack"], c.access.statements["Query"] = nil, nil
	for _, name := range []string{"Pack", "Query"} {
		if _, err := c.functions[name].invoke(t.Context(), check); err == nil || !strings.Contains(err.Error(), "cannot write into the bucket") {
			t.Errorf("%s, without permissions: %v", name, err)
		}
	}
}
