package scripts

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What an operator has put beside the package.
var ofTheOperator = map[string]string{
	"var/lib/darrm/service.key":                        "a key\n",
	"var/lib/darrm/patients.ledger":                    "what was spent\n",
	"var/lib/darrm/.pgpass":                            "a password\n",
	"etc/darrm/serve.toml":                             "listen = \"unix:/run/darrm/serve.sock\"\n",
	"etc/systemd/system/darrm.service.d/database.conf": "[Service]\n",
}

const (
	saysOfFolders = "darrm: /var/lib/darrm stays: it has what an operator put there, ledgers and secrets among it\n" +
		"darrm: /etc/darrm stays: it has what an operator put there, ledgers and secrets among it\n" +
		"darrm: /etc/systemd/system/darrm.service.d stays: it has what an operator put there, ledgers and secrets among it\n"
	saysOfUser = "darrm: the user and the group darrm stay: files that are left are theirs\n"
)

// A machine is a root folder that dpkg works on without entering it. Programs that the package's
// scripts call are stand-ins, so that nothing of the real machine is changed.
type machine struct {
	root, bin, deb, calls string
	user                  bool
}

// newMachine has the package's files, as packaging/nfpm.yaml places them, with these scripts.
func newMachine(t *testing.T, user bool, scripts map[string]string) *machine {
	t.Helper()
	for _, need := range []string{"dpkg", "dpkg-deb"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skip(err)
		}
	}
	temp := t.TempDir()
	m := &machine{root: filepath.Join(temp, "root"), bin: filepath.Join(temp, "bin"),
		deb: filepath.Join(temp, "darrm.deb"), calls: filepath.Join(temp, "calls"), user: user}
	tree := filepath.Join(temp, "tree")
	m.write(t, tree, "DEBIAN/control", "Package: darrm\nVersion: 0.1.0\nArchitecture: all\n"+
		"Maintainer: darrm <darrm@example.org>\nDescription: votes\n")
	for name, text := range scripts {
		m.write(t, tree, "DEBIAN/"+name, text)
	}
	for _, name := range packaged(t) {
		m.write(t, tree, name, "of the package\n")
	}
	for _, name := range []string{"systemctl", "getent", "userdel", "deluser", "groupdel", "delgroup"} {
		ends := 0
		if name == "getent" && !user {
			ends = 2
		}
		m.write(t, m.bin, name, fmt.Sprintf("#!/bin/sh\n[ %s = getent ] || echo \"%[1]s $*\" >>%q\nexit %d\n",
			name, m.calls, ends))
	}
	for _, name := range []string{"status", "available", "info/x", "updates/x", "triggers/x"} {
		m.write(t, m.root, "var/lib/dpkg/"+name, "")
	}
	for _, x := range []string{"info", "updates", "triggers"} {
		if err := os.Remove(filepath.Join(m.root, "var/lib/dpkg", x, "x")); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("dpkg-deb", "--root-owner-group", "--build", tree, m.deb).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return m
}

