// Command rank is the rank function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/rank"
	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

func main() {
	e, err := environment.Read(context.Background(), task.Rank, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &rank.Function{
		Bucket: e.Bucket, Settings: e.Settings, Now: time.Now,
		Limits: rank.DefaultLimits(), Rules: pagerank.DefaultRules(), Log: e.Log,
	}
	e.Start(f.Handle)
}
