package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A result is what a command printed, on which day, and on what.
type result struct {
	Command    string   `json:"command"`
	Date       string   `json:"date"`
	Version    string   `json:"version"` // of darrm
	Go         string   `json:"go"`      // and the system
	Machine    string   `json:"machine"`
	LoadBefore string   `json:"load_before"`
	LoadAfter  string   `json:"load_after"`
	Took       string   `json:"took"`
	Output     []string `json:"output"` // lines
}

// stamp is the line that says when and on what a command ran.
func (r result) stamp() string {
	return fmt.Sprintf("Measured %s, darrm %s, %s, %s; load %s before, %s after %s.", r.Date, r.Version,
		r.Go, r.Machine, r.LoadBefore, r.LoadAfter, r.Took)
}

// readResults reads the results, which are in the order of their commands.
func readResults(path string) ([]result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []result
	return all, json.Unmarshal(text, &all)
}

// keep puts a result into the file, in place of the one that the command had.
func keep(path string, r result) error {
	all, err := readResults(path)
	if err != nil {
		return err
	}
	i, old := slices.BinarySearchFunc(all, r.Command, func(x result, command string) int {
		return strings.Compare(x.Command, command)
	})
	if old {
		all[i] = r
	} else {
		all = slices.Insert(all, i, r)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o666)
}

// block is a place of a template for what a command printed, in a fence if one stands there:
//
//	<!-- begin output of: COMMAND -->
//	<!-- end -->
var block = regexp.MustCompile("(?m)^(<!-- begin output of: (.+) -->\n)((?:```\n```\n)?)(<!-- end -->\n)")

// commands returns the commands of a template.
func commands(template string) (out []string) {
	for _, m := range block.FindAllStringSubmatch(template, -1) {
		out = append(out, m[2])
	}
	return out
}

// page fills a template. A command without a result leaves its place empty.
func page(name, template string, results []result) string {
	text := block.ReplaceAllStringFunc(template, func(place string) string {
		m := block.FindStringSubmatch(place)
		i := slices.IndexFunc(results, func(r result) bool { return r.Command == m[2] })
		if i < 0 {
			return place
		}
		fence := m[3][:len(m[3])/2]
		return m[1] + results[i].stamp() + "\n\n" + fence + strings.Join(results[i].Output, "\n") + "\n" +
			fence + m[4]
	})
	title, rest, _ := strings.Cut(text, "\n")
	return title + "\n\n<!-- go run ./bench/report writes this page from " + filepath.Base(name) +
		suffix + " and results.json. -->\n" + rest
}

// suffix ends the name of a page's template.
const suffix = ".tmpl"

// write writes all pages from their templates and the results.
func write(pages []string, results string) error {
	all, err := readResults(results)
	if err != nil {
		return err
	}
	for _, name := range pages {
		template, err := os.ReadFile(name + suffix)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(page(name, string(template), all)), 0o666); err != nil {
			return err
		}
	}
	return nil
}
