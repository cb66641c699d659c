// Private answers from a server, one query at a time, with the standard library alone.
//
//	darrm serve --ledger patients.ledger … --listen unix:/run/darrm/serve.sock
//	go run ./examples/serve /run/darrm/serve.sock replay.secret
//
// It asks about three images, in which eleven teachers voted 0 or 1. A request that got no
// response, and one that the server puts off, is sent again under the same request id: the server
// charges an id once, and gives the answer again to who shows the replay key that came first. The
// keys come from a secret in a file, made where there is none, so that the program can be started
// again. Then it asks once more about the first image, which costs nothing, and with other votes
// under the same id, which is refused.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// question is one query: how many teachers vote for each class.
type question struct {
	ID        string `json:"request_id"`
	ReplayKey string `json:"replay_key"` // whoever has it, and the counts, is given the answer
	Counts    []int  `json:"counts"`
}

// readSecret reads 32 random bytes from the file at path, and makes it where there is none. It is
// on disk before anything is asked: without it nothing is answered twice.
func readSecret(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		secret := make([]byte, 32)
		rand.Read(secret) // never fails
		_, err = f.Write(secret)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	secret, err := os.ReadFile(path)
	if err == nil && len(secret) != 32 {
		err = fmt.Errorf("%s is no secret of 32 bytes", path)
	}
	return secret, err
}

// replayKey returns the replay key of a request id: nothing but the secret need be kept.
func replayKey(secret []byte, id string) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(id))
	return hex.EncodeToString(h.Sum(nil))
}

// answer holds the fields of a response that this program reads. openapi.json has all of them.
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
func once(ctx context.Context, c *http.Client,
	body []byte) (a *answer, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://darrm/v1/answers",
		bytes.NewReader(body))
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
	if len(os.Args) != 3 {
		log.Fatal("usage: serve SOCKET SECRET")
	}
	secret, err := readSecret(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", os.Args[1])
		},
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, q := range []question{
		{ID: "image-1", Counts: []int{0, 11}}, {ID: "image-2", Counts: []int{10, 1}},
		{ID: "image-3", Counts: []int{5, 6}},
		{ID: "image-1", Counts: []int{0, 11}}, {ID: "image-1", Counts: []int{11, 0}},
	} {
		q.ReplayKey = replayKey(secret, q.ID)
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
			fmt.Printf("%s: %s, charged before: %v, (%s, %s) is left\n", q.ID, *a.Label, a.Replayed,
				a.Remaining.Epsilon, a.Remaining.Delta)
		}
	}
}
