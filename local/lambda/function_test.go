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

// TestMain makes the test binary also the Lambda functions that the tests run.
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

// function is a Lambda function that does what its event says.
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

// raw calls the runtime API directly. It asks for an event (unless path is that of an init
// error), posts the body to the path, prints the status and ends.
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
