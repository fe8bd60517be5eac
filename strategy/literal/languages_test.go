package literal

import (
	"slices"
	"testing"
)

func TestLanguages(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "de": {"de"}, " DE, fr,,de ": {"de", "fr"}, "gsw,hr": {"gsw", "hr"}} {
		if got, err := Languages("across", text, 2); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"german":   `across is "german"; write languages such as de,fr`,
		"d":        `across is "d"; write languages such as de,fr`,
		"de-AT":    `across is "de-AT"; write languages such as de,fr`,
		"de,fr,it": `across is "de,fr,it"; write at most 2 languages`,
	} {
		if got, err := Languages("across", text, 2); err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v; want %s", text, got, err, want)
		}
	}
}
