// The program start measures how long darrm takes to start, beside a Go program that does nothing,
// and of what parts its file is made.
//
//	CGO_ENABLED=0 go build -trimpath -o /tmp/darrm ./cmd/darrm
//	go run ./bench/start [-runs 100] /tmp/darrm
//
// Programs take turns, so that other work on the machine hits all. The file of the first needs its
// symbols, which are left out of the sum.
package main

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/darrm/darrm/bench/peers"
)

func main() {
	runs := flag.Int("runs", 100, "starts of each program")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	err := starts(flag.Arg(0), *runs)
	if err == nil {
		err = parts(flag.Arg(0))
	}
	peers.End("start", err)
}

// starts prints how long the program takes to tell its version, beside one that does nothing.
func starts(program string, runs int) error {
	dir, err := os.MkdirTemp("", "start")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	nothing := filepath.Join(dir, "nothing")
	source := nothing + ".go"
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", nothing, source).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	programs := [...]string{program, nothing}
	var took, used [len(programs)][]float64
	for range runs {
		for i, program := range programs {
			c := exec.Command(program, "version")
			at := time.Now()
			if err := c.Run(); err != nil {
				return fmt.Errorf("%s version: %w", program, err)
			}
			took[i] = append(took[i], time.Since(at).Seconds())
			used[i] = append(used[i], (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
		}
	}
	fmt.Println("| start | least, ms | of the processor, ms | median, ms |\n|---|---:|---:|---:|")
	for i, name := range []string{"darrm version", "a Go program that does nothing"} {
		slices.Sort(took[i])
		fmt.Printf("| %s | %.1f | %.1f | %.1f |\n", name, 1e3*took[i][0], 1e3*slices.Min(used[i]),
			1e3*took[i][len(took[i])/2])
	}
	return nil
}

const mib = 1 << 20

// parts prints the size of what is loaded of a program: code and data by module, and the tables of
// the Go runtime.
func parts(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	f, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	modules := []string{info.Main.Path}
	for _, m := range info.Deps {
		modules = append(modules, m.Path)
	}
	sizes, all := map[string]uint64{}, uint64(0)
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOBITS {
			continue
		}
		all += s.Size
		switch s.Name {
		case ".gopclntab":
			sizes["Go: places in the source of all code"] += s.Size
		case ".text", ".rodata", ".data", ".noptrdata":
			sizes[rest] += s.Size
		default:
			sizes["other tables"] += s.Size
		}
	}
	for _, s := range symbols {
		if int(s.Section) >= len(f.Sections) || s.Section == elf.SHN_UNDEF {
			continue
		}
		if name := f.Sections[s.Section].Name; name != ".text" && name != ".rodata" &&
			name != ".data" && name != ".noptrdata" || strings.HasPrefix(s.Name, "runtime.") &&
			elf.ST_TYPE(s.Info) != elf.STT_FUNC && s.Size > mib {
			continue // elsewhere, or one that spans others
		}
		sizes[moduleOf(s.Name, modules)] += s.Size
		sizes[rest] -= s.Size
	}
	type part struct {
		name string
		size uint64
	}
	var list []part
	small := uint64(0)
	for name, size := range sizes {
		if size < mib/5 && name != rest {
			small += size
			continue
		}
		list = append(list, part{name, size})
	}
	slices.SortFunc(list, func(a, b part) int { return cmp.Compare(b.size, a.size) })
	fmt.Printf("\n| part | MiB |\n|---|---:|\n| all that is loaded | %.1f |\n", float64(all)/mib)
	for _, p := range append(list, part{"others, below 0.2 each", small}) {
		fmt.Printf("| %s | %.1f |\n", p.name, float64(p.size)/mib)
	}
	return nil
}

// rest names the bytes that no symbol names: types, texts and tables that many share.
const rest = "types, texts and what else no module has alone"

// moduleOf returns the module of a symbol, the standard library where none has it.
func moduleOf(symbol string, modules []string) string {
	symbol = strings.TrimPrefix(symbol, "go:")
	symbol = strings.TrimLeft(strings.TrimPrefix(symbol, "type:"), "*[]")
	best := ""
	for _, m := range modules {
		if strings.HasPrefix(symbol, m) && len(m) > len(best) {
			best = m
		}
	}
	return cmp.Or(best, "Go's library")
}
