// Package peers finds the programs that comparisons run.
package peers

import (
	"fmt"
	"os"
	"os/exec"
)

// Python returns a Python that imports these modules, separated by commas: $PYTHON if set, else the
// first in PATH or the system's own.
func Python(modules string) (string, error) {
	candidates := []string{"python3", "/usr/bin/python3"}
	if p := os.Getenv("PYTHON"); p != "" {
		candidates = []string{p}
	}
	for _, p := range candidates {
		if exec.Command(p, "-c", "import "+modules).Run() == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf(
		"no Python with %s; apt-get install python3-numpy, or set PYTHON to one that has it", modules)
}
