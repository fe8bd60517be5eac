// Command fetch is the fetch function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/bucketsearch/bucketsearch/functions/environment"
	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func main() {
	e, err := environment.Read(context.Background(), os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &fetch.Function{
		Bucket: e.Bucket, Transport: fetch.Transport(fetch.Options{AllowPrivate: e.AllowPrivate}), Now: time.Now,
		Sleep: blob.Sleep, Agent: e.Agent, Worker: e.Worker, Limits: fetch.DefaultLimits(), Log: e.Log,
	}
	lambda.Start(f.Handle)
}
