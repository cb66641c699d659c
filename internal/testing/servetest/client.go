package servetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/darrm/darrm/release"
)

// Answer is a response to one query.
type Answer struct {
	ID        string  `json:"request_id"`
	Label     *string `json:"label"`
	Class     *int    `json:"class"`
	Abstained bool    `json:"abstained"`
	Replayed  bool    `json:"replayed"`
	Receipt   struct {
		Ledger string `json:"ledger"`
		Seq    uint64 `json:"seq"`
		Hash   string `json:"hash"`
	} `json:"receipt"`
	Remaining release.Amount `json:"remaining"`
}

// Refusal is a response that is no answer.
type Refusal struct {
	Status     int             `json:"-"`
	RetryAfter time.Duration   `json:"-"`
	Kind       string          `json:"kind"`
	Message    string          `json:"message"`
	Remaining  *release.Amount `json:"remaining"`
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Kind, r.Message) }

// Client asks a server on a Unix socket. It is safe for concurrent use.
type Client struct {
	Token string // "" for none
	http  *http.Client
}

// NewClient returns a client of the socket.
func NewClient(socket string) *Client {
	return &Client{http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: 256,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}}
}

// Close closes connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) get(ctx context.Context, path string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://darrm"+path, nil)
	if err != nil {
		return 0, nil, err
	}
	return c.do(r)
}

func (c *Client) do(r *http.Request) (status int, body []byte, err error) {
	response, err := c.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err == nil && response.Header.Get("Retry-After") != "" {
		var seconds int
		if seconds, err = strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds < 1 {
			err = fmt.Errorf("Retry-After: %d", seconds)
		}
	}
	return response.StatusCode, body, err
}

// Get returns the object at a path.
func (c *Client) Get(ctx context.Context, path string) (map[string]any, error) {
	status, body, err := c.get(ctx, path)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&out); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d: %s", path, status, body)
	}
	return out, nil
}

// Text returns the text at a path.
func (c *Client) Text(ctx context.Context, path string) (string, error) {
	status, body, err := c.get(ctx, path)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d: %s", path, status, body)
	}
	return string(body), err
}

// Once asks once. A response that is no answer is a *Refusal.
func (c *Client) Once(ctx context.Context, id string, counts []int) (*Answer, error) {
	key := sha256.Sum256([]byte(id)) // no secret, but the same from all clients of a test
	question, err := json.Marshal(map[string]any{"request_id": id,
		"replay_key": hex.EncodeToString(key[:]), "counts": counts})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://darrm/v1/answers",
		bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	status, body, err := c.do(r)
	if err != nil {
		return nil, err
	}
	if status == http.StatusOK {
		var a Answer
		if err := json.Unmarshal(body, &a); err != nil || a.ID != id || (a.Class == nil) != a.Abstained {
			return nil, fmt.Errorf("request %q: an answer %s: %v", id, body, err)
		}
		return &a, nil
	}
	failure := struct {
		Error *Refusal `json:"error"`
	}{}
	if err := json.Unmarshal(body, &failure); err != nil || failure.Error == nil ||
		failure.Error.Kind == "" {
		return nil, fmt.Errorf("request %q: %d: %s", id, status, body)
	}
	failure.Error.Status = status
	return nil, failure.Error
}

// Ask asks until there is an answer, or a refusal other than "not now".
func (c *Client) Ask(ctx context.Context, id string,
	counts []int) (a *Answer, tries int, err error) {
	for tries = 1; ; tries++ {
		a, err = c.Once(ctx, id, counts)
		if r, ok := err.(*Refusal); err == nil || ok && r.Status != http.StatusServiceUnavailable &&
			r.Kind != "rate" {
			return a, tries, err
		}
		select {
		case <-ctx.Done():
			return nil, tries, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(3 * time.Millisecond):
		}
	}
}
