// Package servetest runs servers of private answers as processes, kills them, and asks them as
// clients do. Tests of the program and the benchmarks share it.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package servetest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Server is a server that listens on a Unix socket.
type Server struct {
	Program string
	Args    []string // all of them, with the socket
	Env     []string // beside this process's
	Socket  string

	mu   sync.Mutex
	c    *exec.Cmd
	said bytes.Buffer
	done chan struct{}
}

// Start starts the process and waits until it reports that it can answer.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	c := exec.Command(s.Program, s.Args...)
	c.Env = append(os.Environ(), s.Env...)
	s.said.Reset()
	c.Stdout, c.Stderr = nil, &s.said
	err := c.Start()
	done := make(chan struct{})
	s.c, s.done = c, done
	s.mu.Unlock()
	if err != nil {
		return err
	}
	go func() {
		_ = c.Wait() // how it ends is the caller's to judge
		close(done)
	}()
	client := NewClient(s.Socket)
	defer client.Close()
	for {
		if status, _, err := client.get(ctx, "/healthz"); err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("the server ended: %v: %s", c.ProcessState, s.said.String())
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w: %s", ctx.Err(), s.said.String())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Kill ends the process as a loss of power ends it, and waits until it is gone.
func (s *Server) Kill() { s.end(os.Kill) }

// Stop asks the process to end, waits, and returns its exit code and what it wrote to stderr.
func (s *Server) Stop() (code int, said string) {
	s.end(os.Interrupt)
	return s.c.ProcessState.ExitCode(), s.said.String()
}

func (s *Server) end(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.c.Process.Signal(signal) // it may have ended by itself
	<-s.done
}

// PID is the number of the process.
func (s *Server) PID() int { return s.c.Process.Pid }
