// Command schedule is the schedule function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/bucketsearch/bucketsearch/functions/environment"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
)

func main() {
	e, err := environment.Read(context.Background(), os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &schedule.Function{
		Settings: e.Settings, Redis: e.Redis, Sender: e.Sender, Now: time.Now,
		Limits: schedule.DefaultLimits(), Agent: e.Agent, Log: e.Log,
	}
	lambda.Start(f.Handle)
}
