package child

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnd(t *testing.T) {
	long := strings.Repeat("x", tailSize)
	for said, want := range map[string]string{
		"":                      "exit status 3",
		"out of luck\n":         "exit status 3; it said: out of luck",
		"forgotten" + long:      "exit status 3; it said: " + long,
		long + "end" + long[3:]: "exit status 3; it said: end" + long[3:],
	} {
		if got := start(t, helper("say", said)).End(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestKill(t *testing.T) {
	l := listen(t)
	p := start(t, helper("hold", l.Addr().String()))
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
		t.Fatal("it has ended")
	default:
	}
	p.Kill()
	p.Kill()
	if got := p.End(); got != "signal: killed" {
		t.Errorf("it ended by %q", got)
	}
}

func TestStartNeedsAProgram(t *testing.T) {
	if _, err := Start(exec.Command(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestLines(t *testing.T) {
	var got []string
	lines := &Lines{Each: func(b []byte) { got = append(got, string(b)) }}
	cmd := helper("say", "a\nb\nno end")
	cmd.Stderr = lines
	if end := start(t, cmd).End(); end != "exit status 3" {
		t.Errorf("it ended by %q", end)
	}
	lines.Flush()
	lines.Flush()
	for _, part := range []string{"be", "gin\nnext", " line\n", strings.Repeat("x", maxLine)} {
		if n, err := lines.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("wrote %d of %d bytes: %v", n, len(part), err)
		}
	}
	want := []string{"a\nb\n", "no end\n", "begin\n", "next line\n", strings.Repeat("x", maxLine) + "\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
