package child

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

// TestDiesWithItsParent kills a process that has a child, and waits until the connection that
// the child holds is closed: the child must die, too.
func TestDiesWithItsParent(t *testing.T) {
	l := listen(t)
	parent := helper("parent", l.Addr().String())
	parent.Stderr = os.Stderr
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // "signal: killed"
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the child lives: %v", err)
	}
}
