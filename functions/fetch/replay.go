package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// Replay returns the spool object of a batch as Run would put it, but takes the answers from an
// archive instead of requesting the targets. captures[i] is the answer for target i. The outcomes
// are in the order of the targets, too, and have the times of the captures. When the pages reach Limits.Batch
// bytes, the targets that remain are recorded as not asked.
//
// A page can become an alias only of an address that is also in the batch, because Replay requests
// nothing. A page whose canonical address is neither its own nor in the batch is stored without
// validators (ETag, Last-Modified), so that the next crawl fetches it whole and decides then.
func (f *Function) Replay(ctx context.Context, b batch.Batch, captures []warc.Capture) (spool.Spool, error) {
	if len(captures) != len(b.Targets) {
		return spool.Spool{}, fmt.Errorf("batch %s: %d answers to %d targets", b.Version, len(captures), len(b.Targets))
	}
	began := f.Now()
	r, err := f.newRun(ctx, b)
	if err != nil {
		return spool.Spool{}, err
	}
	r.replayed = true
	defer r.release()
	d := newDigester(r.ledger.Outcomes, f)
	defer d.wait()
	for i, c := range captures {
		if r.received >= f.Limits.Batch || ctx.Err() != nil {
			break
		}
		p := r.pageOf(i)
		p.cut = c.Cut
		r.take(p, f.replayed(c, p.wantsAssets()), d)
		r.prove(ctx, d, false)
	}
	d.wait()
	r.prove(ctx, d, true)
	object := r.finish(ctx, d, began)
	return object, context.Cause(ctx)
}

// Assets returns the addresses of the assets that a captured page or style sheet refers to. The
// parameter at is the address of the page or style sheet.
func (f *Function) Assets(c warc.Capture, at address.Address) (all []address.Address) {
	links, _ := document.Assets(f.replayed(c, true).body, c.Header.Get("Content-Type"), at)
	for _, l := range links {
		all = append(all, l.Address)
	}
	return all
}

// replayed returns a capture (an answer from an archive) as an answer, with its body decoded in the
// same way as Function.ask decodes it. If the archive has only the beginning of the body, the
// answer has only this beginning. If the parameter assets is false and the capture is an asset, the
// body is left out, because it would not be stored.
func (f *Function) replayed(c warc.Capture, assets bool) answer {
	a := answer{status: c.Status, header: c.Header, address: c.Address, began: c.Time, ended: c.Time}
	if c.Status/100 != 2 || !(request{assets: assets}).wants(c.Header.Get("Content-Type")) {
		return a
	}
	now := f.Now()
	w := &wire{from: bytes.NewReader(c.Body), limit: f.Limits.Page, grace: f.Limits.Grace, now: f.Now, began: now}
	a.body, a.err = f.read(c.Header.Get("Content-Encoding"), w, f.Limits.Page)
	switch {
	case c.Cut != "" && errors.Is(a.err, io.ErrUnexpectedEOF):
		a.err = nil // the decoded bytes are the beginning of the body
	case a.err != nil:
		a.body = nil
	}
	a.sent = w.sent
	return a
}
