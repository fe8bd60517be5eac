package robots

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	nothing  = Directives{}
	noIndex  = Directives{NoIndex: true}
	noFollow = Directives{NoFollow: true}
	neither  = Directives{NoIndex: true, NoFollow: true}
)

func TestParseTag(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []string
		want   Directives
	}{
		{"none", nil, nothing},
		{"empty", []string{""}, nothing},
		{"one", []string{"noindex"}, noIndex},
		{"two in a value", []string{"noindex, nofollow"}, neither},
		{"two values", []string{"NOINDEX", " NoFollow "}, neither},
		{"none is both", []string{"none"}, neither},
		{"all takes nothing away", []string{"noindex", "all, index, follow"}, noIndex},
		{"others", []string{"noarchive, nosnippet, noindexing"}, nothing},
		{"for us", []string{"examplebot: noindex"}, noIndex},
		{"for us, with a version", []string{"ExampleBot/2.0 : noindex nofollow"}, neither},
		{"for us beside everyone", []string{"nofollow", "ExampleBot: noindex"}, neither},
		{"for another", []string{"googlebot: noindex"}, nothing},
		{"a name holds to the end of its value", []string{"otherbot: noindex, nofollow", "noindex"}, noIndex},
		{"names in one value", []string{"otherbot: noindex, ExampleBot: nofollow"}, noFollow},
		{"everyone by name", []string{"otherbot: none, *: noindex", "robots: nofollow"}, neither},
		{"name with digits", []string{"360Spider: noindex, nofollow"}, nothing},
		{"date", []string{"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"}, noIndex},
		{"date with commas", []string{"unavailable_after: Friday, 25-Jun-10 15:00:00 PST, nofollow"}, noFollow},
		{"date for another", []string{"otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"}, nothing},
		{"values", []string{"max-snippet: 20, noindex, max-image-preview:none"}, noIndex},
		{"only colons", []string{":::,:noindex"}, nothing},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, ParseTag(test.values, agent)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := ParseTag([]string{"noindex, examplebot: nofollow"}, ""); got != noIndex {
		t.Errorf("without an agent: %+v", got)
	}
}

func TestParseMeta(t *testing.T) {
	for _, test := range []struct {
		name, content string
		want          Directives
	}{
		{"robots", "noindex", noIndex},
		{"ROBOTS", "NOINDEX,NOFOLLOW", neither},
		{" robots ", "index\tnofollow\n", noFollow},
		{"robots", "max-snippet:-1, none", neither},
		{"robots", "googlebot: noindexed", nothing},
		{"ExampleBot", "none", neither},
		{"examplebot", "nofollow; noindex", neither},
		{"googlebot", "noindex", nothing},
		{"ExampleBot/1.0", "noindex", nothing},
		{"", "noindex", nothing},
		{"description", "noindex is a word", nothing},
	} {
		if diff := cmp.Diff(test.want, ParseMeta(test.name, test.content, agent)); diff != "" {
			t.Errorf("<meta name=%q content=%q>: %s", test.name, test.content, diff)
		}
	}
	if got := ParseMeta("", "noindex", ""); got != nothing {
		t.Errorf("neither name nor agent: %+v", got)
	}
}

func FuzzParseTag(f *testing.F) {
	f.Add("noindex, otherbot: none")
	f.Add("unavailable_after: Friday, 25-Jun-10 15:00:00 PST; examplebot:nofollow")
	f.Fuzz(func(t *testing.T, value string) {
		all := ParseTag([]string{value}, agent)
		if everyone := ParseTag([]string{value}, ""); all != all.Add(everyone) {
			t.Errorf("%q: everyone is asked for %+v, we only for %+v", value, everyone, all)
		}
		if words := parseWords(value); value != "" && ParseMeta("robots", value, agent) != words {
			t.Errorf("%q: meta differs from %+v", value, words)
		}
	})
}
