package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/pgtest"
	"github.com/darrm/darrm/ledger"
)

// Processes that are asked for one request at once: one is charged and releases, the others are
// refused, and the ledger has one charge and one result, that of the labels that are out.
func TestProcessesOnOneName(t *testing.T) {
	book := filepath.Join(t.TempDir(), "ledger")
	oneName(t, book, paid(t, book, 1e4, "march"))
}

// On PostgreSQL the same; and nothing shows the password of its location.
func TestPostgresOneName(t *testing.T) {
	s := pgtest.Start(t)
	location := s.URL("ledger=patients&secret=" + filepath.Join(t.TempDir(), "secret"))
	location = strings.Replace(location, "darrm@", "darrm:geheim@", 1)
	oneName(t, location, with(paid(t, location, 1e4, "march"), "--verbose"))
}

func oneName(t *testing.T, location string, payment []string) {
	t.Helper()
	const n = 3
	var dirs [n]string
	var codes [n]int
	var said [n]string
	var wait sync.WaitGroup
	for i := range n {
		dirs[i] = newFolder(t)
		wait.Go(func() { codes[i], _, said[i] = command(t, with(votesArgs(dirs[i]), payment...)...) })
	}
	wait.Wait()
	var released [][]byte
	for i, dir := range dirs {
		b, err := os.ReadFile(filepath.Join(dir, "labels.csv"))
		switch {
		case err == nil && codes[i] == 0:
			released = append(released, b)
		case !os.IsNotExist(err) || codes[i] != 7:
			t.Errorf("exit %d, %d bytes, %v: %s", codes[i], len(b), err, said[i])
		}
		if strings.Contains(said[i], "geheim") {
			t.Errorf("the password is shown: %s", said[i])
		}
		checkClean(t, dir)
	}
	h := history(t, location)
	if len(released) != 1 || len(h) != 2 || h[1].Result != ledger.Digest(sha256.Sum256(released[0])) {
		t.Errorf("%d releases, entries %+v", len(released), h)
	}
}

// A command that is stopped, at any time, leaves no key and nothing that is temporary. What is
// noted is published, and what is not noted is not; who asks again gets the labels that are there,
// or a refusal. Stops are at random times, over all the time that a run takes.
func TestStops(t *testing.T) {
	stops := 4
	if os.Getenv("DARRM_LONG") == "1" {
		stops = 100
	}
	began := time.Now()
	if code, _, said := command(t, votesArgs(newFolder(t))...); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	takes := time.Since(began)
	ends := map[int]int{}
	for i := range stops {
		dir := newFolder(t)
		book := filepath.Join(dir, "ledger")
		var said bytes.Buffer
		cmd := program(t, with(votesArgs(dir), paid(t, book, 1e4, "march")...)...)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rand.Float64() * float64(takes))
		time.Sleep(after)
		_ = cmd.Process.Signal([]os.Signal{syscall.SIGTERM, os.Interrupt}[i%2])
		_ = cmd.Wait()
		code := cmd.ProcessState.ExitCode()
		ends[code]++
		if code != 0 && code != 130 && code != -1 { // -1: by the signal, before the command takes it
			t.Errorf("stopped after %v: exit %d: %s", after, code, &said)
		}
		b, err := os.ReadFile(filepath.Join(dir, "labels.csv"))
		h := history(t, book)
		noted := len(h) == 2 && h[1].Result == ledger.Digest(sha256.Sum256(b))
		if noted != (err == nil) || noted != (code == 0) || len(h) == 2 && !noted {
			t.Errorf("stopped after %v: exit %d, entries %+v, %d bytes, %v: %s", after, code, h, len(b), err,
				&said)
		}
		checkClean(t, dir)
	}
	t.Logf("a run takes %v; exit codes %v", takes, ends)
}

// Workers in processes of their own, which the SDK's boot program starts, run the file that
// --worker_binary names, and find the key in --key-dir; without one they are refused. Their files
// are as the README has them.
func TestWorkerBinary(t *testing.T) {
	dir := newFolder(t)
	boot := filepath.Join(dir, "boot")
	build := exec.Command("go", "build", "-o", boot, "github.com/apache/beam/sdks/v2/go/container")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Prism wraps the worker's id in quotes, which the boot program takes for a part of it. That one
	// leaves a file where it runs.
	command := filepath.Join(dir, "boot.sh")
	script := fmt.Sprintf(
		"#!/bin/sh\nfor a do shift; set -- \"$@\" \"$(printf %%s \"$a\" | tr -d \"'\")\"; done\n"+
			"cd %s && exec %s --semi_persist_dir=%s \"$@\" >>boot.log 2>&1\n", dir, boot, dir)
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	args := with(votesArgs(dir), "--environment_type", "process", "--environment_config",
		fmt.Sprintf(`{"command": %q}`, command),
		"--worker_binary", must.Get(os.Executable())(t), "--attempt-timeout", "2m")
	cmd := program(t, args...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1866 labels") {
		b, _ := os.ReadFile(filepath.Join(dir, "boot.log"))
		t.Fatalf("%v: %s\n%.4000s", err, out, b)
	}
	b := must.Get(os.ReadFile(filepath.Join(dir, "labels.csv")))(t)
	if n := bytes.Count(b, []byte("\n")); n != 1867 {
		t.Errorf("%d lines", n)
	}
	checkClean(t, dir)
	cmd = program(t, with(args, "--worker_binary", filepath.Join(dir, "none"))...)
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 3 ||
		!strings.Contains(string(out), "--worker_binary") {
		t.Errorf("a worker that is not there: %v: %s", err, out)
	}
}
