package webobject

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
)

const (
	syncFlush  = "\x00\x00\xFF\xFF" // the last bytes of every run
	finalBlock = "\x03\x00"         // ends a deflate stream, itself empty
)

// inflater undoes runs, one at a time.
type inflater struct {
	stream []byte // the run and a final block
	source bytes.Reader
	flate  io.ReadCloser
	out    []byte // what the last run held, if its memory is used again
	reuse  bool
}

func newInflater() *inflater {
	d := new(inflater)
	d.flate = flate.NewReader(&d.source)
	return d
}

// inflate returns what a run holds, in memory of its own unless that is used
// again. The memory grows with what is really there, whatever the limit; more
// than limit bytes, or a run that is not whole blocks ended by a sync flush, are
// an error.
func (d *inflater) inflate(run []byte, limit int64) ([]byte, error) {
	if !bytes.HasSuffix(run, []byte(syncFlush)) {
		return nil, errors.New("the run does not end with a sync flush")
	}
	d.stream = append(append(d.stream[:0], run...), finalBlock...)
	d.source.Reset(d.stream)
	if err := d.flate.(flate.Resetter).Reset(&d.source, nil); err != nil {
		return nil, err
	}
	out := slices.Grow(d.out[:0], int(min(limit+1, 8*int64(len(run)))))
	for {
		if len(out) == cap(out) {
			out = slices.Grow(out, int(min(int64(len(out)), limit+1-int64(len(out)))))
		}
		n, err := d.flate.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if int64(len(out)) > limit {
			return nil, fmt.Errorf("the run inflates to more than %d bytes", limit)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the run is damaged before byte %d of %d: %w", len(d.stream)-d.source.Len(), len(run), err)
		}
	}
	if left := d.source.Len(); left > 0 {
		return nil, fmt.Errorf("the run ends the stream at byte %d of %d", len(d.stream)-left, len(run))
	}
	if d.reuse {
		d.out = out
	}
	return out, nil
}

// object inflates and decodes the Web object with the URL and the size, and
// compares its data with its hash. It also returns the object's bytes, of which
// the data is a part.
func (d *inflater) object(run []byte, url string, size int64) (o Object, raw []byte, err error) {
	if raw, err = d.inflateExactly(run, size); err != nil {
		return Object{}, nil, err
	}
	if o, err = decodeWhole(raw); err != nil {
		return Object{}, nil, err
	}
	if o.URL != url {
		return Object{}, nil, fmt.Errorf("web object: URL is %.200q", o.URL)
	}
	return o, raw, nil
}

// inflateExactly is inflate for a run that is known to hold size bytes.
func (d *inflater) inflateExactly(run []byte, size int64) ([]byte, error) {
	if size < 0 || size > MaxSize {
		return nil, fmt.Errorf("the run claims %d bytes, at most %d are read", size, MaxSize)
	}
	out, err := d.inflate(run, size)
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("the run inflates to %d bytes, want %d", len(out), size)
	}
	return out, err
}
