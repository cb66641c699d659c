package main

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/release"
)

// cacheFlags say where solved tables are kept.
type cacheFlags struct {
	noCache  bool
	cacheDir string
}

func (f *cacheFlags) registerCache(c *cobra.Command) {
	c.Flags().BoolVar(&f.noCache, "no-cache", false,
		"neither read nor write the cache of solved tables")
	c.Flags().StringVar(&f.cacheDir, "cache-dir", "",
		"directory of the cache (default see darrm cache path)")
	takesFolder(c, "cache-dir")
}

// store opens the cache, or returns nil where none is wanted. It fails before any
// work is done if the cache cannot be written.
func (f *cacheFlags) store() (*cache.Store, error) {
	if f.noCache {
		return nil, nil
	}
	dir := f.cacheDir
	if dir == "" {
		var err error
		if dir, err = cache.DefaultDir(); err != nil {
			return nil, release.OutputError{Err: err}
		}
	}
	return cache.Open(dir)
}
