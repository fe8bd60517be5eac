package engine

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// dictionary returns the dictionary from one language to another that a manifest of the snapshot
// lists; nil if no manifest lists one. If the dictionary cannot be read, the method logs the reason
// and returns the error. The caller then searches without a translation of the query.
func (e *Engine) dictionary(ctx context.Context, at *snapshot, from, to string) (*dictionary.Dictionary, error) {
	var listed *manifest.Dictionary
	for i := range at.manifests {
		if d := at.manifests[i].Dictionaries.Between(from, to); d != nil {
			listed = d
		}
	}
	if listed == nil {
		return nil, nil
	}
	if d := e.documents.Dictionary(listed.Key); d != nil {
		return d, nil
	}
	d, err := e.openDictionary(ctx, listed)
	if errors.Is(err, dictionary.ErrDamaged) { // perhaps only its cached range is damaged
		e.ranges.Forget(listed.Key)
		d, err = e.openDictionary(ctx, listed)
	}
	if err != nil {
		e.Log.WarnContext(ctx, "a query is not translated: repair the dictionary by bucketsearch verify --repair", "key", listed.Key, "error", err)
		return nil, err
	}
	e.documents.PutDictionary(listed.Key, d)
	return d, nil
}

func (e *Engine) openDictionary(ctx context.Context, listed *manifest.Dictionary) (*dictionary.Dictionary, error) {
	content, err := e.ranges.Read(ctx, listed.Key, []blob.Range{{Length: listed.Bytes}})
	if err != nil {
		return nil, err
	}
	return partition.OpenDictionary(listed, content[0])
}
