package program

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
)

// NewCache makes the commands about the cache of solved tables.
func NewCache(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "cache",
		Short: "List, clear or locate the cache of solved tables",
		Long: `List, clear or locate the cache of solved tables. Entries are checked and
certified again whenever they are read, so the cache is never trusted. Its place is
$DARRM_CACHE where that is set, otherwise in the user's cache directory.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var f problem.CacheFlags
	c.PersistentFlags().StringVar(&f.CacheDir, "cache-dir", "",
		"directory of the cache (default see darrm cache path)")
	cli.TakesFolder(c, "cache-dir")

	list := &cobra.Command{
		Use: "list", Short: "List the tables in the cache", Long: "List the tables in the cache.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return cacheList(a, &f) },
	}
	clear := &cobra.Command{
		Use: "clear", Short: "Remove all tables from the cache",
		Long: "Remove all tables from the cache; other files in its directory stay.", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := f.Store()
			if err != nil {
				return err
			}
			n, err := store.Clear()
			if err != nil {
				return &release.OutputError{Err: err}
			}
			return a.Show(map[string]int{"removed": n}, func(w *terminal.Page) error {
				w.Printf("%d removed from %s\n", n, store.Dir())
				return nil
			})
		},
	}
	path := &cobra.Command{
		Use: "path", Short: "Print the directory of the cache", Long: "Print the directory of the cache.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := f.Store()
			if err != nil {
				return err
			}
			return a.Show(map[string]string{"path": store.Dir()}, func(w *terminal.Page) error {
				w.Printf("%s\n", store.Dir())
				return nil
			})
		},
	}
	c.AddCommand(list, clear, path)
	return c
}

func cacheList(a *cli.App, f *problem.CacheFlags) error {
	store, err := f.Store()
	if err != nil {
		return err
	}
	entries, err := store.List()
	if err != nil {
		return &release.InputError{Err: err}
	}
	type line struct {
		Key      string    `json:"key"`
		Path     string    `json:"path"`
		Bytes    int64     `json:"bytes"`
		Modified time.Time `json:"modified"`
		Damaged  string    `json:"damaged,omitempty"`
	}
	lines := []line{}
	for _, e := range entries {
		l := line{Key: e.Key, Path: e.Path, Bytes: e.Size, Modified: e.ModTime.UTC()}
		if e.Err != nil {
			l.Damaged = e.Err.Error()
		}
		lines = append(lines, l)
	}
	return a.Show(lines, func(w *terminal.Page) error {
		if len(lines) == 0 {
			w.Text("  ", "no tables in "+store.Dir())
			return nil
		}
		var rows [][]string
		for _, l := range lines {
			what := unread.ReplaceAllStringFunc(strings.TrimPrefix(strings.TrimPrefix(l.Key, "darrm table "),
				"darrm "), func(part string) string {
				if part[0] != '[' {
					return part[:12] + "…"
				}
				return fmt.Sprintf("[%d numbers]", len(strings.Fields(part)))
			})
			if l.Damaged != "" {
				what = "damaged: " + l.Damaged
			}
			rows = append(rows, []string{what, fmt.Sprint(l.Bytes), l.Modified.Format("2006-01-02 15:04")})
		}
		return w.Table(terminal.TextTable{Header: []string{"table", "bytes", "stored (UTC)"}, Rows: rows})
	})
}

// unread matches the parts of a key that people do not read: a list of numbers, a digest.
var unread = regexp.MustCompile(`\[[^\]]{40,}\]|\b[0-9a-f]{64}\b`)
