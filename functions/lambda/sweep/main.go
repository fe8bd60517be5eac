// Command sweep is the sweep function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
)

func main() {
	e, err := environment.Read(context.Background(), task.Sweep, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &sweep.Function{
		Bucket: e.Bucket, Redis: e.Redis, Sender: e.Sender, Now: time.Now,
		Worker: e.Worker, Limits: sweep.DefaultLimits(), DeadLetters: e.DeadLetters, Log: e.Log,
	}
	e.Start(f.Handle)
}
