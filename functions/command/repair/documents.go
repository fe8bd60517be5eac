package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// mendApart mends a problem of an object of a kind that manifests do not list: published documents,
// claims of epoch numbers, vital signs, dead letters, judgments, clicks, lists of due URLs, quarantined
// bytes. For any other kind of object it returns false. It first copies damaged bytes into quarantine.
//
// Each version of a published document has a copy, another object. A damaged version is restored from
// its copy, and a damaged copy from its version. If a damaged version has no intact copy, a new version
// is published, made from what can be read, and the damaged one is deleted. All else is mended so:
//
//	object                                          mended by
//	hint of the settings                            writing it again from the documents
//	hint of the numbers of URLs                     deleting it; the next sweep counts the URLs again
//	judgment of a forgotten page, or click on it    erasing the judgment or click
//	quarantined bytes that have changed             giving them the key that has their present hash
//	any other damaged object                        deleting it
func (r *Repairer) mendApart(ctx context.Context, problem verify.Problem, report *Report) (apart bool, err error) {
	key := problem.Key
	mend := map[string]func(context.Context, string) (string, error){
		layout.Strategies: r.republishStrategy, layout.Collections: r.republishCollection,
		layout.Takedowns: r.republishTakedowns, layout.Controls: r.republishControls, layout.Epochs: r.claimAbove,
		layout.Feedback: giveUp("the requests that it counted are lost"), layout.DeadLetters: giveUp("the message is lost, and the sweep finds its work"),
		layout.Judgments: giveUp("what it said of results is lost, and eval measures by the others"),
		layout.Clicks:    giveUp("the click is lost, and eval measures by the others"),
		layout.Due:       giveUp("the sweep finds the URLs in it in the books"),
		layout.Runs:      giveUp("the frontier that needs it is rebuilt from the books"),
		layout.Copies:    giveUp("what it is a copy of is damaged or deleted, too"),
	}[strings.SplitAfterN(key, "/", 2)[0]]
	if key == layout.SettingsHint {
		if err = numbered.Refresh(ctx, r.Bucket); err == nil {
			r.say(ctx, report, []string{key + " was damaged, and is written again from the documents"})
		}
		return true, err
	}
	if key == layout.Census {
		if err = r.Bucket.Delete(ctx, key); err == nil {
			r.say(ctx, report, []string{key + " was damaged, and is deleted; the next sweep counts the URLs again"})
		}
		return true, err
	}
	if strings.HasPrefix(key, layout.Curations) {
		mend = r.republishCuration
	}
	quarantined := strings.HasPrefix(key, layout.Quarantine) && problem.Kind == verify.Damaged
	if mend == nil && !quarantined {
		return false, nil
	}
	content, found, err := blob.Find(ctx, r.Bucket, key)
	if quarantined && found && err == nil {
		return true, r.rename(ctx, key, content, report)
	}
	if (strings.HasPrefix(key, layout.Judgments) || strings.HasPrefix(key, layout.Clicks)) && problem.Kind == verify.Behind {
		return true, r.eraseJudgments(ctx, report)
	}
	if err != nil || !found || problem.Kind != verify.Damaged { // a strategy whose rules have faults is not damaged
		return true, err
	}
	if err := r.keep(ctx, key, content); err != nil {
		return true, err
	}
	restored, err := numbered.Restore(ctx, r.Bucket, key)
	if restored {
		r.say(ctx, report, []string{key + " was damaged, and is in quarantine; it is there again as it was written"})
	}
	if restored || err != nil {
		return true, err
	}
	said, err := mend(ctx, key)
	if errors.Is(err, numbered.ErrDamaged) { // it stays a problem, whose text says what to do
		return true, nil
	}
	if err == nil {
		err = r.remove(ctx, key, content)
	}
	if err != nil {
		return true, err
	}
	r.say(ctx, report, []string{fmt.Sprintf("%s was damaged, and is in quarantine; %s", key, said)})
	return true, nil
}

// restoreDeleted restores deleted versions of published documents from their copies, and deleted
// copies from their versions. It runs before all other repairs, because these depend on the
// settings in the documents.
func (r *Repairer) restoreDeleted(ctx context.Context, report *Report) error {
	there := make(map[string]bool)
	for _, prefix := range append(slices.Clip(layout.Published), layout.Copies) {
		for object, err := range r.Bucket.List(ctx, prefix, "") {
			if err != nil {
				return fmt.Errorf("cannot list %s: %w", prefix, err)
			}
			if !layout.IsForeign(object.Key) {
				there[object.Key] = true
			}
		}
	}
	copies := 0
	for _, key := range slices.Sorted(maps.Keys(there)) {
		other := layout.TwinKey(key)
		if there[other] {
			continue
		}
		restored, err := numbered.Restore(ctx, r.Bucket, other)
		switch _, isCopy := layout.CopiedKey(key); {
		case err != nil:
			return err
		case restored && isCopy:
			if err := numbered.Refresh(ctx, r.Bucket); err != nil {
				return err
			}
			r.say(ctx, report, []string{other + " was deleted, and is there again as it was written"})
		case restored:
			copies++
		}
	}
	if copies > 0 {
		r.say(ctx, report, []string{fmt.Sprintf("%d of the published documents had no copy, and have one", copies)})
	}
	return nil
}

