package lineartest

import (
	"os/exec"
	"strings"
	"testing"
)

// No package that another module can import needs the checker: a ledger for tests brings the ledger
// alone into its go.mod.
func TestNobodyOutsideNeedsTheChecker(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(goTool, "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const checker = "github.com/anishathalye/porcupine"
	found, public, fake := 0, 0, false
	for line := range strings.Lines(string(out)) {
		path, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		needs := strings.Contains(" "+deps+" ", " "+checker+" ")
		if strings.Contains(path+"/", "/internal/") {
			if needs {
				found++
			}
			continue
		}
		public++
		fake = fake || strings.HasSuffix(path, "/ledger/ledgertest")
		if needs {
			t.Errorf("%s needs %s", path, checker)
		}
	}
	if found == 0 || public < 50 || !fake {
		t.Errorf("%d packages need it, %d others were looked at, ledgertest among them: %t", found, public, fake)
	}
}
