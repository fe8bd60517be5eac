package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/local/lambda"
)

func start(t *testing.T, f lambda.Function) *lambda.Runtime {
	t.Helper()
	r, err := lambda.Start(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func invoke(t *testing.T, r *lambda.Runtime, do string) string {
	t.Helper()
	response, err := r.Invoke(t.Context(), event(do))
	if err != nil {
		t.Fatal(err)
	}
	return string(response)
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// prints is an io.Writer for Function.Output. It sends each text that is written to it to the
// channel.
type prints chan string

func (p prints) Write(b []byte) (int, error) {
	p <- string(b)
	return len(b), nil
}

func TestInvokeReusesItsProcess(t *testing.T) {
	r := start(t, testFunction("function", io.Discard))
	if n := r.KillAll(); n != 0 {
		t.Errorf("%d processes run before the first event", n)
	}
	if got := invoke(t, r, "echo é <&>"); got != `"é <&>"` {
		t.Errorf("response %s", got)
	}
	first := invoke(t, r, "pid")
	if again := invoke(t, r, "pid"); again != first {
		t.Errorf("process %s, then %s", first, again)
	}
}

func TestInvokeFails(t *testing.T) {
	tests := []struct{ name, role, do, want string }{
		{"error", "function", "fly", "function test: cannot fly"},
		{"panic", "function", "panic", "function test: oh"},
		{"exit", "function", "exit", "function test: the process died in the middle of an invocation: exit status 4"},
		{"large response", "function", "large", "function test: its response is over the limit of 6291456 bytes"},
		{"broken binary", "broken", "echo", "function test: the process died before it asked for an event: exit status 3"},
		{"large event", "function", strings.Repeat("x", 6<<20), "function test: an event of 6291458 bytes is over the limit of 6291456"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, testFunction(tt.role, io.Discard))
			_, err := r.Invoke(t.Context(), event(tt.do))
			expectError(t, err, tt.want)
			if tt.role == "broken" {
				return
			}
			if got := invoke(t, r, "echo still here"); got != `"still here"` {
				t.Errorf("response after the failure %s", got)
			}
		})
	}
}

func TestInvokeTimesOut(t *testing.T) {
	f := testFunction("function", io.Discard)
	f.Timeout = 200 * time.Millisecond
	r := start(t, f)
	_, err := r.Invoke(t.Context(), event("hang"))
	expectError(t, err, "function test: killed, since it timed out after 200ms")
	if n := r.KillAll(); n != 0 {
		t.Errorf("%d processes run after the timeout", n)
	}
}

func TestInvokeEndsWithItsContext(t *testing.T) {
	output := make(prints)
	r := start(t, testFunction("function", output))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-output
		cancel(errors.New("enough"))
	}()
	_, err := r.Invoke(ctx, event("hang"))
	expectError(t, err, "function test: enough")
	if got := invoke(t, r, "echo next"); got != `"next"` {
		t.Errorf("response %s", got)
	}
}

func TestFunctionLearnsItsDeadline(t *testing.T) {
	r := start(t, testFunction("function", io.Discard))
	before := time.Now().Truncate(time.Millisecond)
	var deadline time.Time
	if err := json.Unmarshal([]byte(invoke(t, r, "deadline")), &deadline); err != nil {
		t.Fatal(err)
	}
	if early, late := before.Add(time.Minute), time.Now().Add(time.Minute); deadline.Before(early) || deadline.After(late) {
		t.Errorf("deadline %v is not between %v and %v", deadline, early, late)
	}
}

func TestKillInTheMiddle(t *testing.T) {
	output := make(prints)
	r := start(t, testFunction("function", output))
	go func() {
		<-output
		if n := r.KillAll(); n != 1 {
			t.Errorf("killed %d processes, want 1", n)
		}
	}()
	_, err := r.Invoke(t.Context(), event("hang"))
	expectError(t, err, "function test: the process died in the middle of an invocation: signal: killed")
	if n := r.KillAll(); n != 0 {
		t.Errorf("%d dead processes run", n)
	}
}

