package browser

import (
	"fmt"
	"time"
)

// Evaluate evaluates a JavaScript expression in the page, and returns its value as text. If the value is a
// promise, Evaluate waits for its result.
func (p *Tab) Evaluate(expression string) string {
	p.t.Helper()
	value, failure := p.evaluate(expression)
	if failure != "" {
		p.t.Fatalf("%s\n%s", expression, failure)
	}
	return value
}

// evaluate does the work of Evaluate. If the browser leaves the page meanwhile, it returns a failure. If the
// expression throws an exception, it fails the test.
func (p *Tab) evaluate(expression string) (value, failure string) {
	p.t.Helper()
	var reply struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	failure = p.try("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &reply)
	if e := reply.ExceptionDetails; e != nil {
		p.t.Fatalf("%s\n%s", expression, e.Exception.Description)
	}
	return fmt.Sprint(reply.Result.Value), failure
}

// Await waits until the page is loaded and a JavaScript expression is true in it. Meanwhile the browser
// may go to another page. After a minute, Await fails the test.
func (p *Tab) Await(expression string) {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		value, failure := p.evaluate("document.readyState === 'complete' && Boolean(" + expression + ")")
		if failure == "" && value == "true" {
			return
		}
	}
	p.t.Fatalf("%s is not true on %s", expression, p.Evaluate("location.href + '\\n' + document.body.innerText"))
}

// Go goes to an address, and waits until the page is loaded.
func (p *Tab) Go(address string) {
	p.t.Helper()
	p.Call("Page.navigate", map[string]any{"url": address}, nil)
	p.Await(fmt.Sprintf("location.href === %q", address))
}

// Write types a text into the element that has the focus.
func (p *Tab) Write(text string) {
	p.t.Helper()
	p.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Press presses a key, such as "a" or "Enter".
func (p *Tab) Press(key string) {
	p.t.Helper()
	codes := map[string]int{"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27}
	down := map[string]any{"type": "rawKeyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	if key == "Enter" {
		down["type"], down["text"] = "keyDown", "\r"
	} else if len(key) == 1 {
		down["type"], down["text"] = "keyDown", key
	}
	if key == "Backspace" {
		down["commands"] = []string{"deleteBackward"} // the key's effect in Chromium with a window
	}
	p.Call("Input.dispatchKeyEvent", down, nil)
	p.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// Accessible returns the elements with the given roles as screen readers perceive them: role and name, such
// as "option: All results". The roles are in the order of the parameters.
func (p *Tab) Accessible(roles ...string) (all []string) {
	p.t.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
		}
	}
	p.Call("Accessibility.getFullAXTree", nil, &tree)
	for _, role := range roles {
		for _, node := range tree.Nodes {
			if !node.Ignored && node.Role.Value == role {
				all = append(all, role+": "+node.Name.Value)
			}
		}
	}
	return all
}