// published returns a sentence for the report after a version of a document was damaged. The sentence
// says which version is in force now. The parameter key is the key of the damaged version. If this was
// the newest version, repair has published the content of the version before it under a new number,
// the parameter version. Otherwise a later version is in force, and the parameter version is 0.
func published(key string, version uint64) string {
	if version == 0 {
		return "a later version is in force"
	}
	return fmt.Sprintf("the version before is published again as %s/%012d.json", path.Dir(key), version)
}

// republishStrategy publishes the newest undamaged version of a strategy again, under a new
// number. If the damaged version is the only one, it publishes a strategy that divides the hash
// space equally among as many partitions as have manifests. It returns a sentence for the report.
// key is the key of the damaged version.
func (r *Repairer) republishStrategy(ctx context.Context, key string) (string, error) {
	partitions := 1
	for object, err := range r.Bucket.List(ctx, layout.Manifests, "") {
		if err != nil {
			return "", fmt.Errorf("cannot list manifests: %w", err)
		}
		if p, _, err := layout.ParseManifestKey(object.Key); err == nil {
			partitions = max(partitions, int(p)+1)
		}
	}
	kind := rules.Kind(path.Base(path.Dir(key)))
	if kind != rules.Crawl && kind != rules.Storage {
		return "", numbered.ErrDamaged
	}
	version, err := rules.Republish(ctx, r.Bucket, kind, partitions, r.Now())
	if version == 2 { // version 1 was the damaged one
		return fmt.Sprintf("it was the only version, and equal shares for %d partitions are published as %s; publish your own rules again if they were others",
			partitions, layout.StrategyKey(string(kind), version)), err
	}
	return published(key, version), err
}

func (r *Repairer) republishCollection(ctx context.Context, key string) (string, error) {
	version, err := collection.Republish(ctx, r.Bucket, path.Base(path.Dir(key)))
	return published(key, version), err
}

func (r *Repairer) republishControls(ctx context.Context, key string) (string, error) {
	version, err := control.Republish(ctx, r.Bucket, r.Now())
	return published(key, version), err
}

func (r *Repairer) republishCuration(ctx context.Context, key string) (string, error) {
	version, err := curation.Republish(ctx, r.Bucket)
	said := published(key, version)
	if version > 0 {
		said += "; to see it: bucketsearch curate --show"
	}
	return said, err
}

func (r *Repairer) republishTakedowns(ctx context.Context, key string) (string, error) {
	version, err := takedown.Republish(ctx, r.Bucket)
	said := published(key, version)
	if version > 0 {
		said = fmt.Sprintf("what can be read of it and of the version before is published as %s; what it added last may be forgotten no more: ask those who wanted it, and run bucketsearch forget again", layout.TakedownKey(version))
	}
	return said, err
}

// eraseJudgments erases all judgments of URLs that a takedown covers, and all clicks on these URLs.
func (r *Repairer) eraseJudgments(ctx context.Context, report *Report) error {
	forgotten, err := takedown.Load(ctx, r.Bucket)
	if err != nil {
		return err
	}
	erased, err := judgment.Erase(ctx, r.Bucket, &forgotten)
	if erased > 0 {
		r.say(ctx, report, []string{fmt.Sprintf("what is forgotten is erased from %d of the judgments and clicks", erased)})
	}
	return err
}

// claimAbove is called before the damaged object with the given key is deleted. That object is the
// claim of an epoch number. The next claim takes the number after the highest one that has an object.
// So if the damaged object had the highest number, this number would be claimed a second time. To
// prevent that, claimAbove claims the next number in this case. It returns a sentence for the report.
func (r *Repairer) claimAbove(ctx context.Context, key string) (string, error) {
	last, err := epoch.Last(ctx, r.Bucket)
	if err != nil || layout.EpochKey(last) != key {
		return "a later epoch is claimed", err
	}
	number, err := epoch.Claim(ctx, r.Bucket, "repair")
	return fmt.Sprintf("epoch %d is claimed above it", number), err
}

// giveUp returns a repair function for objects whose content cannot be restored. That function
// changes nothing. It returns the given sentence, which tells the consequences of the damage.
func giveUp(said string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return said, nil }
}

// rename gives a new key to a quarantined object whose bytes have changed since it was quarantined.
// Keys in quarantine end with the hash of the content, so the new key has the hash of the present
// content.
func (r *Repairer) rename(ctx context.Context, key string, content []byte, report *Report) error {
	name, _, _ := strings.Cut(key, "@")
	now := name + "@" + layout.ContentHash(content)
	if now == key {
		return nil
	}
	if err := blob.CreateOnce(ctx, r.Bucket, now, content); err != nil {
		return fmt.Errorf("cannot keep %s: %w", now, err)
	}
	if err := r.Bucket.Delete(ctx, key); err != nil {
		return fmt.Errorf("cannot delete %s: %w", key, err)
	}
	r.say(ctx, report, []string{fmt.Sprintf("%s was damaged where it is kept, and is kept as %s", key, now)})
	return nil
}
