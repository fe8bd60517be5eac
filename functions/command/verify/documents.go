package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// apart lists the kinds of objects that manifests never list, each with a function that checks that
// an object's bytes are unchanged. An object written before its kind had a checksum counts as whole
// if it can be read.
var apart = []struct {
	prefix string
	check  func(key string, content []byte) error
}{
	{layout.SettingsHint, func(_ string, content []byte) error { return checkSeal(content) }},
	{layout.Census, func(_ string, content []byte) error { return checkSeal(content) }},
	{layout.Copies, func(_ string, content []byte) error { return checkSeal(content) }}, // read before the versions: a version is written before its copy, so a copy that is found has its version
	{layout.Strategies, checkVersion[rules.Document]},
	{layout.Collections, checkVersion[collection.Collection]},
	{layout.Takedowns, checkVersion[takedown.Document]},
	{layout.Controls, checkControls},
	{layout.Epochs, func(_ string, content []byte) error { return layout.CheckClaim(content) }},
	{layout.Feedback, func(_ string, content []byte) error { return vitals.Check(content) }},
	{layout.DeadLetters, checkDeadLetter},
	{layout.Quarantine, layout.CheckQuarantined},
	{layout.Judgments, judgment.Check},
	{layout.Clicks, judgment.CheckClick},
	{layout.Due, layout.CheckDue},
	{layout.Runs, layout.CheckRun},
}

// isVersion reports whether a key is that of a numbered version of a published document, or of a
// copy of such a version.
func isVersion(key string) bool {
	_, err := layout.ParseNumberedKey(key, path.Dir(key)+"/")
	return err == nil
}

// checkVersion checks a version of a published document of type T: by its checksum or, if it was
// written before there were checksums, by decoding it.
func checkVersion[T numbered.Document](_ string, content []byte) error {
	_, sealed, err := layout.Unseal(content)
	if err == nil && !sealed {
		_, err = numbered.Decode[T](content)
	}
	return err
}

// checkControls checks an object under controls/, which is a version of the controls or of the curation.
func checkControls(key string, content []byte) error {
	if strings.HasPrefix(key, layout.Curations) {
		return checkVersion[curation.Document](key, content)
	}
	return checkVersion[control.Document](key, content)
}

// checkSeal checks an object by its checksum (see layout.Unseal), which it must have. The object is
// a hint, or the copy of one version of a published document. In old buckets, only the
// version itself may have no checksum.
func checkSeal(content []byte) error {
	_, sealed, err := layout.Unseal(content)
	if err == nil && !sealed {
		err = errors.New("it is not sealed")
	}
	return err
}

// checkDeadLetter checks an object under dead-letters/. The object is either a dead letter (a message
// that was given up) or the request of a person to send a dead letter again; its key says which.
func checkDeadLetter(key string, content []byte) error {
	if layout.IsDeadLetter(key) {
		_, err := message.DecodeDeadLetter(content)
		return err
	}
	if len(content) > 0 && !bytes.Equal(content, []byte(layout.Again)) {
		return errors.New("it is no wish to send a message again")
	}
	return nil
}

