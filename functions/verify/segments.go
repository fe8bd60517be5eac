package verify

import (
	"context"
	"errors"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// storedSegment is a segment that a generation lists.
type storedSegment struct {
	*manifest.Segment
	partition *partition
}

// readSegments checks that every package is indexed once, and that documents
// are made of pages that are there, each once.
func (v *run) readSegments(ctx context.Context) error {
	var all []storedSegment
	var bytes int64
	for _, p := range v.partitions {
		for i := range p.Segments {
			all = append(all, storedSegment{&p.Segments[i], p})
			bytes += p.Segments[i].Bytes
		}
		v.covered(p)
	}
	v.report.Segments = len(all)
	progress := v.stage(Segments, bytes)
	return each(ctx, all, func(ctx context.Context, s storedSegment) error {
		defer progress.add(s.Bytes)
		content, err := v.Bucket.Get(ctx, s.Key, blob.Range{})
		if errors.Is(err, blob.ErrAbsent) { // told when it was looked for
			v.unsearchable(s)
			return nil
		}
		if err != nil {
			return err
		}
		if err := v.documents(s, content); err != nil {
			v.problem(Damaged, s.partition.Partition, s.Key, "is damaged: %v", err)
			v.unsearchable(s)
		}
		return nil
	})
}

// unsearchable notes that a segment cannot be read: that its packages lack
// documents is no problem of its own.
func (v *run) unsearchable(s storedSegment) {
	for _, in := range v.packages {
		if in.partition == s.partition && slices.Contains(s.Packages, in.ID) {
			in.unsearchable.Store(true)
		}
	}
}

// covered checks which segments say that they index a package. Those of a
// package that waits to be indexed again are replaced then.
func (v *run) covered(p *partition) {
	byID := make(map[uint32]*storedPackage)
	for _, in := range v.packages {
		if in.partition == p {
			byID[in.ID] = in
		}
	}
	by := make(map[uint32]string)
	for _, s := range p.Segments {
		for _, id := range s.Packages {
			in := byID[id]
			switch other, found := by[id]; {
			case in == nil:
				v.problem(Unaccounted, p.Partition, s.Key, "indexes package %d, which is not listed", id)
			case found && in.Indexed:
				v.problem(Double, p.Partition, s.Key, "indexes %s, which %s does too", in.Key, other)
			}
			by[id] = s.Key
		}
	}
}

// documents counts for every page the documents of one segment, and tells the
// first of each thing that is wrong with it.
func (v *run) documents(s storedSegment, content []byte) error {
	opened, err := segment.Open(content)
	if err != nil {
		return err
	}
	own := s.partition
	wrong := make(map[Kind]int)
	tell := func(kind Kind, url, detail string) {
		if wrong[kind]++; wrong[kind] == 1 {
			v.problems.add(Problem{Kind: kind, Partition: own.Partition, Key: s.Key, URL: url, Detail: detail})
		}
	}
	if opened.Documents() != s.Documents {
		v.problem(Damaged, own.Partition, s.Key, "holds %d documents, and the manifest says %d", opened.Documents(), s.Documents)
	}
	forgotten := v.forgotten(own)
	for i := range opened.Documents() {
		d, err := opened.Document(i)
		if err != nil {
			return err
		}
		if forgotten.set != nil && forgotten.set.ForgetsPage(d.ID, d.Site) {
			tell(Behind, d.URL, "is still there, although it is forgotten")
		}
		in := v.byKey[d.Package]
		if in != nil && (in.gone || !in.Indexed) {
			continue
		}
		p := v.pages.at(d.ID, in, d.Offset)
		switch {
		case p == nil || !p.has(markDamaged) && p.version != d.Version:
			tell(Unaccounted, d.URL, "is made of a page that does not stand in "+d.Package)
		case !slices.Contains(s.Packages, in.ID):
			tell(Unaccounted, d.URL, "is made of a page of "+d.Package+", which the segment does not index")
		case p.addDocument() > 1:
			tell(Double, d.URL, "is made of a page that is indexed already")
		}
	}
	return nil
}
