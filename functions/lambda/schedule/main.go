// Command schedule is the schedule function on AWS Lambda.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

func main() {
	e, err := environment.Read(context.Background(), task.Schedule, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	f := &schedule.Function{
		Settings: e.Settings, Redis: e.Redis, Sender: e.Sender, Now: time.Now,
		Limits: schedule.DefaultLimits(), Agent: e.Agent, Log: e.Log,
	}
	e.Start(f.Handle)
}
