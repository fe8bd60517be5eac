package index

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// wishes say which pages are shown.
type wishes struct {
	*settings.Settings
	agent string // of collections that name none
}

// refused reports whether a page asks any agent of its collections not to be
// shown.
func (w wishes) refused(o webobject.Object, d *document.Document) bool {
	refuses := func(agent string) bool {
		return d.RobotsFor(agent).Add(robots.ParseTag(tags(o), agent)).NoIndex
	}
	if len(o.Collections) == 0 {
		return refuses(w.agent)
	}
	return slices.ContainsFunc(o.Collections, func(name string) bool {
		if agent := w.AgentOf(name); agent != "" {
			return refuses(agent)
		}
		return refuses(w.agent)
	})
}

// inLanguage reports whether any of the collections wants pages of a language.
// Pages of which the language is not known are wanted by all.
func (w wishes) inLanguage(collections []string, code string) bool {
	if code == "" || len(collections) == 0 {
		return true
	}
	return slices.ContainsFunc(collections, func(name string) bool {
		wanted := w.Collection(name).Language
		return wanted == "" || wanted == code
	})
}
