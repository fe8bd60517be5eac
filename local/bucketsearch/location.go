package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// usualData is the default data directory.
const usualData = "bucketsearch-data"

// location holds the flags --data, --s3 and --redis, which say where bucket and Redis are.
type location struct {
	data, s3, redis string
}

func (l *location) flags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&l.data, "data", usualData, "keep bucket, locks and logs in this `dir`")
	flags.StringVar(&l.s3, "s3", "", "keep the bucket elsewhere: `URL` of an S3 server and a bucket, such as\n"+
		"https://s3.eu-central-1.amazonaws.com/my-bucket, with credentials\n"+
		"from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION")
	flags.StringVar(&l.redis, "redis", "", "use a Redis elsewhere, at this `URL`, such as redis://127.0.0.1:6379/0;\n"+
		"of a Redis Cluster: redis://HOST:PORT?addr=HOST:PORT with two of its nodes;\n"+
		"processes with the same bucket and Redis work together. A URL with a\n"+
		"password belongs into the variable BUCKETSEARCH_REDIS, because all users\n"+
		"of a machine can see command lines")
}

// redisURL returns the URL of Redis: that of the flag, or else that of the environment; "" if there is none.
func (l *location) redisURL() string { return cmp.Or(l.redis, os.Getenv("BUCKETSEARCH_REDIS")) }

// storeName is the hidden command that serves the embedded object store.
const storeName = "serve-store"

// options returns the options with which package system opens the bucket and Redis at the location.
func (l *location) options() (system.Options, error) {
	self, err := os.Executable()
	if err != nil {
		return system.Options{}, fmt.Errorf("cannot find this program: %w", err)
	}
	return system.Options{
		Data: l.data, S3: l.s3, Redis: l.redisURL(),
		Self: []string{self, storeName}, Agent: agent, Getenv: os.Getenv,
	}, nil
}

// open opens the system at the location, to crawl and serve. The flags are those of the commands
// up and crawl.
func (l *location) open(ctx context.Context, flags *crawling) (*system.System, error) {
	options, err := l.options()
	if err != nil {
		return nil, err
	}
	options.Partitions, options.AllowPrivate = flags.partitions, flags.allowPrivate
	if flags.isolated {
		if options.Functions, err = functionsDirectory(flags.functions); err != nil {
			return nil, err
		}
	}
	options.Chaos = chaosOf(flags.chaos)
	s, err := system.Open(ctx, options)
	if err == nil {
		slog.SetDefault(s.Log) // used by libraries that log
	}
	return s, err
}

// functionsDirectory returns the path of the directory with the Lambda binaries: the given one
// or, if none is given, the directory "functions" next to this program. It fails if there are no
// binaries.
func functionsDirectory(given string) (string, error) {
	if given == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("cannot find this program: %w", err)
		}
		given = filepath.Join(filepath.Dir(self), "functions")
	}
	if _, err := os.Stat(filepath.Join(given, "fetch")); err != nil {
		return "", fmt.Errorf("no Lambda binaries in %s; build them first (go build -tags lambda.norpc -o %s/ ./functions/lambda/...)", given, given)
	}
	return filepath.Abs(given)
}

// attach opens the bucket at the location for a command that does not crawl.
func (l *location) attach(ctx context.Context) (*system.Attached, error) {
	options, err := l.options()
	if err != nil {
		return nil, err
	}
	return system.Attach(ctx, options)
}

// reading returns a function for the field RunE of a cobra command. The function opens the bucket
// and calls action. It fails if the bucket is empty or its settings cannot be read.
func (l *location) reading(action func(cmd *cobra.Command, args []string, a *system.Attached) error) func(*cobra.Command, []string) error {
	return l.attached(func(cmd *cobra.Command, args []string, a *system.Attached) error {
		if err := a.Check(cmd.Context()); err != nil {
			return err
		}
		return action(cmd, args, a)
	})
}

// attached returns a function for the field RunE of a cobra command. The function opens the bucket
// and calls action, even if the bucket is empty or its settings are damaged.
func (l *location) attached(action func(cmd *cobra.Command, args []string, a *system.Attached) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		defer func() { err = emptyAdvice(err) }()
		attached, err := l.attach(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, attached.Close()) }()
		return action(cmd, args, attached)
	}
}

// emptyAdvice adds what to do to the error that there is no bucket, or that nothing was crawled into
// it. It returns all other errors unchanged.
func emptyAdvice(err error) error {
	if errors.Is(err, system.ErrEmpty) {
		return fmt.Errorf("%w; crawl a site first, or say by --data or --s3 where the bucket is", err)
	}
	return err
}

func storeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    storeName,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s3.Child(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
