package functionstest

import (
	"context"

	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Fixed are settings that stay as they are; the zero value has no collections.
type Fixed settings.Settings

// Get returns them.
func (f *Fixed) Get(context.Context) (*settings.Settings, error) { return (*settings.Settings)(f), nil }
