package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// tab is a page in Chromium that a test controls by the DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol/). Commands are written to one pipe, and answers
// and events are read from another one. Each message is JSON, followed by a zero byte.
type tab struct {
	t        *testing.T
	commands *os.File
	answers  *bufio.Reader
	session  string
	sent     int // number of commands so far
}

// openTab starts Chromium without a window, with an empty page of the given size.
func openTab(t *testing.T, width, height int) *tab {
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
	cmd := exec.CommandContext(ctx, "chromium", append(browserFlags(t), "--remote-debugging-pipe")...)
	cmd.ExtraFiles = []*os.File{theirCommands, theirAnswers} // 3 and 4, as the flag wants
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirCommands.Close(), theirAnswers.Close()
	p := &tab{t: t, commands: commands, answers: bufio.NewReader(answers)}
	t.Cleanup(func() {
		_, _ = commands.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00") // fails when Chromium has ended
		_ = cmd.Wait()
		cancel()
		_, _ = commands.Close(), answers.Close()
	})
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	return p
}

// call sends a command of the DevTools protocol, such as "Page.navigate", and waits for its result. If
// the parameter result is not nil, call decodes the result into it. It skips events. It fails the test if
// the command fails.
func (p *tab) call(method string, parameters map[string]any, result any) {
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
			p.t.Fatalf("%s %v: %s", method, parameters, reply.Error.Message)
		case result != nil:
			if err := json.Unmarshal(reply.Result, result); err != nil {
				p.t.Fatal(err)
			}
		}
		return
	}
}

// evaluate returns the value of an expression of JavaScript in the page, as text. It waits for a promise.
func (p *tab) evaluate(expression string) string {
	p.t.Helper()
	var reply struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &reply)
	if e := reply.ExceptionDetails; e != nil {
		p.t.Fatalf("%s\n%s", expression, e.Exception.Description)
	}
	return fmt.Sprint(reply.Result.Value)
}

// await waits until the page is loaded and a JavaScript expression is true in it. Meanwhile the browser
// may go to another page.
func (p *tab) await(expression string) {
	p.t.Helper()
	for p.evaluate("document.readyState === 'complete' && Boolean("+expression+")") != "true" {
		p.evaluate("new Promise(requestAnimationFrame)")
	}
}

// open goes to an address, and waits until the page is loaded.
func (p *tab) open(address string) {
	p.t.Helper()
	p.call("Page.navigate", map[string]any{"url": address}, nil)
	p.await(fmt.Sprintf("location.href === %q", address))
}

// write types a text into the element that has the focus.
func (p *tab) write(text string) {
	p.t.Helper()
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// press presses a key, such as "a" or "Enter".
func (p *tab) press(key string) {
	p.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9}
	down := map[string]any{"type": "rawKeyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	if key == "Enter" {
		down["type"], down["text"] = "keyDown", "\r"
	} else if len(key) == 1 {
		down["type"], down["text"] = "keyDown", key
	}
	p.call("Input.dispatchKeyEvent", down, nil)
	p.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// perceived is an element as screen readers perceive it.
type perceived struct{ Role, Name string }

// accessible returns the elements of the page that screen readers perceive, with the given roles.
func (p *tab) accessible(roles ...string) (all []perceived) {
	p.t.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
		}
	}
	p.call("Accessibility.getFullAXTree", nil, &tree)
	for _, role := range roles {
		for _, node := range tree.Nodes {
			if !node.Ignored && node.Role.Value == role {
				all = append(all, perceived{role, node.Name.Value})
			}
		}
	}
	return all
}
