package verify

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// segments checks that every package is indexed exactly once: each of its
// pages of text in one document, and every document made of such a page.
func (v *Verifier) segments(ctx context.Context, m *manifest.Manifest, pages map[place]*page) error {
	covered := make(map[uint32]int)
	for _, listed := range m.Segments {
		v.report.Segments++
		for _, id := range listed.Packages {
			covered[id]++
		}
		content, err := v.Bucket.Get(ctx, listed.Key, blob.Range{})
		if ctx.Err() != nil {
			return err
		}
		if err == nil {
			err = v.documents(listed, content, pages)
		}
		if err != nil {
			v.problem("segment %s cannot be read: %v", listed.Key, err)
		}
	}
	unindexed := make(map[string]int)
	for at, p := range pages {
		if p.text && p.indexed == 0 {
			unindexed[at.pkg]++
		}
	}
	for _, listed := range m.Packages {
		switch {
		case !listed.Indexed:
			v.problem("package %s is not indexed", listed.Key)
		case covered[listed.ID] > 1:
			v.problem("package %s is indexed %d times", listed.Key, covered[listed.ID])
		case unindexed[listed.Key] > 0:
			v.problem("package %s is indexed without %d of its pages", listed.Key, unindexed[listed.Key])
		}
	}
	return nil
}

// documents counts for every page the documents of one segment.
func (v *Verifier) documents(listed manifest.Segment, content []byte, pages map[place]*page) error {
	opened, err := segment.Open(content)
	if err != nil {
		return err
	}
	if opened.Documents() != listed.Documents {
		v.problem("segment %s holds %d documents, and the manifest says %d", listed.Key, opened.Documents(), listed.Documents)
	}
	for i := range opened.Documents() {
		d, err := opened.Document(i)
		if err != nil {
			return err
		}
		p := pages[place{d.Package, d.Offset}]
		if p == nil || p.url != d.URL || p.version != d.Version {
			v.problem("segment %s: %s is said to stand in %s at %d, and is not there", listed.Key, d.URL, d.Package, d.Offset)
			continue
		}
		if p.indexed++; p.indexed == 2 {
			v.problem("%s in %s at %d is indexed twice", p.url, d.Package, d.Offset)
		}
	}
	return nil
}
