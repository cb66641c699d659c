package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/darrm/darrm/internal/nobody"
)

// fsyncs appends as many bytes as a charge has, and forces them to disk.
func fsyncs(folder string) (once func() error, end func(), err error) {
	f, err := os.Create(filepath.Join(folder, "floor"))
	if err != nil {
		return nil, nil, err
	}
	line := make([]byte, 600)
	once = func() error {
		if _, err := f.Write(line); err != nil {
			return err
		}
		return f.Sync()
	}
	return once, func() { f.Close() }, nil
}

// commits inserts as many bytes into a table, in a transaction of its own.
func commits(ctx context.Context, location string) (once func() error, end func(), err error) {
	conn, err := pgx.Connect(ctx, location)
	if err != nil {
		return nil, nil, err
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE floor (line bytea)"); err != nil {
		return nil, nil, err
	}
	line := make([]byte, 600)
	once = func() error {
		_, err := conn.Exec(ctx, "INSERT INTO floor VALUES ($1)", line)
		return err
	}
	return once, func() { conn.Close(ctx) }, nil
}

// database is a PostgreSQL of its own, with the defaults of a new installation.
type database struct {
	location string
	process  *exec.Cmd
	folder   string
}

// startPostgres starts one on a Unix socket, as an ordinary user: it refuses to be root.
func startPostgres(bin string) (*database, error) {
	// a socket's name has little room, and the user must reach it
	folder, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.Stderr = folder, nil
		nobody.Run(c)
		return c
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(folder, nobody.ID, nobody.ID); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(folder, "data")
	if out, err := run("initdb", "-D", data, "-U", "darrm", "-A", "trust", "-E", "UTF8",
		"--locale=C").CombinedOutput(); err != nil {
		return nil, errors.New("initdb: " + string(out))
	}
	d := &database{location: "postgres://darrm@/postgres?host=" + folder + "&sslmode=disable&",
		folder: folder}
	d.process = run("postgres", "-D", data, "-k", folder, "-c", "listen_addresses=")
	if err := d.process.Start(); err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), d.location)
		if err == nil {
			return d, conn.Close(context.Background())
		}
		if time.Since(start) > time.Minute {
			d.stop()
			return nil, err
		}
	}
}

func (d *database) stop() {
	_ = d.process.Process.Signal(os.Interrupt) // it has nothing that must be kept
	_ = d.process.Wait()
	os.RemoveAll(d.folder)
}