func (m *machine) write(t *testing.T, under, name, text string) {
	t.Helper()
	path := filepath.Join(under, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// dpkg returns what the package's scripts say.
func (m *machine) dpkg(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("dpkg", append([]string{"--root=" + m.root, "--log=/dev/null", "--force-not-root",
		"--force-script-chrootless", "--force-bad-path", "--force-unsafe-io", "--no-triggers"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+m.bin+":"+os.Getenv("PATH"), "LC_ALL=C")
	var says strings.Builder
	cmd.Stderr = &says
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, out, says.String())
	}
	var own strings.Builder
	for line := range strings.Lines(says.String()) {
		if !strings.HasPrefix(line, "dpkg: warning: ") {
			own.WriteString(line)
		}
	}
	return own.String()
}

// called is what the scripts asked systemd and the lists of users for, since it was last asked.
func (m *machine) called(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(m.calls)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.calls, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files are those of the machine but dpkg's own, with their contents.
func (m *machine) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(m.root, path)
		if err != nil || strings.HasPrefix(name, "var/lib/dpkg/") {
			return err
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// packaged lists where packaging/nfpm.yaml puts files, with one for each tree.
func packaged(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../packaging/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, dst := range regexp.MustCompile(`(?m)^ +dst: /(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		name := dst[1]
		if strings.HasSuffix(name, "/") {
			name += "one"
		}
		all = append(all, name)
	}
	if len(all) < 9 || !slices.Contains(all, "usr/bin/darrm") {
		t.Fatalf("the package has %v", all)
	}
	return all
}

// packageScripts are prerm and postrm. What postinst makes is made by the tests.
func packageScripts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"prerm", "postrm"} {
		text, err := os.ReadFile("../packaging/debian/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// purgeFaults removes and purges a package with these scripts, and returns what is not as it should be.
func purgeFaults(t *testing.T, scripts map[string]string, user, systemd bool, beside map[string]string,
	says string) (faults []string) {
	t.Helper()
	m := newMachine(t, user, scripts)
	want := func(what, got, want string) {
		if got != want {
			faults = append(faults, fmt.Sprintf("%s: %q, want %q", what, got, want))
		}
	}
	var reload, disable string
	if systemd {
		if err := os.MkdirAll(filepath.Join(m.root, "run/systemd/system"), 0o755); err != nil {
			t.Fatal(err)
		}
		reload, disable = "systemctl daemon-reload\n", "systemctl disable --now darrm.service\n"
	}
	for _, dir := range []string{"var/lib/darrm", "etc/darrm", "etc/systemd/system/darrm.service.d"} {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.dpkg(t, "--install", m.deb)
	for name, text := range beside {
		m.write(t, m.root, name, text)
	}
	if installed := m.files(t); len(installed) != len(packaged(t))+len(beside) {
		t.Fatalf("installed: %v", slices.Sorted(maps.Keys(installed)))
	}
	m.called(t)
	want("an upgrade says", m.dpkg(t, "--install", m.deb), "")
	want("an upgrade calls", m.called(t), reload)
	want("a removal says", m.dpkg(t, "--remove", "darrm"), "")
	want("a removal calls", m.called(t), disable+reload)
	want("a removal leaves", fmt.Sprint(m.files(t)), fmt.Sprint(beside))
	m.dpkg(t, "--install", m.deb)
	m.called(t)
	want("a purge says", m.dpkg(t, "--purge", "darrm"), says)
	want("a purge calls", m.called(t), disable+reload+reload)
	want("a purge leaves", fmt.Sprint(m.files(t)), fmt.Sprint(beside))
	return faults
}

// A purge takes the package's own files and nothing else: ledgers, keys, configuration and the user
// stay, and it says so of each of them that is there. A removal says nothing and leaves as much.
func TestPurge(t *testing.T) {
	for _, c := range []struct {
		name          string
		user, systemd bool
		beside        map[string]string
		says          string
	}{
		{"everything is there", true, true, ofTheOperator, saysOfFolders + saysOfUser},
		{"no systemd", true, false, ofTheOperator, saysOfFolders + saysOfUser},
		{"the user is gone", false, true, ofTheOperator, saysOfFolders},
		{"nothing was put there", true, true, map[string]string{}, saysOfUser},
		{"nothing is left", false, true, map[string]string{}, ""},
		{"a hidden file", false, true, map[string]string{"var/lib/darrm/.pgpass": "a password\n"},
			strings.SplitAfter(saysOfFolders, "\n")[0]},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, fault := range purgeFaults(t, packageScripts(t), c.user, c.systemd, c.beside, c.says) {
				t.Error(fault)
			}
		})
	}
}

// Each of these changes of the scripts is noticed.
func TestPurgeOfOtherScripts(t *testing.T) {
	const loop = "\tfor dir in /var/lib/darrm "
	for _, c := range []struct{ name, script, old, next string }{
		{"ledgers are removed", "postrm", loop, "\trm -rf \"$DPKG_ROOT\"/var/lib/darrm/*.ledger\n" + loop},
		{"what is hidden is removed", "postrm", loop, "\trm -f \"$DPKG_ROOT\"/var/lib/darrm/.pgpass\n" + loop},
		{"configuration is removed", "postrm", loop, "\trm -rf \"$DPKG_ROOT\"/etc/darrm\n" + loop},
		{"the user is removed", "postrm", loop, "\tdeluser --system darrm\n" + loop},
		{"a removal removes ledgers", "prerm", "set -e\n",
			"set -e\n[ \"$1\" != remove ] || rm -rf \"$DPKG_ROOT\"/var/lib/darrm\n"},
		{"ledgers stay in silence", "postrm", "/var/lib/darrm /etc/darrm", "/etc/darrm"},
		{"units stay in silence", "postrm", " /etc/systemd/system/darrm.service.d;", ";"},
		{"the user stays in silence", "postrm", "if getent passwd darrm", "if false"},
		{"a removal talks", "postrm", "if [ \"$1\" = purge ]", "if [ \"$1\" != upgrade ]"},
		{"the service goes on", "prerm", "systemctl disable --now", "systemctl disable"},
		{"an upgrade disables the service", "prerm", "[ \"$1\" = remove ] && ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			scripts := packageScripts(t)
			if strings.Count(scripts[c.script], c.old) != 1 {
				t.Fatalf("%s has not one %q", c.script, c.old)
			}
			scripts[c.script] = strings.Replace(scripts[c.script], c.old, c.next, 1)
			if len(purgeFaults(t, scripts, true, true, ofTheOperator, saysOfFolders+saysOfUser)) == 0 {
				t.Error("nothing notices")
			}
		})
	}
}
