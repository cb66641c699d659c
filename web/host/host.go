// Package host serves the page of web, as any static host can: from a folder or a zip archive, with
// a policy that forbids the browser to send anything anywhere. It embeds no page.
package host

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/darrm/darrm/internal/loopback"
)

// policy is the content security policy of the page, which has it in a meta tag too, for hosts that
// send no headers. The program travels as a script: connect-src 'none' forbids to fetch it.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; " +
	"style-src 'self'; connect-src 'none'; form-action 'none'; base-uri 'none'"

// framing can be stated by a header alone: nobody may put the page into a frame.
const framing = "; frame-ancestors 'none'"

// Open opens the files of a page, in a folder or a zip archive, which has to be closed. The error
// says so if there is no page among them.
func Open(name string) (fs.FS, io.Closer, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	var files fs.FS
	var c io.Closer
	if info.IsDir() {
		root, err := os.OpenRoot(name) // links lead nowhere else
		if err != nil {
			return nil, nil, err
		}
		files, c = root.FS(), root
	} else {
		z, err := zip.OpenReader(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		files, c = z, z
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s has no index.html: make web makes the page", name),
			c.Close())
	}
	return files, c, nil
}

// handler serves the files, with the policy, to requests that name this machine. It refuses other
// names: a script of another site, whose name was made to resolve to this machine, would ask by
// that name (DNS rebinding). It is safe for concurrent use by several goroutines.
func handler(files fs.FS) http.Handler {
	static := http.FileServerFS(visible{files})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy+framing)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		if !loopback.Host(r.Host) {
			http.Error(w, "this page is asked for as localhost or 127.0.0.1", http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
			return
		}
		static.ServeHTTP(w, r)
	})
}

// visible are the files of a page: none whose name, or whose folder's, begins with a dot, and a
// folder as its index.html alone.
type visible struct{ fs.FS }

func (v visible) Open(name string) (fs.File, error) {
	hidden := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 1 && part[0] == '.' { // "." is the folder of the page
			return nil, hidden
		}
	}
	f, err := v.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		if _, err = fs.Stat(v.FS, path.Join(name, "index.html")); err != nil {
			err = hidden
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Listen listens on the loopback interface alone. Port 0 is one that the system chooses.
func Listen(ctx context.Context, port int) (net.Listener, error) {
	if port < 0 || port > 65535 {
		return nil, fmt.Errorf("port = %d, but it must be between 0 and 65535", port)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

// Serve serves the files until ctx ends, which is no error, and closes l.
func Serve(ctx context.Context, l net.Listener, files fs.FS) error {
	server := &http.Server{Handler: handler(files), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
