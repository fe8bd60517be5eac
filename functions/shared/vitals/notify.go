package vitals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const notifyTime = 10 * time.Second // for a webhook to answer

// Notify posts an alert to a webhook as JSON:
//
//	{"name": "unpacked", "text": "…a sentence…", "since": "2026-11-22T02:00:00Z"}
//
// It fails unless a status of 2xx is answered within ten seconds.
func Notify(ctx context.Context, client *http.Client, webhook string, alert Alert) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	alert.Since = alert.Since.UTC()
	content, err := json.Marshal(alert)
	if err != nil {
		return fmt.Errorf("cannot encode alert %s: %w", alert.Name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook, bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("cannot send alert %s: %w", alert.Name, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("cannot send alert %s: %w", alert.Name, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("cannot send alert %s: %s was answered", alert.Name, response.Status)
	}
	return nil
}
