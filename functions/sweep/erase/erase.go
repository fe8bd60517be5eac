package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/forget"
)

// cleanBook has a book say nothing of what is forgotten, and returns the key
// of the one that does not.
func (p *partition) cleanBook(ctx context.Context, listed manifest.Book) (key string, err error) {
	opened, err := book.Open(ctx, p.Bucket, listed.Key)
	if err != nil {
		return "", err
	}
	filter := forget.New(p.settings.Takedowns)
	clean, err := isClean(ctx, opened, filter)
	if err != nil || clean {
		return listed.Key, err
	}
	key, err = p.rewrite(ctx, []manifest.Book{listed}, []*book.Reader{opened}, book.Filter{Outcome: filter.Outcome, Link: filter.Link})
	if err == nil {
		p.Log.InfoContext(ctx, "erased from a book", "partition", p.id, "generation", p.manifest.Generation, "book", listed.Key, "now", key)
	}
	return key, err
}

// isClean shows all outcomes of a book to the filter, and reports whether it
// would keep the book as it is.
func isClean(ctx context.Context, b *book.Reader, filter *forget.Filter) (bool, error) {
	clean := true
	for o, err := range b.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return false, err
		}
		if !filter.See(o) {
			clean = false
		}
	}
	if !clean {
		return false, nil
	}
	for l, err := range b.Links(ctx, layout.Range{}) {
		if err != nil {
			return false, err
		}
		if !filter.Link(&l) {
			return false, nil
		}
	}
	return true, nil
}

// dirtyPackages returns the packages that hold forgotten pages, as their
// descriptions tell, and calls the others clean. One that cannot be read is
// among them.
func (p *partition) dirtyPackages(ctx context.Context, packages []manifest.Package, clean *cleanKeys) ([]manifest.Package, error) {
	holds := make([]bool, len(packages))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, listed := range packages {
		if clean.has(listed.Key) {
			continue
		}
		group.Go(func() error {
			pages, err := webobject.List(within, p.Bucket, listed.Key)
			if errors.Is(err, blob.ErrRetryable) || within.Err() != nil {
				return err
			}
			holds[i] = err != nil || slices.ContainsFunc(pages, p.isForgotten)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var dirty []manifest.Package
	for i, listed := range packages {
		if holds[i] {
			dirty = append(dirty, listed)
		} else {
			clean.add(listed.Key)
		}
	}
	return dirty, nil
}

func (p *partition) isForgotten(page webobject.Listed) bool {
	return p.settings.Takedowns.ForgetsURL(page.URL)
}

// cleanPackage erases the forgotten pages of a package, and returns the key of
// the one that holds them no more, "" when nothing is left. All other pages keep
// their places, so that what is indexed of it stays right.
func (p *partition) cleanPackage(ctx context.Context, listed manifest.Package) (key string, err error) {
	content, err := p.Bucket.Get(ctx, listed.Key, blob.Range{})
	if err != nil {
		return "", err
	}
	rewritten, erased, err := webobject.Erase(content, p.isForgotten)
	if err != nil || erased == 0 {
		return listed.Key, err
	}
	if erased == listed.Pages {
		return "", p.commit(ctx, func(m *manifest.Manifest) error { return p.drop(ctx, m, listed) })
	}
	put := p.Now()
	if key, err = p.putPackage(ctx, listed.Key, rewritten); err != nil {
		return "", err
	}
	err = p.commit(ctx, func(m *manifest.Manifest) error {
		i := slices.IndexFunc(m.Packages, func(pkg manifest.Package) bool { return pkg.Key == listed.Key })
		if i < 0 || !m.MayList(key, p.Now().Sub(put)) {
			return manifest.ErrUnchanged
		}
		pkg := &m.Packages[i]
		pkg.Formerly = append(slices.Clone(pkg.Formerly), pkg.Key)
		pkg.Key, pkg.Bytes, pkg.Pages = key, int64(len(rewritten)), pkg.Pages-erased
		m.Condemn(p.Now(), listed.Key)
		return nil
	})
	if err != nil {
		return "", err
	}
	p.Log.InfoContext(ctx, "erased from a package", "partition", p.id, "generation", p.manifest.Generation, "package", listed.Key, "now", key, "pages", erased)
	return key, nil
}

// drop condemns a package of which nothing is left. Its documents are dead from
// then on, wherever they are.
func (p *partition) drop(ctx context.Context, m *manifest.Manifest, pkg manifest.Package) error {
	before := len(m.Packages)
	m.Packages = slices.DeleteFunc(m.Packages, func(listed manifest.Package) bool { return listed.Key == pkg.Key })
	if len(m.Packages) == before {
		return manifest.ErrUnchanged
	}
	m.Condemn(p.Now(), pkg.Key)
	return segments.Drop(ctx, p.Bucket, m, p.Now(), pkg.ID)
}

// putPackage puts a package under the name of an earlier form of it, with the
// next number that is free and not condemned, and that no package ever had.
func (p *partition) putPackage(ctx context.Context, former string, content []byte) (string, error) {
	_, name, err := layout.ParsePackageKey(former)
	if err != nil {
		return "", err
	}
	for {
		name.Collision++
		key := layout.PackageKey(p.id, name)
		if p.manifest.IsCondemned(key) || p.manifest.Package(key) != nil {
			continue
		}
		err := blob.CreateOnce(ctx, p.Bucket, key, content)
		if err == nil {
			return key, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return "", fmt.Errorf("cannot put package %s: %w", key, err)
		}
	}
}
