package language

import (
	"slices"
)

// Known returns the codes of all languages that Identify can identify, sorted.
func Known() []string {
	codes := slices.Clone(onlyLanguage[:])
	for _, classes := range slices.Concat(load().Scripts[:], load().Close) {
		codes = append(codes, classes.Codes...)
	}
	slices.Sort(codes)
	return slices.DeleteFunc(slices.Compact(codes), func(code string) bool { return code == "" })
}