// readApart reads every object of the kinds that no manifest lists (see the variable apart), and
// reports damaged objects. Each version of a published document (collection, strategy, takedowns,
// controls, curation) has a copy under copies/. So of these documents readApart also reports
//
//	each version that is deleted, although its copy is still there
//	each copy whose content differs from that of its version
func (v *run) readApart(ctx context.Context) error {
	var found apartObjects
	for _, kind := range apart {
		var keys []string
		for object, err := range v.Bucket.List(ctx, kind.prefix, "") {
			if err != nil {
				return fmt.Errorf("cannot list %s: %w", kind.prefix, err)
			}
			if !layout.IsForeign(object.Key) {
				keys = append(keys, object.Key)
			}
		}
		err := each(ctx, keys, func(ctx context.Context, key string) error {
			content, there, err := blob.Find(ctx, v.Bucket, key)
			if there { // else it was deleted since it was listed
				found.add(key, content, kind.check(key, content))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for key, reason := range found.damaged {
		v.problem(Damaged, 0, key, "is damaged%s: %v", found.meaning(key), reason)
	}
	for key, hash := range found.whole {
		version, isCopy := layout.CopiedKey(key)
		switch is, found := found.whole[version], found.has(version); {
		case !isCopy:
		case !found:
			v.problem(Missing, 0, version, "is deleted, and its copy is there; nobody follows it until it is put back")
		case is != "" && is != hash:
			v.problem(Damaged, 0, key, "is the copy of another document: the one that was published as %s first is deleted, and nobody follows it", version)
		}
	}
	return nil
}

// apartObjects is what readApart has found out about objects that no manifest lists, such as
// collections and their copies. The method add is safe for concurrent use.
type apartObjects struct {
	mu      sync.Mutex        // protects the fields below
	damaged map[string]error  // error that says why an object is damaged, by the object's key
	whole   map[string]string // hash of the content of each undamaged version and copy, by its key
	newest  map[string]string // key of the newest undamaged version of each document, by the directory part of that key
}

// has reports whether the version or copy with this key exists, damaged or not.
func (a *apartObjects) has(key string) bool {
	_, isDamaged := a.damaged[key]
	return isDamaged || a.whole[key] != ""
}

// add records an object's content and the result of its check: an error if the object is damaged,
// nil if it is whole.
func (a *apartObjects) add(key string, content []byte, damaged error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.damaged == nil {
		a.damaged, a.whole, a.newest = make(map[string]error), make(map[string]string), make(map[string]string)
	}
	switch document := path.Dir(key); {
	case damaged != nil:
		a.damaged[key] = damaged
	case isVersion(key):
		a.whole[key] = layout.ContentHash(content)
		a.newest[document] = max(a.newest[document], key)
	}
}

// meaning returns a clause for the report, which tells the consequence of damage to the object with
// the given key, such as ", and its copy is read in its place". It returns "" if there is nothing to
// say.
func (a *apartObjects) meaning(key string) string {
	newest := a.newest[path.Dir(key)]
	version, isCopy := layout.CopiedKey(key)
	switch {
	case strings.HasPrefix(key, layout.Epochs), !isVersion(key):
		return ""
	case isCopy && a.whole[version] != "":
		return ", and what it is a copy of is whole"
	case isCopy && a.damaged[version] != nil:
		return ", and so is what it is a copy of"
	case isCopy:
		return ", and what it is a copy of is deleted"
	case a.whole[layout.CopyKey(key)] != "":
		return ", and its copy is read in its place"
	case newest > key:
		return ", and lost to history, on which nothing of today depends"
	case newest == "" && strings.HasPrefix(key, layout.Collections):
		return ", no version before it can be read, and nothing is asked of web sites until the collection is published again (bucketsearch crawl --collection FILE)"
	case newest == "" && strings.HasPrefix(key, layout.Curations):
		return ", no version before it can be read, and searches have no synonyms, pinned and banned results until they are published again (bucketsearch curate FILE)"
	case newest == "":
		return ", no version before it can be read, and nothing is asked of web sites until it is mended"
	case strings.HasPrefix(key, layout.Takedowns):
		return ", what can be read of it and " + newest + " are forgotten, and nothing is asked of web sites until it is mended"
	}
	return ", and " + newest + " is in force in its place"
}

// foreign reports all objects whose keys fit no format of this project. Some other program must
// have written them.
func (v *run) foreign(ctx context.Context) error {
	for object, err := range v.Bucket.List(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("cannot list the bucket: %w", err)
		}
		if layout.IsForeign(object.Key) {
			v.problem(Foreign, 0, object.Key, "is named as nothing here is, and nothing reads it; move it away")
		}
	}
	return nil
}
