package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/darrm/darrm/internal/testing/raced"
)

// A realDisk is a file system of its own on a loop device, whose power can be cut: the ioctl
// EXT4_IOC_SHUTDOWN, which xfstests use, lets no byte reach the device any more, not even of the
// journal. The next mount replays what the journal has. Unlike the power failures of
// TestPowerFailure, which leave what A2 allows, these leave what ext4 really does. dm-flakey, which
// needs the kernel's device mapper, would do the same; what reached the device stays there with
// both.
type realDisk struct {
	t             *testing.T
	image, folder string
	mode          string // of data: ordered, writeback or journal
}

const (
	extShutdown    = 0x8004587d // _IOR('X', 125, __u32)
	extNoFlushLogs = 2
)

// newRealDisk skips the test where this machine has no loop devices, no ext4 or no root rights.
func newRealDisk(t *testing.T, mode string) *realDisk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	dir := t.TempDir()
	d := &realDisk{t: t, image: filepath.Join(dir, "image"), folder: filepath.Join(dir, "disk"),
		mode: mode}
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, 16<<20),
		os.Mkdir(d.folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v %s", err, out)
	}
	if out, err := d.mount(); err != nil {
		t.Skipf("mount -o loop: %v %s", err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.folder, unix.MNT_DETACH) })
	return d
}

func (d *realDisk) mount() ([]byte, error) {
	return exec.Command("mount", "-t", "ext4", "-o", "loop,data="+d.mode, d.image,
		d.folder).CombinedOutput()
}

// cut cuts the power.
func (d *realDisk) cut() error {
	f, err := os.Open(d.folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), extShutdown, extNoFlushLogs)
}

// restart mounts the disk again, once nobody uses it.
func (d *realDisk) restart() {
	d.t.Helper()
	err := unix.Unmount(d.folder, 0)
	for range 100 {
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		err = unix.Unmount(d.folder, 0)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if out, err := d.mount(); err != nil {
		d.t.Fatalf("%v %s", err, out)
	}
}

// interrupted runs a child that charges, and cuts the power some time after it has released
// the first of its charges. It adds what was released to s.
func (d *realDisk) interrupted(s *said, mode, path, prefix string, wait time.Duration) {
	d.t.Helper()
	c := child(mode, path, prefix, 10_000)
	out, err := c.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil || !strings.HasPrefix(first, "released ") {
		d.t.Errorf("the child says %q, %v", first, err)
	}
	time.Sleep(wait)
	if err := d.cut(); err != nil {
		d.t.Fatal(err)
	}
	// What it releases from now on is released all the same.
	rest, err := io.ReadAll(lines)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = c.Wait() // it fails, without a disk
	released := ""
	for line := range strings.Lines(first + string(rest)) {
		if strings.HasPrefix(line, "released ") { // the others are errors, of many lines each
			released += line
		}
	}
	s.read(d.t, released)
}

// The power of a real file system fails at any time while a ledger is made and charged: it
// opens, and what was released is charged. A program that releases before it charges is found
// out by the same test.
func TestPowerFailureOnExt4(t *testing.T) {
	if raced.Enabled {
		t.Skip("the disk's power fails for other processes, in which the race detector adds nothing")
	}
	rounds := 4
	if long {
		rounds = 60
	}
	for _, mode := range []string{"ordered", "writeback", "journal"} {
		t.Run(mode, func(t *testing.T) {
			d := newRealDisk(t, mode)
			path := filepath.Join(d.folder, "ledger")
			rng := rand.New(rand.NewPCG(1, 2))
			var s said
			for i := range rounds {
				d.interrupted(&s, "create", path, fmt.Sprint("round ", i),
					time.Duration(rng.Int64N(int64(20*time.Millisecond))))
				d.restart()
				if v := s.violation(path); v != "" {
					t.Fatalf("round %d, %d released: %s", i, len(s.released), v)
				}
			}
			t.Logf("%d power failures, %d released", rounds, len(s.released))
			for i := range 50 {
				d.interrupted(&s, "release first", path, fmt.Sprint("mutant ", i),
					time.Duration(rng.Int64N(int64(20*time.Millisecond))))
				d.restart()
				if s.violation(path) != "" {
					return
				}
			}
			t.Error("a program that releases before it charges was not found out")
		})
	}
}
