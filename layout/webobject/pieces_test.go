package webobject

import (
	"bytes"
	"testing"
)

// pieces are the parts of a package, from which tests make packages with wrong content in a
// sound zip.
type pieces struct {
	header      Package
	webop       member
	stream      []byte // deflate stream of the .webop
	desc, table []byte
	pages       []Listed
}

func piecesOf(t testing.TB, p Package) pieces {
	t.Helper()
	spf, _ := build(t, p)
	reads, err := openTail(spf)
	if err != nil {
		t.Fatal(err)
	}
	desc, rest, err := reads.cut(spf[reads.offset(1):], 1)
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := reads.cut(rest, 2)
	if err != nil {
		t.Fatal(err)
	}
	return pieces{
		header: p, webop: reads.members[0], stream: bytes.Clone(spf[webopStart:reads.offset(1)]),
		desc: bytes.Clone(desc), table: bytes.Clone(table), pages: reads.pages,
	}
}

// relist makes p.desc and p.table anew from p.pages. These are the description and the map
// of the package, both of which list its pages.
func (p *pieces) relist() {
	p.desc, p.table = p.header.appendDesc(nil), []byte(mapMagic)
	p.webop.size = int64(len(webopMagic))
	for _, listed := range p.pages {
		p.desc = descLine{Offset: p.webop.size, Size: listed.Size, URL: listed.URL}.append(p.desc)
		p.table = listed.Place.appendLine(p.table)
		p.webop.size += listed.Size
	}
}

func (p pieces) assemble(t testing.TB) []byte {
	t.Helper()
	p.webop.length = int64(len(p.stream))
	spf, err := assemble(p.header, p.webop, [][]byte{p.stream}, p.desc, p.table)
	if err != nil {
		t.Fatal(err)
	}
	return spf
}
