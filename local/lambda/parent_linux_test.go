package lambda_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestProcessesDieWithTheirParent kills a program that runs a function, and
// waits for the end of the connection that the function holds.
func TestProcessesDieWithTheirParent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	program := exec.Command(os.Args[0])
	program.Env = []string{"ROLE=parent", "CALL=" + listener.Addr().String()}
	program.Stderr = os.Stderr
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait() // "signal: killed"
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the function lives: %v", err)
	}
}
