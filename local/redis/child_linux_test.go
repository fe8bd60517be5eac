package redis

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestDiesWithParent kills a process that started a Redis.
func TestDiesWithParent(t *testing.T) {
	if os.Getenv("REDIS_PARENT") != "" {
		server, err := Start(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(server.URL)
		select {}
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestDiesWithParent$")
	parent.Env = append(os.Environ(), "REDIS_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	url, _ := bufio.NewReader(out).ReadString('\n')
	client := connect(t, strings.TrimSpace(url))
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	conn, err := net.Dial("tcp", client.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("connection: %v, want that it is closed", err)
	}
}
