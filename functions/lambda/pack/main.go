// Command pack is the pack function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/bucketsearch/bucketsearch/functions/environment"
	"github.com/bucketsearch/bucketsearch/functions/pack"
)

func main() {
	e, err := environment.Read(context.Background(), os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &pack.Function{
		Bucket: e.Bucket, Settings: e.Settings, Redis: e.Redis, Sender: e.Sender, Now: time.Now,
		Limits: pack.DefaultLimits(), Worker: e.Worker, Agent: e.Agent, Log: e.Log,
	}
	lambda.Start(f.Handle)
}
