// Command index is the index function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/bucketsearch/bucketsearch/functions/environment"
	"github.com/bucketsearch/bucketsearch/functions/index"
)

func main() {
	e, err := environment.Read(context.Background(), os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &index.Function{
		Bucket: e.Bucket, Redis: e.Redis, Now: time.Now, Worker: e.Worker, Log: e.Log,
	}
	lambda.Start(f.Handle)
}
