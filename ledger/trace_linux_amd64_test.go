package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What a traced child did to its files, in order.
type fileOp struct {
	call uint64 // number of the system call
	// of the file, after a rename; "" for standard output, and for other calls that name files by
	// their paths
	path string
	from string // rename: the name before
	off  int64
	data []byte // write, pwrite64: what was written
	size int64  // ftruncate
}

// isWrite reports whether op puts data into a file.
func (op *fileOp) isWrite() bool {
	return op.call == unix.SYS_PWRITE64 || op.call == unix.SYS_WRITE && op.path != ""
}

// What to do with one of the calls of a child.
type interference int

const (
	leave      interference = iota
	killBefore              // kill -9 instead of the call
	killAfter               // kill -9 when it is done
	killMidway              // let it write half, then kill -9
	failCall                // do nothing and return an error
)

// calls that change files. All others pass.
var fileCalls = map[uint64]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync",
	unix.SYS_LINKAT: "linkat", unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2",
	unix.SYS_RENAME: "rename", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_MKDIRAT: "mkdirat",
}

type tracer struct {
	// decide is asked at the entry of the n-th call in fileCalls, counted from 0.
	decide func(n int, op *fileOp) interference
	errno  syscall.Errno // for failCall
	record func(fileOp)  // called at the exit; may be nil

	calls int
}

// run runs cmd under ptrace(2) and returns its standard output.
func (tr *tracer) run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	runtime.LockOSThread() // the tracer is a thread, not a process
	defer runtime.UnlockOSThread()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("tracing is not permitted here: ", err)
		}
		t.Fatal(err)
	}
	if err := tr.follow(cmd.Process.Pid); err != nil {
		cmd.Process.Kill()
		t.Fatal(err)
	}
	cmd.Process.Release()
	out, err := io.ReadAll(r) // fits the pipe: children print little
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// thread holds the state of one traced thread between two stops.
type thread struct {
	inside bool
	act    interference
	op     *fileOp
}

func (tr *tracer) follow(pid int) error {
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		return err
	}
	if err := syscall.PtraceSetOptions(pid,
		syscall.PTRACE_O_TRACECLONE|syscall.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL); err != nil {
		return err
	}
	threads := map[int]*thread{pid: {}}
	next := pid
	signal := 0
	for {
		if err := syscall.PtraceSyscall(next, signal); err != nil && err != syscall.ESRCH {
			return err // ESRCH: killed meanwhile; Wait4 tells
		}
		tid, err := syscall.Wait4(-pid, &ws, syscall.WALL, nil)
		if err == syscall.ECHILD {
			return nil
		}
		if err != nil {
			return err
		}
		next, signal = tid, 0
		switch {
		case ws.Exited() || ws.Signaled():
			if tid == pid {
				return nil
			}
			// The thread is gone; go on with any stopped one, of which there is
			// none to name: PtraceSyscall of a dead thread is ESRCH and harmless.
			continue
		case !ws.Stopped():
			continue
		case ws.StopSignal() == syscall.SIGTRAP|0x80:
			th := threads[tid]
			if th == nil {
				th = &thread{}
				threads[tid] = th
			}
			if err := tr.stop(pid, tid, th); err != nil && err != syscall.ESRCH {
				return err
			}
		case ws.StopSignal() == syscall.SIGTRAP: // a new thread
		case ws.StopSignal() == syscall.SIGSTOP && threads[tid] == nil:
			threads[tid] = &thread{} // how a new thread starts
		default:
			signal = int(ws.StopSignal())
		}
	}
}

// stop handles the entry and the exit of a system call.
func (tr *tracer) stop(pid, tid int, th *thread) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	th.inside = !th.inside
	if th.inside {
		return tr.enter(pid, tid, th, &regs)
	}
	act, op := th.act, th.op
	th.act, th.op = leave, nil
	if act == failCall {
		regs.Rax = uint64(-int64(tr.errno))
		return syscall.PtraceSetRegs(tid, &regs)
	}
	if op != nil && tr.record != nil && int64(regs.Rax) >= 0 {
		tr.record(*op)
	}
	if act == killAfter || act == killMidway {
		return syscall.Kill(pid, syscall.SIGKILL)
	}
	return nil
}

func (tr *tracer) enter(pid, tid int, th *thread, regs *syscall.PtraceRegs) error {
	call := regs.Orig_rax
	if fileCalls[call] == "" {
		return nil
	}
	var path string
	if call != unix.SYS_LINKAT && call != unix.SYS_RENAMEAT && call != unix.SYS_RENAMEAT2 &&
		call != unix.SYS_RENAME && call != unix.SYS_UNLINKAT && call != unix.SYS_MKDIRAT {
		var err error
		if path, err = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, regs.Rdi)); err != nil {
			return err
		}
		if regs.Rdi != 1 && !filepath.IsAbs(path) {
			return nil // the runtime's own pipes and event counters
		}
		if regs.Rdi == 1 {
			path = ""
		}
	}
	n := tr.calls
	tr.calls++
	th.op = &fileOp{call: call, path: path, off: int64(regs.R10), size: int64(regs.Rsi)}
	var err error
	switch {
	case call == unix.SYS_RENAMEAT || call == unix.SYS_RENAMEAT2:
		if th.op.from, err = readPath(pid, regs.Rsi); err == nil {
			th.op.path, err = readPath(pid, regs.R10)
		}
	case th.op.isWrite() && tr.record != nil:
		th.op.data = make([]byte, regs.Rdx)
		_, err = readMemory(pid, regs.Rsi, th.op.data)
	}
	if err != nil {
		return err
	}
	if tr.decide == nil {
		return nil
	}
	th.act = tr.decide(n, th.op)
	switch th.act {
	case killBefore:
		return syscall.Kill(pid, syscall.SIGKILL)
	case killMidway:
		if call == unix.SYS_PWRITE64 || call == unix.SYS_WRITE {
			regs.Rdx /= 2
			th.op.data = th.op.data[:min(uint64(len(th.op.data)), regs.Rdx)]
			return syscall.PtraceSetRegs(tid, regs)
		}
	case failCall:
		regs.Orig_rax = ^uint64(0) // no such call: the kernel does nothing
		return syscall.PtraceSetRegs(tid, regs)
	}
	return nil
}

func readMemory(pid int, at uint64, b []byte) (int, error) {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return 0, err
	}
	defer mem.Close()
	n, err := mem.ReadAt(b, int64(at))
	if n > 0 {
		err = nil
	}
	return n, err
}

func readPath(pid int, at uint64) (string, error) {
	b := make([]byte, unix.PathMax)
	n, err := readMemory(pid, at, b)
	path, _, _ := strings.Cut(string(b[:n]), "\x00")
	return path, err
}
