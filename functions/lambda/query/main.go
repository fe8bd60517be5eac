// Command query is the query function on AWS Lambda. It runs behind a function URL, and streams its answers.
package main

import (
	"context"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/web"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
)

func main() {
	e, err := environment.Read(context.Background(), "query", os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	answers, err := engine.New(e.Bucket, engine.Options{
		Settings: e.Settings, Now: time.Now, Age: 10 * time.Second, Log: e.Log, Paid: e.Paid, Memory: e.Cache, Leaves: e.Leaves.All,
		Dir: os.TempDir(), Disk: 400 << 20, Name: os.Getenv("BUCKETSEARCH_S3"), // Lambda has 512 MB of disk in /tmp
	})
	if err != nil {
		log.Fatal(err)
	}
	e.Serve(e.Leaves.Route(answers, query.Handler(web.Site{Engine: answers, Judging: web.Judging{Keys: e.Judges, Bucket: e.Bucket}, Clicks: web.Clicks{Key: e.Clicks, Bucket: e.Bucket, Random: rand.IntN}})))
}
