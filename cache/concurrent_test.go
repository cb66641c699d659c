package cache

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const childEnv = "CACHE_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		s, err := Open(dir)
		if err == nil {
			err = hammer(s, 60)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const sharedKey = "shared key"

// sharedValue is one of 20 values of different length and content; any mixture
// of two of them is none of them.
func sharedValue(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 1000*i+17) }

// hammer puts, gets, lists and now and then removes one key. It returns an error
// if anything but a complete value or an absence is ever seen.
func hammer(s *Store, rounds int) error {
	for range rounds {
		switch i := rand.IntN(20); {
		case i < 7:
			if err := s.Put(sharedKey, sharedValue(rand.IntN(20))); err != nil {
				return err
			}
		case i == 7:
			if err := os.Remove(s.Path(sharedKey)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		case i == 8:
			entries, err := s.List()
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.Err != nil {
					return e.Err
				}
			}
		default:
			v, err := s.Get(sharedKey)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if len(v) == 0 || !bytes.Equal(v, sharedValue(int(v[0]-'a'))) {
				return fmt.Errorf("incomplete value of %d bytes", len(v))
			}
		}
	}
	return nil
}

func TestConcurrentGoroutinesAndProcesses(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+s.Dir())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("child process: %v: %s", err, out)
			}
		})
	}
	for range 8 {
		wg.Go(func() {
			if err := hammer(s, 60); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	files, err := os.ReadDir(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			t.Errorf("temporary file %s left", f.Name())
		}
	}
}
