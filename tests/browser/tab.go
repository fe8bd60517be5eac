// Package browser drives Chromium for tests and benchmarks, by the DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol/).
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience is the maximum time for which a tab may be open on a busy machine.
const patience = 5 * time.Minute

// Tab is a page in Chromium that a test controls. It sends commands through one pipe, and receives answers and
// events through another one. Each message is JSON, followed by a zero byte. If one of its methods fails, it fails
// the test.
type Tab struct {
	t        testing.TB
	commands *os.File
	answers  *bufio.Reader
	session  string
	sent     int // number of commands so far
}

// Open starts Chromium without a window, with an empty page of the given size in pixels. Chromium ends with
// the test.
func Open(t testing.TB, width, height int) *Tab {
	t.Helper()
	theirCommands, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	cmd := exec.CommandContext(ctx, "chromium", append(Flags(t), "--remote-debugging-pipe")...)
	cmd.ExtraFiles = []*os.File{theirCommands, theirAnswers} // 3 and 4, as the flag wants
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start Chromium; please install chromium: %v", err)
	}
	_, _ = theirCommands.Close(), theirAnswers.Close()
	p := &Tab{t: t, commands: commands, answers: bufio.NewReader(answers)}
	t.Cleanup(func() {
		_, _ = commands.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00") // fails when Chromium has ended
		_ = cmd.Wait()
		cancel()
		_, _ = commands.Close(), answers.Close()
	})
	var target struct{ TargetID string }
	p.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	p.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	return p
}

// Flags returns the flags with which all tests start Chromium. The test gets a profile of its own.
func Flags(t testing.TB) []string {
	return []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir(),
	}
}

// Call sends a command of the DevTools protocol, such as "Page.navigate", and waits for its result. If
// the parameter result is not nil, Call decodes the result into it. It skips events.
func (p *Tab) Call(method string, parameters map[string]any, result any) {
	p.t.Helper()
	if failure := p.try(method, parameters, result); failure != "" {
		p.t.Fatalf("%s %v: %s", method, parameters, failure)
	}
}

// try does the work of Call. If Chromium says that the command has failed, it returns this message.
func (p *Tab) try(method string, parameters map[string]any, result any) (failure string) {
	p.t.Helper()
	p.sent++
	command := map[string]any{"id": p.sent, "method": method}
	if parameters != nil {
		command["params"] = parameters
	}
	if p.session != "" {
		command["sessionId"] = p.session
	}
	content, err := json.Marshal(command)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.commands.Write(append(content, 0)); err != nil {
		p.t.Fatal(err)
	}
	for {
		line, err := p.answers.ReadBytes(0)
		if err != nil {
			p.t.Fatalf("%s %v: %v", method, parameters, err)
		}
		var reply struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line[:len(line)-1], &reply); err != nil {
			p.t.Fatal(err)
		}
		switch {
		case reply.ID != p.sent: // an event
			continue
		case reply.Error != nil:
			return reply.Error.Message
		case result != nil:
			if err := json.Unmarshal(reply.Result, result); err != nil {
				p.t.Fatal(err)
			}
		}
		return ""
	}
}
