//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/release/exitcode"
	"github.com/darrm/darrm/serve"
)

// The command serves what its configuration says, reads the clients anew at SIGHUP and keeps the
// old ones where the file is wrong, finishes at SIGTERM with 0, and writes neither votes nor labels
// nor tokens.
func TestServeCommand(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "serve") // the name of a socket has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	book := makeLedger(t, dir)
	config, socket := filepath.Join(dir, "serve.toml"), filepath.Join(dir, "s")
	old, oldHash := serve.NewToken()
	next, nextHash := serve.NewToken()
	affected := 1
	write := func(hash string) {
		t.Helper()
		text := fmt.Sprintf(
			"mechanism = \"permute-and-flip\"\nK = 5\nclasses = [\"no\", \"zebrafinch\"]\nlabel-eps = "+
				"0.25\naffected = %d\nledger = %q\nkey = %q\nlisten = %q\n[[client]]\nname = "+
				"\"ward\"\ntoken_sha256 = [%q]\n",
			affected, book, filepath.Join(dir, "key"), "unix:"+socket, hash)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(oldHash)
	c := process(t, dir, "serve", "--config", config, "--json")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	var started struct{ Listen string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&started); err != nil ||
		started.Listen != "unix:"+socket {
		t.Fatalf("%+v, %v: %s", started, err, &stderr)
	}
	client := http.Client{Timeout: time.Minute,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	send := func(token, method, path, body string) (int, string) {
		t.Helper()
		r, _ := http.NewRequestWithContext(t.Context(), method, "http://darrm"+path,
			strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		b, _ := io.ReadAll(w.Body)
		return w.StatusCode, string(b)
	}
	post := func(token, body string) (int, string) {
		t.Helper()
		return send(token, "POST", "/v1/answers", body)
	}
	get := func(token, path string) string {
		t.Helper()
		_, body := send(token, "GET", path, "")
		return body
	}
	const replayKey = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	const query = `{"request_id":"a","replay_key":"` + replayKey +
		`","votes":["zebrafinch","zebrafinch",1,1,1]}`
	status, first := post(old, query)
	if status != 200 {
		t.Fatal(status, first)
	}
	if status, _ := post(next, query); status != 401 {
		t.Errorf("a token that nobody has: %d", status)
	}
	until := func(token string, want int) {
		t.Helper()
		for range 600 {
			if status, _ := post(token, query); status == want {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("no %d", want)
	}
	write(nextHash)
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(next, 200)
	if status, _ := post(old, query); status != 401 {
		t.Errorf("a token that was taken away: %d", status)
	}
	write("wrong")
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	// With a key that a server takes at its start alone, nothing of the file is in effect.
	affected = 2
	write(oldHash)
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if status, _ := post(old, query); status != 401 {
		t.Errorf("a client of a file that is not in effect: %d", status)
	}
	affected = 1
	if status, body := post(next, query); status != 200 ||
		!strings.Contains(body, `"replayed":true`) || !strings.Contains(body, first[:40]) {
		t.Errorf("%d %s, first %s", status, body, first)
	}
	for _, other := range []string{`{"request_id":"a","replay_key":"` + replayKey +
		`","votes":[0,0,0,0,0]}`, `{"request_id":"a","votes":["zebrafinch","zebrafinch",1,1,1]}`} {
		if status, body := post(next, other); status != 409 {
			t.Errorf("%d %s", status, body)
		}
	}
	for _, path := range []string{"/", "/v1/budget", "/v1/mechanism", "/metrics"} {
		if body := get(next, path); strings.Contains(body, replayKey) || len(body) < 100 {
			t.Errorf("%s: %s", path, body)
		}
	}
	// What was stated of the teachers is repeated.
	const reach = "one record reaches at most 1 of the 5 teachers"
	for path, stated := range map[string]string{"/": reach,
		"/v1/mechanism": `"stated":{"epsilon":null,"delta":0,"affected":1}`} {
		if body := get(next, path); !strings.Contains(body, stated) {
			t.Errorf("%s has no %s: %s", path, stated, body)
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, &stderr)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there")
	}
	for _, told := range []string{`"msg":"listening"`, reach,
		`"msg":"clients and certificates read anew"`,
		`"msg":"the configuration stays as it was, and nothing of the file is in effect"`,
		"affected differ from those that the server was started with", `"kind":"conflict"`, `"msg":"stopped"`} {
		if !strings.Contains(stderr.String(), told) {
			t.Errorf("stderr has no %s: %s", told, &stderr)
		}
	}
	for _, secret := range []string{"zebrafinch", old, next, oldHash, nextHash, replayKey} {
		if strings.Contains(stderr.String(), secret) {
			t.Errorf("%q is told: %s", secret, &stderr)
		}
	}
	if h := historyOf(t, book); len(h) != 2 {
		t.Errorf("%d entries", len(h))
	}
	// Another key is refused, and the error names the flag that accepts it.
	write(nextHash)
	another := process(t, dir, "serve", "--config", config, "--key", filepath.Join(dir, "other"))
	if said, err := another.CombinedOutput(); another.ProcessState.ExitCode() != int(exitcode.Input) ||
		!strings.Contains(string(said), "--new-key") {
		t.Errorf("%v: %s", err, said)
	}
}

// A server whose table tells the classes apart says how it treats them; another does not.
func TestServerTellsClassesApart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for shares, told := range map[string]bool{"no=.9,yes=.1": true, "": false} {
		folder, err := os.MkdirTemp("", "by") // the name of a socket has little room
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(folder) })
		program, socket, book := filepath.Join(folder, "darrm"), filepath.Join(folder, "s"), filepath.Join(folder, "l")
		if err := os.Symlink(self, program); err != nil { // TestMain goes by the name
			t.Fatal(err)
		}
		if out, err := process(t, folder, "budget", "init", book, "--eps", "9", "--delta", "0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s := &servetest.Server{Program: program, Socket: socket, Env: []string{"DARRM_CACHE=" + folder},
			Args: []string{"serve", "--listen", "unix:" + socket, "--ledger", book, "--key", filepath.Join(folder, "key"), "--K", "25",
				"--classes", "no,yes", "--eps", "inf", "--label-eps", "0.3", "--affected", "1", "--shares=" + shares}}
		start(t, s)
		c := servetest.NewClient(socket)
		got, err := c.Get(t.Context(), "/v1/mechanism")
		c.Close()
		s.Kill()
		by, _ := got["by_class"].(map[string]any)
		if err != nil || (by != nil) != told || told && (by["constant"] != "no" || by["tells"] != true) {
			t.Errorf("shares %q: %v, %v", shares, by, err)
		}
	}
}
