//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/servetest"
)

// Labels that were answered on line are answered again by a build with another solver, with an empty
// cache, and new ones by the same table: plain Go after HiGHS and HiGHS after plain Go. It skips where
// HiGHS is not found.
func TestOtherSolverRepeats(t *testing.T) {
	t.Parallel()
	found, err := exec.Command("../../scripts/highs", "found").Output()
	if err != nil || len(found) == 0 {
		t.Skip("HiGHS is not found: make highs builds it")
	}
	folder, err := os.MkdirTemp("", "solvers") // the name of a socket has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	build := func(name, environment string) string {
		program := filepath.Join(folder, name)
		c := exec.CommandContext(t.Context(), "sh", "-c", environment+"\nexec go build -ldflags='-s -w' -o \"$0\" .", program)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
		return program
	}
	// Without the tag plain Go solves, and all packages that solve nothing are those of this test.
	plain := build("plain", "export GOFLAGS='"+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-tags=highs", "")+"'")
	highs := build("highs", "export CGO_ENABLED=1\n"+string(found))

	for _, order := range [][]string{{plain, highs}, {highs, plain}} {
		for name, mechanism := range map[string]string{
			"noise":     "--K 25 --classes 0,1 --eps inf --affected 1 --label-eps 0.3 --delta 1e-6",
			"plurality": "--K 12 --classes a,b,c --eps inf --affected 1 --label-eps 0.4",
		} {
			t.Run(name+" by "+filepath.Base(order[0])+" first", func(t *testing.T) {
				at, err := os.MkdirTemp(folder, "l")
				if err != nil {
					t.Fatal(err)
				}
				book := filepath.Join(at, "l")
				if out, err := exec.Command(plain, "budget", "init", book, "--eps", "9", "--delta",
					"1e-3").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				answers := func(program string, known int) (labels []string) {
					cache, err := os.MkdirTemp(at, "c")
					if err != nil {
						t.Fatal(err)
					}
					socket := filepath.Join(at, "s")
					s := &servetest.Server{Program: program, Socket: socket, Env: []string{"DARRM_CACHE=" + cache},
						Args: append([]string{"serve", "--listen", "unix:" + socket, "--ledger", book, "--key",
							filepath.Join(at, "key")}, strings.Fields(mechanism)...)}
					start(t, s)
					defer s.Kill()
					c := servetest.NewClient(socket)
					defer c.Close()
					counts := []int{13, 12}
					if name == "plurality" {
						counts = []int{5, 4, 3}
					}
					for i := range known + 6 {
						a, err := c.Once(t.Context(), fmt.Sprintf("q-%d", i), counts)
						if err != nil {
							t.Fatalf("%s, question %d: %v", filepath.Base(program), i, err)
						}
						if a.Replayed != (i < known) {
							t.Errorf("%s, question %d: replayed %t", filepath.Base(program), i, a.Replayed)
						}
						labels = append(labels, strconv.Itoa(*a.Class))
					}
					return labels
				}
				first := answers(order[0], 0)
				again := answers(order[1], len(first))
				if got := again[:len(first)]; strings.Join(got, " ") != strings.Join(first, " ") {
					t.Errorf("%v are the first answers, and %v those of the other build", first, got)
				}
			})
		}
	}
	for _, order := range [][]string{{plain, highs}, {highs, plain}} {
		t.Run("months by "+filepath.Base(order[0])+" first", func(t *testing.T) {
			at := t.TempDir()
			month := func(program, name string) (spent string) {
				file := filepath.Join(at, name+".csv")
				rows := "id,t1,t2,t3,t4,t5,t6,t7,t8,t9,t10,t11,t12\n" + name + strings.Repeat(",a", 7) + strings.Repeat(",b", 3) +
					",c,c\n"
				if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
					t.Fatal(err)
				}
				run := func(args ...string) string {
					c := exec.Command(program, args...)
					c.Env = append(os.Environ(), "DARRM_CACHE="+t.TempDir())
					out, err := c.CombinedOutput()
					if err != nil {
						t.Fatalf("%s %s: %v\n%s", filepath.Base(program), args, err, out)
					}
					return string(out)
				}
				book := filepath.Join(at, "l")
				if _, err := os.Stat(book); err != nil {
					run("budget", "init", book, "--eps", "9", "--delta", "0")
				}
				run("aggregate", file, "--classes", "a,b,c", "--data", "disjoint", "--budget-eps", "4", "--budget-delta", "0",
					"--queries", "3", "--ledger", book, "--request-id", name, "--out", filepath.Join(at, name+"-labels.csv"))
				return run("budget", "show", book)
			}
			month(order[0], "march")
			month(order[1], "april") // of the charge that march made
			got := month(order[1], "march")
			if !strings.Contains(got, "2 of 3 labels taken, 1 left") || strings.Count(got, "labels taken") != 1 {
				t.Errorf("%s", got)
			}
		})
	}
}
