package simulation

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has garbage collected seldom: there are hundreds of small worlds,
// one after another.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
