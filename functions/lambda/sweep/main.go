// Command sweep is the sweep function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/bucketsearch/bucketsearch/functions/environment"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
)

func main() {
	e, err := environment.Read(context.Background(), os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &sweep.Function{
		Bucket: e.Bucket, Redis: e.Redis, Sender: e.Sender, Now: time.Now,
		Worker: e.Worker, Keep: sweep.DefaultKeep, Log: e.Log,
	}
	lambda.Start(f.Handle)
}
