package webobject

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
)

// DefaultLevel is the level of compression of packages. A documentation page of 33 KB becomes 5.5
// times smaller by it. The next higher level takes 1.2 times as long, for results that differ by at
// most 2 % in size. Lower levels save little time, and their results are up to 13 % larger.
const DefaultLevel = 5

// Run is a compressed Web object: whole blocks of a deflate stream that refer to nothing before
// them. A sync flush makes them end at the end of a byte (RFC 1951, 3.2.4). Runs can be joined in
// any order into one stream.
type Run struct {
	URL        string
	Compressed []byte
	Size       int64  // size of the Web object before compression
	CRC        uint32 // CRC-32 (IEEE) of the Web object before compression
}

// Object decompresses and decodes the Web object. It fails if the object does not have the Size,
// CRC and URL of the run, or if the object's Hash is not that of its Data. It allocates little more
// than Size bytes. Errors wrap ErrDamaged.
func (r Run) Object() (Object, error) {
	o, raw, err := newInflater().object(r.Compressed, r.URL, r.Size)
	if crc := crc32.ChecksumIEEE(raw); err == nil && crc != r.CRC {
		err = fmt.Errorf("CRC-32 is %08x, want %08x", crc, r.CRC)
	}
	if err != nil {
		return Object{}, fmt.Errorf("cannot read run of %.200q: %w: %w", r.URL, ErrDamaged, err)
	}
	return o, nil
}

// Compressor compresses each Web object by itself, into a Run. It is not safe for concurrent use.
// It should be reused, because making one takes much memory.
type Compressor struct {
	deflate *flate.Writer
	head    []byte
	out     bytes.Buffer
	err     error
}

// NewCompressor returns a compressor. The level is from 1 (fastest) to 9
// (smallest result); with any other level Compress fails.
func NewCompressor(level int) *Compressor {
	c := new(Compressor)
	if level < flate.BestSpeed || level > flate.BestCompression {
		c.err = fmt.Errorf("compression level %d is not between %d and %d", level, flate.BestSpeed, flate.BestCompression)
		return c
	}
	c.deflate, c.err = flate.NewWriter(&c.out, level)
	return c
}

// Compress encodes the object in version 3, or in version 4 if it has a conversion, and
// compresses it. The result depends on the object and the level alone, and shares no memory
// with the compressor. If Hash is zero, Compress computes it; otherwise it must be the hash
// of Data. In strings that a server sent, bytes that are not UTF-8 become U+FFFD.
//
// It fails if the URL is not one line of UTF-8, or if something is longer than the
// format allows: 65,535 bytes each for the MIME type, the URL and the added fields;
// MaxConversion for the conversion; MaxSize in all.
func (c *Compressor) Compress(o Object) (run Run, err error) {
	if c.head, err = o.appendHead(c.head[:0]); err == nil {
		run, err = c.compress(o.URL, c.head, o.Data, o.tail())
	}
	if err != nil {
		return Run{}, fmt.Errorf("cannot compress %.200q: %w", o.URL, err)
	}
	return run, nil
}

// compress compresses a Web object, whose bytes are given in pieces, into a Run. The parameter url
// is the object's URL; it is not compressed, but becomes the URL of the Run.
func (c *Compressor) compress(url string, pieces ...[]byte) (Run, error) {
	if c.err != nil {
		return Run{}, c.err
	}
	c.out.Reset()
	c.deflate.Reset(&c.out)
	run := Run{URL: url}
	for _, piece := range pieces {
		if _, err := c.deflate.Write(piece); err != nil {
			return Run{}, err
		}
		run.Size += int64(len(piece))
		run.CRC = crc32.Update(run.CRC, crc32.IEEETable, piece)
	}
	if err := c.deflate.Flush(); err != nil {
		return Run{}, err
	}
	run.Compressed = bytes.Clone(c.out.Bytes())
	return run, nil
}

const (
	syncFlush  = "\x00\x00\xFF\xFF" // the last bytes of every Run
	finalBlock = "\x03\x00"         // an empty block that ends a deflate stream
)

// runInflater decompresses runs (see Run), one at a time.
type runInflater struct {
	stream []byte // compressed bytes to be read: the run and a final block
	source bytes.Reader
	flate  io.ReadCloser
	out    []byte // content of the last run; if reuse is true, the next run overwrites it
	reuse  bool
}

func newInflater() *runInflater {
	d := new(runInflater)
	d.flate = flate.NewReader(&d.source)
	return d
}

// inflate returns the decompressed content of a Run. It fails if the content has more than limit
// bytes, or if the run is not a sequence of whole deflate blocks that ends with a sync flush. It
// allocates memory as the content grows: a high limit alone costs no memory. If d.reuse is set, the
// next call overwrites the content.
func (d *runInflater) inflate(run []byte, limit int64) ([]byte, error) {
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

// object decompresses and decodes the Web object of a Run. The parameter run holds the compressed
// bytes; url is the object's URL; size is the number of its bytes before compression. object
// fails if url or size is not right, or if the object's Hash is not that of its Data. The result
// raw holds the decompressed bytes; the object shares memory with them.
func (d *runInflater) object(run []byte, url string, size int64) (o Object, raw []byte, err error) {
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

// inflateExactly returns the decompressed content of a run (see inflate). It fails if the content
// does not have exactly size bytes.
func (d *runInflater) inflateExactly(run []byte, size int64) ([]byte, error) {
	if size < 0 || size > MaxSize {
		return nil, fmt.Errorf("the run claims %d bytes, at most %d are read", size, MaxSize)
	}
	out, err := d.inflate(run, size)
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("the run inflates to %d bytes, want %d", len(out), size)
	}
	return out, err
}
