package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awslambda "github.com/aws/aws-lambda-go/lambda"

	"github.com/bucketsearch/bucketsearch/local/lambda"
)

// TestMain runs the tests. But if the environment variable ROLE names a Lambda function, the test
// binary runs as this function: tests start such processes.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLE") {
	case "":
		os.Exit(m.Run())
	case "function":
		awslambda.Start(function)
	case "batch":
		awslambda.Start(batch)
	case "broken":
		os.Exit(3)
	case "raw":
		raw(os.Getenv("PATH_AFTER"), os.Getenv("BODY"))
	}
}

// function is a Lambda function that does what its event says, such as "echo hello".
func function(ctx context.Context, do string) (any, error) {
	verb, object, _ := strings.Cut(do, " ")
	switch verb {
	case "echo":
		return object, nil
	case "pid":
		return os.Getpid(), nil
	case "deadline":
		deadline, _ := ctx.Deadline()
		return deadline, nil
	case "print":
		fmt.Fprint(os.Stderr, object)
		return nil, nil
	case "hang":
		fmt.Fprintln(os.Stderr, "hanging")
		select {}
	case "large":
		return strings.Repeat("x", 7<<20), nil
	case "exit":
		os.Exit(4)
	case "panic":
		panic("oh")
	}
	return nil, errors.New("cannot " + do)
}

// batch is a Lambda function that reports messages with the body "bad" as failed.
func batch(_ context.Context, content events.SQSEvent) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	for _, m := range content.Records {
		if m.Body == "bad" {
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return response, nil
}

// raw talks to Lambda's runtime API itself, without the library of AWS. It waits for an event, and
// then posts the body to a path of the API. In the path, {id} is replaced by the id of the event.
// For the path init/error, by which a process reports that it cannot start, raw does not wait for
// an event. At last it prints the status of the API's answer and ends the process.
func raw(path, body string) {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/"
	id := ""
	if path != "init/error" {
		next, err := http.Get(api + "invocation/next")
		if err != nil {
			panic(err)
		}
		id = next.Header.Get("Lambda-Runtime-Aws-Request-Id")
	}
	answer, err := http.Post(api+strings.ReplaceAll(path, "{id}", id), "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, answer.StatusCode)
	os.Exit(5)
}

func testFunction(role string, output io.Writer) lambda.Function {
	return lambda.Function{
		Name: "test", Path: os.Args[0], Env: []string{"ROLE=" + role},
		Concurrency: 1, Timeout: time.Minute, Output: output,
	}
}

func event(do string) []byte {
	payload, err := json.Marshal(do)
	if err != nil {
		panic(err)
	}
	return payload
}
