// Command merge is the merge function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/merge"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

func main() {
	e, err := environment.Read(context.Background(), task.Merge, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &merge.Function{
		Bucket: e.Bucket, Redis: e.Redis, Sender: e.Sender, Now: time.Now, Worker: e.Worker,
		Tiers: segments.DefaultLimits(), Log: e.Log,
	}
	e.Start(f.Handle)
}
