package child

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
)

// role and object are the variables by which the tests start their own binary
// as a child.
const (
	role   = "CHILD_ROLE"
	object = "CHILD_OBJECT"
)

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "say": // says something and ends
		fmt.Fprint(os.Stderr, os.Getenv(object))
		os.Exit(3)
	case "hold": // holds a connection until it is killed
		hold(os.Getenv(object))
	case "parent": // has a child hold a connection
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
	_, _ = io.Copy(io.Discard, conn) // until the test closes it
}

// helper is the command of a child.
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

// listen returns where children can hold connections.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
