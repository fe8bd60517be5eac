package frontier

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Decided returns those of the URLs with these identities that are stored. It leaves out stored URLs
// that wait for another request or are leased again. The value of a URL is the version of the last
// batch that stored its page or found it unchanged.
func (f *Frontier) Decided(ctx context.Context, ids []layout.Identity) (map[layout.Identity]layout.Version, error) {
	by := make(map[layout.Identity]layout.Version, len(ids))
	for part := range slices.Chunk(ids, chunk) {
		fields := make([]string, len(part))
		for i, id := range part {
			fields[i] = string(id[:])
		}
		states, err := f.rdb.HMGet(ctx, f.key("known"), fields...).Result()
		if err != nil {
			return nil, f.failed("look into", err)
		}
		for i, state := range states {
			text, _ := state.(string)
			if len(text) < finalBytes || text[0] != 's' {
				continue
			}
			if by[part[i]], err = layout.ParseVersion(text[finalBytes-versionBytes : finalBytes]); err != nil {
				return nil, f.failed("look into", err)
			}
		}
	}
	return by, nil
}
