// Command index is the index function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

func main() {
	e, err := environment.Read(context.Background(), task.Index, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &index.Function{
		Bucket: e.Bucket, Settings: e.Settings, Redis: e.Redis, Sender: e.Sender, Now: time.Now, Worker: e.Worker, Agent: e.Agent,
		Tiers: segments.DefaultLimits(), Ranges: index.NewRanges(e.Bucket), Log: e.Log,
	}
	e.Start(f.Handle)
}
