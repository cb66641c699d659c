package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A block is a table of a page, with the command that prints it:
//
//	<!-- begin output of: COMMAND -->
//	Measured 2026-11-22, darrm …, …
//	(what COMMAND prints, within a fence if it was)
//	<!-- end -->
type block struct {
	command    string
	stamp      string // the line that says when and on what; "" if there is none yet
	fenced     bool
	start, end int // of what is between the two comments, in the page
}

var begins = regexp.MustCompile(`(?m)^<!-- begin output of: (.+) -->\n`)

const (
	ends   = "<!-- end -->\n"
	fence  = "```\n"
	stamps = "Measured "
)

// parse finds the blocks of a page, in order.
func parse(page string) ([]block, error) {
	var out []block
	for _, m := range begins.FindAllStringSubmatchIndex(page, -1) {
		b := block{command: page[m[2]:m[3]], start: m[1]}
		n := strings.Index(page[b.start:], ends)
		if n < 0 || strings.Contains(page[b.start:b.start+n], "<!-- begin") {
			return nil, fmt.Errorf("the output of %s has no end", b.command)
		}
		b.end = b.start + n
		text := page[b.start:b.end]
		if strings.HasPrefix(text, stamps) {
			b.stamp, text, _ = strings.Cut(text, "\n")
			text = strings.TrimPrefix(text, "\n")
		}
		b.fenced = strings.HasPrefix(text, fence)
		out = append(out, b)
	}
	return out, nil
}

// replace returns the page with another output and stamp for the block.
func (b block) replace(page, stamp, output string) string {
	text := strings.TrimRight(output, "\n") + "\n"
	if b.fenced {
		text = fence + text + fence
	}
	return page[:b.start] + stamp + "\n\n" + text + page[b.end:]
}
