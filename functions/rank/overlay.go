package rank

import (
	"context"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// overlay is an overlay with texts (a segment of anchors or of unvisited URLs) while it is made. Its documents are
// added in parts. Each part is indexed alone and put into a file without a name, so that only one of them
// needs to be in memory; finish merges the parts.
type overlay struct {
	dir   string   // directory for the files; "" for the system's directory of temporary files
	parts [][]byte // each part, as a segment
	frees []func() // functions that free the files
}

// add adds the next documents.
func (o *overlay) add(pages []*segments.Page) error {
	content, err := segments.Build(pages)
	if err != nil {
		return err
	}
	file, err := scratch.Create(o.dir)
	if err != nil {
		return err
	}
	o.frees = append(o.frees, func() { _ = file.Close() }) // its bytes are not needed any more
	if _, err := file.Write(content); err != nil {
		return err
	}
	if content, err = file.Map(0); err != nil {
		return err
	}
	o.parts = append(o.parts, content)
	return nil
}

// finish returns the bytes of the overlay, which can be used until close is called.
func (o *overlay) finish(ctx context.Context) ([]byte, error) {
	if len(o.parts) == 1 {
		return o.parts[0], nil
	}
	var inputs []segment.Input
	for _, part := range o.parts {
		opened, err := segment.OpenBytes(part)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, segment.Input{Segment: opened})
	}
	content, free, err := segment.Merge(ctx, inputs, segment.MaxBytes, o.dir)
	o.close()
	if err == nil {
		o.frees = append(o.frees, free)
	}
	return content, err
}

// close frees all files.
func (o *overlay) close() {
	for _, free := range o.frees {
		free()
	}
	o.frees, o.parts = nil, nil
}
