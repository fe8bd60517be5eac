package verifytest

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
)

// Settle does what a system that runs does until nothing is left to do: what
// is pending is fetched, in a new epoch, and the seed shows its links again;
// what is not indexed is.
func (w *World) Settle(links ...string) {
	w.T.Helper()
	number, err := epoch.Claim(w.T.Context(), w.Bucket, "settle")
	if err != nil {
		w.T.Fatal(err)
	}
	for token := uint64(1); ; token++ {
		pending := w.pending()
		if len(pending) == 0 {
			break
		}
		var found []string
		if slices.Contains(pending, Site) {
			found = links
		}
		w.Learn(layout.Version{Epoch: number, Token: token}, pending, found...)
	}
	for _, p := range slices.Clone(w.Manifest().Packages) {
		if !p.Indexed {
			w.Index(p)
		}
	}
}

func (w *World) pending() []string {
	w.T.Helper()
	a, err := account.Read(w.T.Context(), w.Bucket, w.Settings)
	if err != nil {
		w.T.Fatal(err)
	}
	var pending []string
	for u, err := range a.All() {
		if err != nil {
			w.T.Fatal(err)
		}
		if u.State == account.Pending {
			pending = append(pending, u.Address.URL)
		}
	}
	slices.Sort(pending)
	return pending
}
