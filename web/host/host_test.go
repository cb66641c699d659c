package host

import (
	"archive/zip"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// page writes a page as a folder or as an archive.
func page(t *testing.T, archive bool) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<p>here"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".hidden": "secret", ".git/config": "secret",
		"folder/.env": "secret", "folder/part.js": "part", "inner/index.html": "inner"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "secret")); err != nil {
		t.Skip(err)
	}
	if !archive {
		return dir
	}
	if err := os.Remove(filepath.Join(dir, "secret")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	if err := z.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A page that another site's name leads to would be that site's: only the names of this machine are
// answered.
func TestForeignHosts(t *testing.T) {
	files, c, err := Open(page(t, false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for host, good := range map[string]bool{
		"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true, "example.com:8080": false, "": false,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.Host = host
		handler(files).ServeHTTP(w, r)
		if got := w.Code == http.StatusOK; got != good || !good && (w.Code != http.StatusMisdirectedRequest ||
			strings.Contains(w.Body.String(), "here")) {
			t.Errorf("%q: %d %s", host, w.Code, w.Body)
		}
	}
}

func TestHandler(t *testing.T) {
	for _, archive := range []bool{false, true} {
		files, c, err := Open(page(t, archive))
		if err != nil {
			t.Fatal(err)
		}
		h := handler(files)
		ask := func(method, path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			r.Host = "localhost:8080"
			h.ServeHTTP(w, r)
			return w
		}
		if w := ask("GET", "/"); w.Code != http.StatusOK || w.Body.String() != "<p>here" ||
			w.Header().Get("Content-Security-Policy") != policy+"; frame-ancestors 'none'" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("the page: %d %q %v", w.Code, w.Body, w.Header())
		}
		for _, path := range []string{"/secret", "/../secret", "/none", "/.hidden", "/.git/config", "/.git/",
			"/folder/.env", "/folder/", "/folder", "/%2ehidden", "/inner/../.hidden"} {
			if w := ask("GET", path); w.Code != http.StatusNotFound && w.Code != http.StatusInternalServerError &&
				w.Code != http.StatusMovedPermanently || strings.Contains(w.Body.String(), "root:") ||
				strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), "part.js") {
				t.Errorf("%s: %d %q", path, w.Code, w.Body)
			}
		}
		for path, want := range map[string]string{"/folder/part.js": "part", "/inner/": "inner"} {
			if w := ask("GET", path); w.Code != http.StatusOK || w.Body.String() != want {
				t.Errorf("%s: %d %q", path, w.Code, w.Body)
			}
		}
		if w := ask("POST", "/"); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST: %d", w.Code)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "page.zip")
	if err := os.WriteFile(text, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{t.TempDir(), text, filepath.Join(t.TempDir(), "none")} {
		if _, _, err := Open(path); err == nil {
			t.Errorf("%s is a page", path)
		}
	}
}

// Only this machine can ask, and the end of the context ends the server.
func TestServe(t *testing.T) {
	for _, port := range []int{-1, 65536} {
		if _, err := Listen(t.Context(), port); err == nil {
			t.Errorf("port %d is listened at", port)
		}
	}
	files, c, err := Open(page(t, false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Listen(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("listens at %v", l.Addr())
	}
	done := make(chan error)
	go func() { done <- Serve(ctx, l, files) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	cancel()
	if err := <-done; err != nil || got.StatusCode != http.StatusOK {
		t.Error(got.Status, err)
	}
}

// The page has the same policy for hosts that send no headers, and nothing that it forbids.
func TestPolicyOfThePage(t *testing.T) {
	b, err := os.ReadFile("../page/index.html")
	if err != nil {
		t.Fatal(err)
	}
	html := string(b)
	if !strings.Contains(html, `<meta http-equiv="Content-Security-Policy" content="`+policy+`">`) {
		t.Error("index.html has another policy")
	}
	for _, forbidden := range []string{" style=", "<style", "<script>", " onclick=", "http://",
		"https://"} {
		if strings.Contains(html, forbidden) {
			t.Errorf("index.html has %q", forbidden)
		}
	}
}
