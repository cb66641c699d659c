// Private answers from a server, one query at a time, with the standard library alone.
//
//	darrm serve --ledger patients.ledger … --listen unix:/run/darrm/serve.sock
//	go run ./examples/serve /run/darrm/serve.sock
//
// It asks about three images, in which eleven teachers voted 0 or 1. A request that got no response,
// and one that the server puts off, is sent again under the same request id: the server charges an id
// once and gives it the same answer for ever. Then it asks once more about the first image, which costs
// nothing, and with other votes under the same id, which is refused.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// question is one query: how many teachers vote for each class.
type question struct {
	ID     string `json:"request_id"`
	Counts []int  `json:"counts"`
}

// answer is what this program reads of a response; openapi.json has all of it.
type answer struct {
	Label     *string `json:"label"` // nil where the mechanism abstained
	Replayed  bool    `json:"replayed"`
	Remaining struct {
		Epsilon, Delta json.Number // exact decimals
	} `json:"remaining"`
}

// refusal is a response that is no answer.
type refusal struct {
	Status  int    `json:"-"`
	Kind    string `json:"kind"` // for programs, such as "budget"
	Message string `json:"message"`
}

func (r *refusal) Error() string { return r.Kind + ": " + r.Message }

// ask sends the question until it is answered or refused, or ctx ends.
func ask(ctx context.Context, c *http.Client, q question) (*answer, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		a, wait, err := once(ctx, c, body)
		var r *refusal
		if err == nil || errors.As(err, &r) && wait == 0 {
			return a, err
		}
		select {
		case <-time.After(max(pause, wait)):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, at last: %w", ctx.Err(), err)
		}
	}
}

// once sends it once. wait is how long the server asks to wait before it is sent again.
func once(ctx context.Context, c *http.Client, body []byte) (a *answer, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://darrm/v1/answers", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, 0, err
	}
	if response.StatusCode == http.StatusOK {
		return a, 0, json.Unmarshal(text, &a)
	}
	failure := struct{ Error *refusal }{&refusal{Kind: "unavailable", Message: response.Status}}
	if err := json.Unmarshal(text, &failure); err != nil {
		return nil, 0, err
	}
	failure.Error.Status = response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		wait = time.Duration(seconds) * time.Second
	}
	return nil, wait, failure.Error
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: serve SOCKET")
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", os.Args[1])
		},
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, q := range []question{{"image-1", []int{0, 11}}, {"image-2", []int{10, 1}}, {"image-3", []int{5, 6}}, {"image-1", []int{0, 11}}, {"image-1", []int{11, 0}}} {
		a, err := ask(ctx, client, q)
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			fmt.Printf("%s: refused, %s\n", q.ID, refused.Kind)
		case err != nil:
			log.Fatal(err)
		case a.Label == nil:
			fmt.Printf("%s: no label\n", q.ID)
		default:
			fmt.Printf("%s: %s, charged before: %v, (%s, %s) is left\n", q.ID, *a.Label, a.Replayed, a.Remaining.Epsilon, a.Remaining.Delta)
		}
	}
}
