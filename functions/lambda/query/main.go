// Command query is the query function on AWS Lambda, behind a function URL
// that streams its responses.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/environment"
	"github.com/bucketsearch/bucketsearch/functions/query"
)

// freshness is how old the manifests of an answer may be.
const freshness = 10 * time.Second

func main() {
	e, err := environment.Read(context.Background(), "query", os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	engine := &query.Engine{Bucket: e.Bucket, Settings: e.Settings, Now: time.Now, Age: freshness, Log: e.Log}
	e.Serve(query.Handler(engine))
}
