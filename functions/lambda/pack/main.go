// Command pack is the pack function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/pack"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

func main() {
	e, err := environment.Read(context.Background(), task.Pack, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &pack.Function{
		Bucket: e.Bucket, Settings: e.Settings, Redis: e.Redis, Sender: e.Sender, Now: time.Now,
		Limits: pack.DefaultLimits(), Worker: e.Worker, Agent: e.Agent, Log: e.Log,
	}
	e.Start(f.Handle)
}
