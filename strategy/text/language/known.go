package language

import (
	"slices"
)

// Known returns all codes of languages that Identify may return, sorted.
func Known() []string {
	codes := slices.Clone(onlyLanguage[:])
	for _, classes := range slices.Concat(load().Scripts[:], load().Close) {
		codes = append(codes, classes.Codes...)
	}
	slices.Sort(codes)
	return slices.DeleteFunc(slices.Compact(codes), func(code string) bool { return code == "" })
}
