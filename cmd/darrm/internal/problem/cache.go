package problem

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release"
)

// CacheFlags locate the cache of solved tables.
type CacheFlags struct {
	noCache  bool
	CacheDir string
}

// RegisterCache adds the flags to a command.
func (f *CacheFlags) RegisterCache(c *cobra.Command) {
	c.Flags().BoolVar(&f.noCache, "no-cache", false,
		"neither read nor write the cache of solved tables")
	c.Flags().StringVar(&f.CacheDir, "cache-dir", "",
		"directory of the cache (default see darrm cache path)")
	cli.TakesFolder(c, "cache-dir")
}

// Store opens the cache, or returns nil where none is wanted. It fails before any
// work is done if the cache cannot be written.
func (f *CacheFlags) Store() (*cache.Store, error) {
	if f.noCache {
		return nil, nil
	}
	dir := f.CacheDir
	if dir == "" {
		var err error
		if dir, err = cache.DefaultDir(); err != nil {
			return nil, &release.OutputError{Err: err}
		}
	}
	return cache.Open(dir)
}
