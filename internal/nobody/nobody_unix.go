//go:build unix

// Package nobody starts programs that refuse to be root, such as PostgreSQL, as another user.
package nobody

import (
	"os"
	"os/exec"
	"syscall"
)

// ID is the user and group that root's commands run as.
const ID = 65534

// Run lets c run as the user ID where this process is root.
func Run(c *exec.Cmd) {
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ID, Gid: ID}}
	}
}