func TestKilledWhileIdleIsReplaced(t *testing.T) {
	r := start(t, testFunction("function", io.Discard))
	first := invoke(t, r, "pid")
	if n := r.KillAll(); n != 1 {
		t.Errorf("killed %d processes, want 1", n)
	}
	if second := invoke(t, r, "pid"); second == first {
		t.Errorf("process %s lives", first)
	}
}

func TestInvocationsRunAtOnce(t *testing.T) {
	output := make(prints)
	f := testFunction("function", output)
	f.Concurrency = 2
	r := start(t, f)
	ended := make(chan error)
	for range 3 {
		go func() {
			_, err := r.Invoke(t.Context(), event("hang"))
			ended <- err
		}()
	}
	<-output
	<-output
	if n := r.KillAll(); n != 2 {
		t.Errorf("%d processes ran, want 2", n)
	}
	expectError(t, <-ended, "signal: killed")
	expectError(t, <-ended, "signal: killed")
	<-output // the third process has begun to work
	r.KillAll()
	expectError(t, <-ended, "signal: killed")
}

func TestHandlePassesPartialFailures(t *testing.T) {
	r := start(t, testFunction("batch", io.Discard))
	response, err := r.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "1", Body: "good"}, {MessageId: "2", Body: "bad"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{{ItemIdentifier: "2"}}}
	if diff := cmp.Diff(want, response); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

func TestHandleRefusesAnotherShape(t *testing.T) {
	r := start(t, testFunction("function", io.Discard))
	_, err := r.Handle(t.Context(), events.SQSEvent{})
	expectError(t, err, "function test: ")
}

func TestOutputComesInWholeLines(t *testing.T) {
	output := make(prints, 9)
	r := start(t, testFunction("function", output))
	invoke(t, r, "print a\nb\nno ")
	invoke(t, r, "print end\nlast")
	r.KillAll()
	close(output)
	var got []string
	for s := range output {
		got = append(got, s)
	}
	if text := strings.Join(got, ""); text != "a\nb\nno end\nlast\n" {
		t.Errorf("output %q", text)
	}
	for _, s := range got {
		if !strings.HasSuffix(s, "\n") {
			t.Errorf("%q is no whole line", s)
		}
	}
}

func TestRuntimeAPI(t *testing.T) {
	tests := []struct{ name, path, body, response, err, status string }{
		{"response", "invocation/{id}/response", `"yes"`, `"yes"`, "", "202"},
		{"error", "invocation/{id}/error", `{"errorMessage":"no","errorType":"x"}`, "", "function test: no", "202"},
		{"error without message", "invocation/{id}/error", `{"errorType":"Runtime.X"}`, "", "it failed without a message: Runtime.X", "202"},
		{"error that is no JSON", "invocation/{id}/error", `no`, "", "it failed, and its reason cannot be read: invalid character", "202"},
		{"initialisation", "init/error", `{"errorMessage":"no bucket"}`, "",
			"function test: the process died before it asked for an event: exit status 5: no bucket", "202"},
		{"another invocation", "invocation/{id}0/response", `"yes"`, "", "the process died in the middle of an invocation: exit status 5", "400"},
		{"another process", "../../../p0/2018-06-01/runtime/invocation/{id}/response", `"yes"`, "", "exit status 5", "404"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			output := make(prints, 1)
			f := testFunction("raw", output)
			f.Env = append(f.Env, "PATH_AFTER="+tt.path, "BODY="+tt.body)
			response, err := start(t, f).Invoke(t.Context(), event("x"))
			if tt.err != "" {
				expectError(t, err, tt.err)
			} else if err != nil {
				t.Error(err)
			}
			if string(response) != tt.response {
				t.Errorf("response %s, want %s", response, tt.response)
			}
			if status := strings.TrimSpace(<-output); status != tt.status {
				t.Errorf("status %s, want %s", status, tt.status)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	r, err := lambda.Start(t.Context(), testFunction("function", io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Invoke(t.Context(), event("pid")); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	_, err = r.Invoke(t.Context(), event("pid"))
	expectError(t, err, "function test: the runtime is closed")
}

func TestStartNeedsABinary(t *testing.T) {
	f := testFunction("function", io.Discard)
	f.Path = filepath.Join(t.TempDir(), "none")
	_, err := lambda.Start(t.Context(), f)
	expectError(t, err, fmt.Sprintf("cannot run function test: exec: %q", f.Path))
}
