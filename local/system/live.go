package system

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// FetchingHost is a host of which batches are being fetched.
type FetchingHost struct {
	Host  string    `json:"host"`
	URLs  int       `json:"urls"`  // number of URLs in these batches, also those that are fetched already
	Until time.Time `json:"until"` // end of the last of their leases, which are renewed while the batches are fetched
}

// Text returns a clause such as "6 URLs of example.org are being fetched, leased until 12:00:07 UTC".
func (h FetchingHost) Text() string {
	urls := fmt.Sprintf("%d URLs of %s are", h.URLs, h.Host)
	if h.URLs == 1 {
		urls = "1 URL of " + h.Host + " is"
	}
	return fmt.Sprintf("%s being fetched, leased until %s UTC", urls, h.Until.UTC().Format(time.TimeOnly))
}

// AddLive completes a status by what only Redis knows: processes that run, batches that are being fetched, the next
// request, and crowded hosts. If no system runs, it does nothing.
func (a *Attached) AddLive(ctx context.Context, status *Status) error {
	inForce, err := a.Settings.Get(ctx)
	if err != nil || a.Redis == nil {
		return err
	}
	fronts := frontiersOf(a.Redis, inForce)
	if status.Fetching, err = fetchingHosts(ctx, fronts); err != nil {
		return err
	}
	if status.Processes, err = lease.Members(ctx, a.Redis, fetchers, time.Now()); err != nil {
		return err
	}
	if len(status.Fetching) == 0 {
		next, err := soonest(ctx, fronts)
		if err != nil {
			return err
		}
		if next.Host != "" {
			status.Next = &next
		}
	}
	return addCrowded(ctx, fronts, inForce, status)
}

// addCrowded sets the fields Crowded and MaxWaiting of a status.
func addCrowded(ctx context.Context, fronts []*frontier.Frontier, inForce *settings.Settings, status *Status) error {
	status.MaxWaiting = inForce.MaxWaiting()
	for _, front := range fronts {
		hosts, err := front.Crowded(ctx)
		if err != nil {
			return err
		}
		status.Crowded = append(status.Crowded, hosts...)
	}
	slices.Sort(status.Crowded)
	return nil
}

// fetchingHosts returns the hosts of the batches that are being fetched, sorted by name.
func fetchingHosts(ctx context.Context, fronts []*frontier.Frontier) ([]FetchingHost, error) {
	var hosts []FetchingHost
	for _, front := range fronts {
		held, err := front.Held(ctx)
		if err != nil {
			return nil, err
		}
		for _, b := range held {
			i := slices.IndexFunc(hosts, func(h FetchingHost) bool { return h.Host == b.Host })
			if i < 0 {
				i, hosts = len(hosts), append(hosts, FetchingHost{Host: b.Host})
			}
			hosts[i].URLs += len(b.URLs)
			if b.Deadline.After(hosts[i].Until) {
				hosts[i].Until = b.Deadline
			}
		}
	}
	slices.SortFunc(hosts, func(a, b FetchingHost) int { return strings.Compare(a.Host, b.Host) })
	return hosts, nil
}

// HostWaits returns a clause that says what a pending URL of the crawl partition waits for: the batch
// of its host that is being fetched, or the time of the next request to its host. The clause is "" if
// the host may be requested now. a.Redis must not be nil.
func (a *Attached) HostWaits(ctx context.Context, crawl int, url address.Address) (string, error) {
	front := frontier.New(a.Redis, crawl)
	hosts, err := fetchingHosts(ctx, []*frontier.Frontier{front})
	if err != nil {
		return "", err
	}
	for _, h := range hosts {
		if h.Host == url.Host {
			return h.Text(), nil
		}
	}
	at, err := front.NextRequest(ctx, url.Host)
	if now := time.Now(); err == nil && at.After(now) {
		return Turn{Next: frontier.Next{Host: url.Host, At: at}}.Text(now), nil
	}
	return "", err
}
