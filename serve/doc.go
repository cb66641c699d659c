// Package serve answers queries over HTTP: a door to [release.Online], which holds the rules. It
// decides the cost of an answer, the order of draw, commit and answer, and the shares of clients.
// This package identifies the client, limits how much may be asked at once, and words the refusals.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	K        teachers, whose votes a request has
//	(ε, δ)   what an answer promises, and what the ledger has left
//	client   whoever shows a token or a certificate, or opens the Unix socket
//
// # Who may ask
//
// A server listens on a Unix socket, whose mode 0660 decides who may ask, or on TCP with TLS, where
// every client shows a token or a certificate. Where clients are configured they must show who they
// are on the socket too: else a share of the budget could be passed by. Of a token the server knows
// its SHA-256 only.
//
// # What leaves the server
//
// Answers go to whoever asked, and to nobody else. Logs and metrics have no votes, no labels and
// nothing computed from them: of a request they tell its id, the client, and the kind of a
// refusal. How long a response takes depends on the votes for mechanisms that sample by rejection,
// so the histogram of times has the ledger's only, without any draw; the asker knows the votes.
package serve
