package engine

import "context"

// Ready returns nil if the engine can answer: the settings, and the manifest of at least one
// partition, can be read. Otherwise it returns the error with which Search would fail.
func (e *Engine) Ready(ctx context.Context) error {
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return err
	}
	return current.allLost()
}
