package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/release"
)

// Config is a file of configuration: TOML, with settings by name, and a table "client" for each
// client.
type Config struct {
	// Settings holds all of the file but the clients: text, numbers, booleans and lists of these.
	// The caller knows their names.
	Settings map[string]any
	Clients  []Client
}

// Rereads returns the keys that a running server takes from its configuration when it reads it anew:
// those of certificates, but for keys that are stated outside of the file, where they do not change. Without
// stated there are none of these.
func Rereads(stated func(key string) bool) []string {
	keys := []string{"tls-cert", "tls-key", "client-ca"}
	if stated == nil {
		return keys
	}
	return slices.DeleteFunc(keys, stated)
}

// Kept returns an error that names each setting in which next differs from c, but those that may
// change while a server runs: whoever reads a file anew applies a setting or says that it is not.
func (c *Config) Kept(next *Config, mayChange []string) error {
	c, next = handle.Made(c), handle.Made(next)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		if value, there := next.Settings[name]; !there || !reflect.DeepEqual(value, c.Settings[name]) {
			differ = append(differ, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Settings)) {
		if _, there := c.Settings[name]; !there {
			differ = append(differ, name)
		}
	}
	differ = slices.DeleteFunc(differ, func(name string) bool { return slices.Contains(mayChange, name) })
	if len(differ) == 0 {
		return nil
	}
	return usagef("%s differ from those that the server was started with, and a server takes other ones "+
		"only when it is started anew: put them back, or start it anew", strings.Join(differ, ", "))
}

// MaxConfig is the most bytes that a configuration may have.
const MaxConfig = 1 << 20

// ReadConfig reads the file at path. A key of a client that is not known, or one that stands
// there twice, is an error. Errors are [release.InputError]s; they quote no values, of which
// one may be a token that does not belong there.
func ReadConfig(ctx context.Context, path string) (*Config, error) {
	b, err := readfile.Whole(ctx, path, MaxConfig)
	if err != nil {
		return nil, &release.InputError{Err: err}
	}
	c, err := parseConfig(b)
	if err != nil {
		return nil, &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return c, nil
}

func parseConfig(b []byte) (*Config, error) {
	var all map[string]toml.Primitive
	meta, err := toml.NewDecoder(bytes.NewReader(b)).Decode(&all)
	var parse toml.ParseError
	switch {
	case errors.As(err, &parse):
		return nil, fmt.Errorf("line %d is no TOML: %s", parse.Position.Line, parse.Message)
	case err != nil:
		return nil, err
	}
	c := &Config{Settings: map[string]any{}}
	for _, key := range meta.Keys() { // the library matches names in any case
		switch {
		case len(key) == 1:
		case key[0] != "client":
			return nil, fmt.Errorf(
				"%q is a table, but settings are text, numbers, true, false, or lists of these", key[0])
		case len(key) > 2 || !slices.Contains(clientKeys, key[1]):
			return nil, fmt.Errorf("%q is not known; a client has %s", key.String(),
				strings.Join(clientKeys, ", "))
		}
	}
	for name, value := range all {
		if name == "client" {
			if err := meta.PrimitiveDecode(value, &c.Clients); err != nil {
				return nil, fmt.Errorf("client: %w (token_sha256 and may are lists)", err)
			}
			continue
		}
		var setting any
		if err := meta.PrimitiveDecode(value, &setting); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.Settings[name] = setting
	}
	for name, value := range c.Settings {
		if !plain(value) {
			return nil, fmt.Errorf("%q must be text, a number, true, false, or a list of these", name)
		}
	}
	return c, nil
}

var clientKeys = []string{"name", "token_sha256", "certificate", "epsilon", "delta", "answers",
	"rate", "burst", "may"}

// plain reports whether a setting has a type that a flag may have.
func plain(value any) bool {
	switch v := value.(type) {
	case string, int64, float64, bool:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool {
			_, nested := item.([]any)
			return nested || !plain(item)
		})
	}
	return false
}
