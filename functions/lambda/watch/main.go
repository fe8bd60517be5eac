// Command watch is the watch function on AWS Lambda.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/watch"
)

func main() {
	e, err := environment.Read(context.Background(), task.Watch, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &watch.Function{
		System:   watch.System{Bucket: e.Bucket, Now: time.Now},
		Settings: e.Settings, Client: http.DefaultClient, Log: e.Log,
	}
	e.Start(f.Handle)
}
