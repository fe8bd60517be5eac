// Command fetch is the fetch function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func main() {
	e, err := environment.Read(context.Background(), task.Fetch, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &fetch.Function{
		Bucket: e.Bucket, Settings: e.Settings, Transport: e.Traffic.Transport(fetch.Transport(e.AllowPrivate)), Now: time.Now,
		Sleep: blob.Sleep, Agent: e.Agent, Worker: e.Worker, Limits: fetch.DefaultLimits(), Log: e.Log,
	}
	e.Start(f.Handle)
}
