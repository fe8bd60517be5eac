package webobject

import (
	"fmt"
	"time"
)

// The members of a storage package, in their order.
const (
	webopName = "package.webop"
	descName  = "package.webop.desc"
	mapName   = "package.webop.map"
)

const (
	webopMagic = "\xFF\xFFWOP\x01\r\n"
	// magicRun is the magic as a run: one stored block of 8 bytes.
	magicRun = "\x00\x08\x00\xF7\xFF" + webopMagic
	// webopStart is where the .webop's deflate stream begins in the package,
	// firstRun where its first page or hole does.
	webopStart = localSize + int64(len(webopName))
	firstRun   = webopStart + int64(len(magicRun))
)

// Package is a storage package in the making. Its pages are expected to stay
// valid Base^Exponent days.
type Package struct {
	Base, Exponent   int16
	Created, Expires time.Time // milliseconds on disk, cut off
	Runs             []Run
}

// Build returns the package's bytes, which depend on its fields alone, and the
// place of every run. The bytes have been verified; an error names the run
// that cannot be read.
func (p Package) Build() (spf []byte, places []Place, err error) {
	defer func() {
		if err != nil {
			spf, places, err = nil, nil, fmt.Errorf("cannot build package: %w", err)
		}
	}()
	b := newBuilder(p)
	for _, run := range p.Runs {
		places = append(places, b.add(run))
	}
	if spf, err = b.build(); err != nil {
		return nil, nil, err
	}
	if err := Verify(spf); err != nil {
		return nil, nil, p.culprit(err)
	}
	return spf, places, nil
}

// culprit returns the error of the first run that cannot be read, else err.
func (p Package) culprit(err error) error {
	for i, run := range p.Runs {
		if _, errRun := run.Object(); errRun != nil {
			return fmt.Errorf("run %d: %w", i, errRun)
		}
	}
	return err
}
