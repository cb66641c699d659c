package loopback

import "testing"

func TestHost(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:8080": true, "LOCALHOST:1": true, "127.0.0.1": true,
		"127.0.0.1:8080": true, "[::1]:8080": true, "[::1]": true, "127.9.9.9:1": true,
		"": false, ":80": false, "example.com": false, "example.com:8080": false,
		"localhost.example.com": false, "127.0.0.1.nip.io:8080": false, "192.168.0.1:8080": false,
		"0.0.0.0:8080": false, "localhost:8080:1": false, "user@localhost": false, "[::]": false,
	} {
		if got := Host(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
