package child

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
)

// Names of two environment variables of the test binary. If CHILD_ROLE is set, the test binary runs
// no tests. It then acts as a child process that does what the value says (see TestMain).
// CHILD_OBJECT holds the text or address that this child needs.
const (
	role   = "CHILD_ROLE"
	object = "CHILD_OBJECT"
)

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "say": // prints something and ends
		fmt.Fprint(os.Stderr, os.Getenv(object))
		os.Exit(3)
	case "hold": // holds a connection until it is killed
		hold(os.Getenv(object))
	case "parent": // starts a child that holds a connection
		if _, err := Start(helper("hold", os.Getenv(object))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	}
}

func hold(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, conn) // ends when the test closes the connection
}

// helper returns a command that runs the test binary as a child. The first argument names what
// the child does (see role). The second is the text or address that it needs for this.
func helper(as, with string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as, object+"="+with)
	return cmd
}

func start(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// listen returns a listener to which children can connect.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
