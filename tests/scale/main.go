// Command scale shows how the costs of the search engine grow with the number of its pages:
//
//	go run ./tests/scale                                  webs of 10,000 and of 100,000 pages: two and a half minutes of CPU
//	go run ./tests/scale -pages 10000,100000,1000000      half an hour of CPU, and 20 GB of disk
//	go run ./tests/scale -picture growth.svg              draws the growth, too
//
// It crawls an invented web of each size (see web), with the functions that run in the cloud, from the seed to an
// index with ranks, into an empty bucket. Then it measures what is done with a whole bucket:
//
//	idle sweep     a sweep that finds nothing to do
//	status         what the command status reads
//	cold query     the first query of a process
//	warm query     a query that the same process has answered before
//	forget         all that the takedown of one page leads to
//	rebuild        making the frontier anew from the bucket
//	verify         the proof that nothing is lost, nothing is twice, and nothing is left of the forgotten page
//
// With -queries it makes only an index of each web, without a crawl, and measures queries:
//
//	go run ./tests/scale -queries DIR -pages 100000,1000000    a quarter of an hour of CPU, and 7 GB of disk in DIR; then
//	                                                           minutes, as DIR keeps the indexes
//
// Each kind of queries is asked in an engine that has answered the same queries before (warm), and in new ones on a
// store in which each read takes 60 ms (cold). The option -memory sets the size of the engine's caches: if warm
// queries make GETs, it is too small. A second table has the times of warm queries in an index of a hundred times as
// many pages, in a hundred leaves: a simulation with the measured times of one leaf and of its root.
//
// The output is a table of Markdown. Costs are those of a page for what is done for each page, and otherwise those
// of a call. Behind each cost stands its growth: the exponent e by which the cost is about proportional to (number
// of pages)^e. It is 0 if the cost does not grow, and 1 if ten times the pages cost ten times as much.
//
// Memory is the most that live objects take during a call, besides those before it. It is 0 if no garbage was
// collected during any call. Redis runs in a process of its own if redis-server is installed. Otherwise its time
// and memory count as those of the functions that call it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
)

func main() {
	sizes := flag.String("pages", "10000,100000", "`numbers` of pages of the webs that are crawled, the smallest first")
	picture := flag.String("picture", "", "`file` for a picture (SVG) of the growth")
	queries := flag.String("queries", "", "`directory` in which indexes of webs are kept: only queries are measured")
	memory := flag.Int64("memory", engine.DefaultMemory>>20, "size of the caches of queries, in `MiB`")
	dir := flag.String("dir", "", "`directory` for temporary files, instead of the system's")
	flag.Parse()
	logging.Disable() // go-redis prints errors that it also returns
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *sizes, *picture, *dir, *queries, *memory<<20); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// maxPages is the greatest number of pages of a web: enough for any disk.
const maxPages = 100_000_000

func run(ctx context.Context, sizes, picture, dir, queries string, memory int64) error {
	pages, err := parseSizes(sizes)
	if err != nil {
		return err
	}
	if queries != "" {
		q := standard
		q.memory = memory
		table, err := measureQueries(ctx, pages, queries, q)
		fmt.Print(table)
		return err
	}
	var g growth
	for _, n := range pages {
		costs, err := costsOf(ctx, n, dir)
		if err != nil {
			return fmt.Errorf("with %d pages: %w", n, err)
		}
		g.add(n, costs)
		fmt.Fprintf(os.Stderr, "%d pages: done\n", n)
	}
	fmt.Print(g.table())
	if picture == "" {
		return nil
	}
	return os.WriteFile(picture, g.draw(), 0o644)
}

// parseSizes returns the numbers of pages that the flag -pages names.
func parseSizes(text string) (pages []int, err error) {
	last := 0
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n <= last || n > maxPages {
			return nil, fmt.Errorf("-pages %s: want numbers up to %d, each greater than the one before, such as 10000,100000", text, maxPages)
		}
		pages, last = append(pages, n), n
	}
	return pages, nil
}
