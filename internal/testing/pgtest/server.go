// Package pgtest starts PostgreSQL for tests: a server of its own in a temporary directory, on a
// Unix socket, as an ordinary user, with the defaults of a new installation.
package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/darrm/darrm/internal/nobody"
)

// BinEnv names the directory of the programs initdb and postgres. Without it tests that need a
// server are skipped (make test-services sets it).
const BinEnv = "DARRM_TEST_POSTGRES"

// Main runs the tests of a package that judges nothing without a server. go test prints nothing of
// the skipped tests of a package that passes, but for the testing package's own warning: so the line
// of the package says [no tests to run] where no server was there.
func Main(m *testing.M) {
	code := m.Run()
	if os.Getenv(BinEnv) == "" {
		fmt.Printf("\ntesting: warning: no tests to run\nthose that need a server were skipped: %s\n", missing)
	}
	os.Exit(code)
}

const missing = BinEnv + " does not name a directory with PostgreSQL's programs (make test-services)"

// Server is a running server.
type Server struct {
	dir     string
	bin     string
	options []string
	process *exec.Cmd
	log     *os.File
}

// Start makes a server with settings such as "fsync=off", which ends with the test. It skips the
// test where BinEnv is not set.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	bin := os.Getenv(BinEnv)
	if bin == "" {
		t.Skip(missing)
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, nobody.ID, nobody.ID); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{dir: dir, bin: bin}
	for _, setting := range settings {
		s.options = append(s.options, "-c", setting)
	}
	init := s.command("initdb", "-D", filepath.Join(dir, "data"), "-U", "darrm", "-A", "trust", "-E",
		"UTF8", "--locale=C", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.run(t)
	t.Cleanup(s.Kill)
	return s
}

// command is a program of PostgreSQL, which refuses to be root.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	nobody.Run(c)
	return c
}

// run starts the server and waits until it answers.
func (s *Server) run(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	s.log = log
	// One that is killed leaves its shared memory behind: in its folder, which goes with the test.
	args := append([]string{"-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-c", "listen_addresses=",
		"-c", "dynamic_shared_memory_type=mmap"}, s.options...)
	s.process = s.command("postgres", args...)
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), s.URL(""))
		if err == nil {
			conn.Close(context.Background())
			return
		}
		if time.Since(start) > time.Minute {
			b, _ := os.ReadFile(log.Name())
			t.Fatalf("PostgreSQL does not start: %v\n%s", err, b[max(0, len(b)-2000):])
		}
	}
}

// URL is a location in the server's database, with the query's parameters.
func (s *Server) URL(query string) string {
	return "postgres://darrm@/postgres?host=" + s.dir + "&sslmode=disable&" + query
}

// Dir is a directory that goes with the server.
func (s *Server) Dir() string { return s.dir }

// Kill ends the server and its processes as a loss of power would end them, but for the disk.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	stop(s.process.Process.Pid) // so that it starts no more while they are listed
	children := childrenOf(s.process.Process.Pid)
	s.process.Process.Kill()
	for _, pid := range children {
		kill(pid)
	}
	s.process.Wait()
	for _, pid := range children { // until the shared memory has nobody left
		for alive(pid) && !zombie(pid) {
			time.Sleep(time.Millisecond)
		}
	}
	s.log.Close()
	s.process = nil
}

// Restart starts a killed server again; it recovers first.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.run(t)
}

// Exec runs a statement.
func (s *Server) Exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// childrenOf lists the processes that a process started.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		fields := statOf(path)
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func zombie(pid int) bool {
	fields := statOf(fmt.Sprintf("/proc/%d/stat", pid))
	return len(fields) == 0 || fields[0] == "Z"
}

// statOf returns the fields after the name, which may hold spaces: state, parent, ….
func statOf(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
}
