package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// crawling holds the flags that the commands up and crawl share.
type crawling struct {
	collections     []string // paths of collection files
	scope           string
	depth           int
	pages           int64
	delay           time.Duration
	hostConnections int
	allowPrivate    bool
	partitions      int
	functions       string
	isolated        bool
	chaos           uint64
}

func (c *crawling) flags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringArrayVar(&c.collections, "collection", nil, "crawl what this `file` says, a collection in TOML; may be repeated")
	flags.StringVar(&c.scope, "scope", string(collection.Host), "`which` links to follow: prefix (below the seed's directory), host,\n"+
		"site (all hosts of its domain) or any")
	depthVar(flags, &c.depth, "depth", "follow at most `n` links from a seed")
	wholeVar(flags, &c.pages, "pages", "", 0, 0, math.MaxInt64, "stop when `n` more pages are stored; 0: no limit")
	durationVar(flags, &c.delay, "delay", time.Second, collection.MaxDelay, "`pause` after each answer of a host, such as 500ms; its robots.txt\nmay ask for a longer one")
	wholeVar(flags, &c.hostConnections, "host-connections", "", 1, 1, collection.MaxHostConnections, "at most `n` batches at a time on one host")
	flags.BoolVar(&c.allowPrivate, "allow-private", false, "crawl addresses that are not public, too, such as 127.0.0.1")
	wholeVar(flags, &c.partitions, "partitions", "", 1, 1, rules.MaxPartitions, "divide a new bucket into `n` partitions")
	flags.BoolVar(&c.isolated, "isolated", false, "run every function as its Lambda binary, a process of its own")
	flags.StringVar(&c.functions, "functions", "", "the `dir` of these binaries, else functions beside this program")
	wholeVar(flags, &c.chaos, "chaos", "", 0, 0, math.MaxInt64, "for tests: deliver messages doubled, late and out of order,\nas this `seed` decides; 0: not")
}

// plan returns the plan of a crawl, made from the flags of the command and from its arguments,
// which are seeds.
func (c *crawling) plan(flags *pflag.FlagSet, args []string) (system.Plan, error) {
	if c.functions != "" && !c.isolated {
		return system.Plan{}, errors.New("--functions has no meaning without --isolated")
	}
	collections, err := readCollections(flags, c.collections, len(args) > 0)
	if err != nil {
		return system.Plan{}, err
	}
	scope, err := collection.ParseScope(c.scope)
	if err != nil {
		return system.Plan{}, err
	}
	plan := system.Plan{Collections: collections, Delay: c.delay, HostConnections: c.hostConnections, MaxPages: c.pages}
	for _, arg := range args {
		seed, err := collection.ParseSeed(arg)
		if err != nil {
			return system.Plan{}, err
		}
		plan.Seeds = append(plan.Seeds, collection.Seed{URL: seed.URL, Scope: scope, Depth: c.depth})
	}
	return plan, nil
}

// chaosOf returns a queue.Chaos, by which queues deliver some messages twice or late. Its random
// choices follow from the seed. If the seed is 0, chaosOf returns nil: nothing is disturbed.
func chaosOf(seed uint64) *queue.Chaos {
	if seed == 0 {
		return nil
	}
	return &queue.Chaos{Rand: rand.New(rand.NewPCG(seed, 0)), Double: 0.3, Delay: 500 * time.Millisecond}
}

// saidByFile holds the names of the flags whose values a collection file sets. A command
// refuses these flags together with --collection.
var saidByFile = []string{"scope", "depth", "pages", "delay", "host-connections"}

// readCollections reads collection files. It fails if two files name the same collection. It fails
// if a flag of the command line sets what collection files set (see saidByFile). Seeds of the
// command line belong to system.DefaultCollection; if there are any, it also fails if a file names
// this collection.
func readCollections(flags *pflag.FlagSet, files []string, seeds bool) ([]collection.Collection, error) {
	if len(files) == 0 {
		return nil, nil
	}
	for _, flag := range saidByFile {
		if flags.Changed(flag) {
			return nil, fmt.Errorf("--%s does not go with --collection, whose file says it (%s); change %s, or crawl seeds of your own by another command",
				flag, strings.ReplaceAll(flag, "-", "_"), files[0])
		}
	}
	named := make(map[string]string) // files by the names of their collections
	if seeds {
		named[system.DefaultCollection] = "the seeds of the command line"
	}
	var all []collection.Collection
	for _, file := range files {
		c, err := collection.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if other, taken := named[c.Name]; taken {
			return nil, fmt.Errorf("%s and %s are one collection, %q; give one of them another name", other, file, c.Name)
		}
		named[c.Name] = file
		all = append(all, c)
	}
	return all, nil
}
