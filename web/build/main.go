// Build makes the page of web in a folder: its files, and the program in WebAssembly as a script.
//
//	go run ./web/build FOLDER
//
// Equal sources make equal bytes. It prints the sizes.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/darrm/darrm/internal/markup"
)

// mostBytes is the largest program that a page may have, compressed.
const mostBytes = 3 << 20

// once are packages that read files, words and flags, where a call more is not noticed. Their functions
// are not copied into their callers, which makes the compressed program 4 % smaller.
var once = []string{"encoding/...", "fmt", "time", "github.com/go-json-experiment/...",
	"github.com/darrm/darrm/ledger", "github.com/darrm/darrm/plan/...", "github.com/darrm/darrm/release",
	"github.com/darrm/darrm/votes/...", "github.com/darrm/darrm/web/..."}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build FOLDER")
		os.Exit(2)
	}
	if err := build(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	wasm := filepath.Join(folder, "darrm.wasm")
	arguments := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", wasm}
	for _, packages := range once {
		arguments = append(arguments, "-gcflags="+packages+"=-l")
	}
	c := exec.CommandContext(ctx, "go", append(arguments, "./web/program")...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	program, err := os.ReadFile(wasm)
	if err != nil {
		return err
	}
	if err := os.Remove(wasm); err != nil { // the page has it as a script
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(program); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if packed.Len() > mostBytes {
		return fmt.Errorf("the program has %d bytes in gzip, but it must have at most %d", packed.Len(),
			mostBytes)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	runtime, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)),
		"lib/wasm/wasm_exec.js"))
	if err != nil {
		return err
	}
	worker, err := os.ReadFile("web/page/worker.js")
	if err != nil {
		return err
	}
	inWorker, err := json.Marshal(string(runtime) + "\n" + string(worker))
	if err != nil {
		return err
	}
	script := fmt.Sprintf("const darrmProgram = %q;\nconst darrmRuntime = %s;\n",
		base64.StdEncoding.EncodeToString(packed.Bytes()), inWorker)
	if err := os.WriteFile(filepath.Join(folder, "darrm.wasm.js"), []byte(script), 0o644); err != nil {
		return err
	}
	for _, name := range []string{"index.html", "style.css", "script.js"} {
		data, err := os.ReadFile(filepath.Join("web/page", name))
		if err != nil {
			return err
		}
		if name == "style.css" {
			data = append(data, markup.PrintStyle...)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s: program %d bytes, %d in gzip; darrm.wasm.js %d\n", folder, len(program),
		packed.Len(), len(script))
	return nil
}
