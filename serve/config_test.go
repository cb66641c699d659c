package serve

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/release"
)

func TestConfig(t *testing.T) {
	const good = `
ledger = "patients.ledger"
eps = 0.1
K = 11
classes = ["no", "yes"]
no-cache = true

[[client]]
name = "ward-3"
token_sha256 = ["00", "01"]
epsilon = 2
delta = 1e-6
rate = 0.5
burst = 3
may = ["answer"]

[[client]]
name = "b"
certificate = "cn"
`
	path := filepath.Join(t.TempDir(), "serve.toml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	c, err := ReadConfig(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Settings: map[string]any{"ledger": "patients.ledger", "eps": 0.1, "K": int64(11),
			"classes": []any{"no", "yes"}, "no-cache": true},
		Clients: []Client{
			{Name: "ward-3", TokenSHA256: []string{"00", "01"}, Epsilon: new(2.0), Delta: new(1e-6),
				Rate: 0.5, Burst: 3, May: []string{"answer"}}, {Name: "b", Certificate: "cn"},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", c)
	}
	for text, said := range map[string]string{
		"a = ": "line 1", "a = 1\na = 2": "line 2",
		"[[client]]\nname = \"a\"\ntoken = \"darrm_secret\"\n": `"client.token" is not known`,
		"[[client]]\nName = \"a\"\n":                           `"client.Name" is not known`,
		"[client]\nname = \"a\"\n":                             "client",
		"[tls]\ncert = \"a\"\n":                                `"tls"`, "a = [[1]]": `"a"`,
		"a = 2026-01-01":                        `"a"`,
		"[[client]]\nrate = \"darrm_secret\"\n": "client", "token = \"darrm_secret": "line 1",
		"[[client]]\ntoken_sha256 = \"darrm_secret\"\n": "list",
	} {
		write(text)
		_, err := ReadConfig(t.Context(), path)
		var input *release.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), said) ||
			strings.Contains(err.Error(), "darrm_secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadConfig(t.Context(), path+"x"); err == nil {
		t.Error("no file")
	}
}
