package partition_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// pagesOfPackage is the number of pages of 25 KB in a package of the usual 32 MiB.
const pagesOfPackage = 1300

// BenchmarkCommit measures how many pages a second one partition can commit, if a request that reads takes 20 ms, and one
// that writes 20 or 100 ms. Each package is committed twice, as pack and index do it. Several processes do this at the same
// time: those that lose a race make their commits anew from a newer base. The metric tries/commit counts these, too.
func BenchmarkCommit(b *testing.B) {
	for _, writing := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for _, processes := range []int{1, 4, 12} {
			b.Run(fmt.Sprintf("write=%v/processes=%d", writing, processes), func(b *testing.B) {
				bucket := faultblob.New(memblob.New(), func(c faultblob.Call) faultblob.Fault {
					if c.Op == faultblob.Create || c.Op == faultblob.Replace {
						time.Sleep(writing)
					} else {
						time.Sleep(20 * time.Millisecond)
					}
					return faultblob.None
				})
				var last, tries atomic.Int64 // number of the last package; number of times that a commit was made
				var group errgroup.Group
				b.ResetTimer()
				for range processes {
					group.Go(func() error {
						p, err := partition.Open(b.Context(), bucket, 0, func() time.Time { return noon })
						for n := last.Add(1); err == nil && n <= int64(b.N); n = last.Add(1) {
							err = commitPackage(b.Context(), p, n, &tries)
						}
						return err
					})
				}
				if err := group.Wait(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.N*pagesOfPackage)/b.Elapsed().Seconds(), "pages/s")
				b.ReportMetric(float64(tries.Load())/float64(2*b.N), "tries/commit")
			})
		}
	}
}

// commitPackage lists the n-th package with a book, and then the package's segment.
func commitPackage(ctx context.Context, p *partition.Partition, n int64, tries *atomic.Int64) error {
	url := fmt.Sprint("http://a.example/", n)
	builder := segment.NewBuilder(nil)
	err := builder.Add(&segment.Document{ID: layout.IdentityOf(url), URL: url, Site: "a.example", Package: "p"}, func(func(segment.Token) bool) {})
	if err != nil {
		return err
	}
	content, err := builder.Finish()
	if err != nil {
		return err
	}
	stored, err := p.PutPackage(ctx, layout.PackageName{Base: 2, Created: noon.Add(time.Duration(n) * time.Second)}, []byte(url), pagesOfPackage)
	if err != nil {
		return err
	}
	learnt, err := p.PutBook(ctx, []byte(url), pagesOfPackage, 10*pagesOfPackage)
	if err != nil {
		return err
	}
	err = p.Commit(ctx, func(e *partition.Edit) error {
		tries.Add(1)
		e.Learn(url)
		if err := e.Consume("", layout.Version{Epoch: 1, Token: uint64(n)}); err != nil {
			return err
		}
		if err := e.AddPackage(stored); err != nil {
			return err
		}
		return e.AddBook(learnt)
	})
	if err != nil {
		return err
	}
	id := p.Manifest().Package(stored.Key).ID
	built, err := p.PutSegment(ctx, content)
	if err != nil {
		return err
	}
	return p.Commit(ctx, func(e *partition.Edit) error {
		tries.Add(1)
		e.SetIndexed(id, true)
		return e.AddSegment(built, manifest.Part{Package: id, Documents: 1})
	})
}
