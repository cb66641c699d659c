# darrm. The first two targets are the README's commands; both need Go alone.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEPGUARD    := github.com/OpenPeeDeeP/depguard/v2/cmd/depguard@v2.3.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

# The command that follows has HiGHS where it is installed or was built by make highs, else plain Go
# (scripts/highs says which). make TARGET HIGHS= is plain Go, whatever is installed.
HIGHS = env="$$(scripts/highs found)"; eval "$$env";

VOTES := testdata/mnist-5v8/votes.csv

# One form of every package: what one target or another checkout has compiled serves all, archives too.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS 2>/dev/null)) -trimpath)

# Random tests (rapid) draw the same values every time, so that what passes once passes again. Targets
# that search draw others each time, and take no earlier result: Go does not see that the seed has changed.
export RAPID_SEED := 1
test-long mutants mutants-listed fuzz: export RAPID_SEED := 0

.PHONY: demo highs proofs prover test build lint race plain beam wheel web man services test-services test-postgres test-web test-python-pages-checker dist dist-twice dist-test install-test test-long mutants mutants-listed fuzz fuzz-smoke bench bench-compare bench-report vulncheck ci clean

demo: build ## solve for 11 teachers and release private labels for 1,866 real queries
	@bin/darrm version; echo
	bin/darrm solve --K 11 --m 3
	@echo
	bin/darrm aggregate $(VOTES) --m 3 --eps 0.13577 --teacher-delta 1e-4 --teachers frozen --out bin/labels.csv --force
	@echo
	bin/darrm compare $(VOTES) --m 3 --eps 0.13577 --teacher-delta 1e-4
	@echo; echo "The first of the private labels in bin/labels.csv:"; head -n 4 bin/labels.csv

# make lint vets all packages, once: test, race and plain would vet them anew for each of their builds.
# Without the debugger's tables a test program links in half the time. Where memory is collected a
# quarter as often, an eighth of the processor's time is saved; a test program has some 100 MB.
# One package more runs at a time than there are processors, since some wait for disks, servers and clocks.
AT_ONCE = $$(($$(getconf _NPROCESSORS_ONLN || echo 2) + 1))
TEST = GOGC=800 go test -p $(AT_ONCE) -vet=off -ldflags=-w
test: ## all tests; make lint vets
	$(HIGHS) $(TEST) -timeout 30m ./...

highs: ## builds the solver HiGHS where none is installed, once, some minutes; all other targets then use it
	@scripts/highs path

build: ## bin/darrm
	$(HIGHS) GOGC=400 go build -o bin/darrm ./cmd/darrm

lint: ## gofmt, go vet, staticcheck, import direction, figures that hang on the processor
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "gofmt would change: $$bad"; exit 1; fi
	$(HIGHS) export GOGC=400; go vet ./... && go run $(STATICCHECK) ./... && go run $(DEPGUARD) ./...
	CGO_ENABLED=0 go vet ./lp # no other package has other files without HiGHS
	scripts/fused

# Tests of the command that run what its own packages start in parallel: signals, progress, standard
# input, the server, the solver of many classes. All else that it starts is raced where it is defined.
RACED := ^TestServe|^TestThreeServers|^TestScripts$$/^(classes|interrupt|progress|resume|serve|sweep|sweep_interrupt|votes)$$
# Scripts of the command that solve. With plain Go all others are those of make test.
SOLVING := ^TestScripts$$/^(aggregate|cache|classes|experiment|interrupt|many_answers|plan|serve|signals|solve|solve_objectives|solve_shape|sweep|sweep_errors|sweep_objectives|verify|version)$$

race: ## the race detector, where anything runs in parallel (scripts/packages)
	$(HIGHS) $(TEST) -race -timeout 40m $$(scripts/packages race)
	$(HIGHS) $(TEST) -race -timeout 40m -run '$(RACED)' ./cmd/darrm

# go list -export compiles as go build does, and links none of the thirty programs. make dist links darrm for each system.
plain: ## compiles with plain Go: no HiGHS, no cgo; and tests what that is to change (scripts/packages)
	CGO_ENABLED=0 go list -export ./... >/dev/null
	GOOS=windows CGO_ENABLED=0 go list -export ./... >/dev/null
	GOOS=windows CGO_ENABLED=0 go vet ./internal/filelock ./internal/testing/pgtest ./internal/readfile ./ledger ./release
	GOOS=darwin CGO_ENABLED=0 go build ./internal/filelock ./internal/testing/pgtest ./internal/readfile ./internal/atomicfile ./internal/nobody ./bench/processor
	CGO_ENABLED=0 $(TEST) -timeout 30m $$(scripts/packages plain)
	CGO_ENABLED=0 $(TEST) -timeout 30m -run '$(SOLVING)' ./cmd/darrm

beam: ## the Beam module, which is apart from the rest: vet and tests
	cd beam && export CGO_ENABLED=0 && go vet ./... && $(TEST) -timeout 20m ./...

wheel: ## dist/darrm-….whl: the Python package with the plain-Go program in it
	CGO_ENABLED=0 go build -ldflags "-s -w -X github.com/darrm/darrm/cmd/darrm/internal/cli.released=$$(scripts/version)" -o bin/plain/darrm ./cmd/darrm
	rm -f dist/darrm-*.whl
	rm -rf bin/licenses && mkdir -p bin/licenses && scripts/licenses bin/plain/darrm "$$PWD/bin/licenses"
	python3 python/wheel.py bin/plain/darrm bin/licenses dist

web: ## dist/web: the page that plans in a browser, with its sizes (docs/web.md)
	GOOS=js GOARCH=wasm CGO_ENABLED=0 go vet ./web/program
	go run ./web/build dist/web

dist: ## dist/: archives for six platforms, Debian packages, wheels, checksums, bill of materials (scripts/dist)
	scripts/dist

dist-twice: ## the same from two copies of the commit, which must have equal bytes
	scripts/dist twice

dist-test: dist ## installs the archive, the package and the wheel in fresh folders, and gets labels by each
	scripts/dist-test

install-test: ## go install of the core and of Beam's module from a file proxy, as after their tags; minutes
	scripts/install-test

MANDIR ?= dist/man
man: build ## dist/man/darrm….1: the manual pages, dated by the last commit
	mkdir -p $(MANDIR)
	SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" bin/darrm man $(MANDIR)

SERVICES := postgresql chromium poppler-utils fonts-liberation firefox-esr \
	python3-venv python3-numpy python3-pandas python3-sklearn python3-matplotlib python3-onnx mypy
services: ## installs what test-services needs, on Debian as root; elsewhere it names that and goes on
	@scripts/debian $(SERVICES) $$(command -v npm >/dev/null || echo nodejs npm) || true # other Node.js bring npm, and conflict

test-services: wheel prover services ## what needs more than Go: the wheel with NumPy, every page and picture in Chromium, the page that plans in Chromium and Firefox, a client generated from openapi.json, PostgreSQL, votes as pandas, NumPy, hyparquet and DuckDB read and write them, the proved checker on random tables
	scripts/web-modules
	$(MAKE) -j3 --output-sync=target test-postgres test-web test-python-pages-checker

# Servers and browsers wait more than they work, so all of it runs side by side.
test-postgres:
	CGO_ENABLED=0 scripts/test-postgres

test-web:
	scripts/test-web bin/plain/darrm
	scripts/test-openapi bin/plain/darrm

test-python-pages-checker:
	scripts/test-python
	scripts/test-readers
	scripts/test-pages bin/plain/darrm
	proofs/test bin/plain/darrm 200 2

MUTATED := accountant constraints gamma plurality ensemble release ledger votes serve
test-long: ## the full grids and the complete K = 11 oracle, some minutes; fuzzing, half an hour; then mutants of nine packages, hours
	$(HIGHS) DARRM_LONG=1 go test -count=1 -timeout 60m ./...
	$(MAKE) fuzz
	$(MAKE) build proofs && proofs/test bin/darrm large
	$(MAKE) wheel services && DARRM_LONG=1 scripts/test-web bin/plain/darrm
	for p in $(MUTATED); do $(MAKE) mutants PKG=$$p; done

PROVER := coq libcoq-mathcomp-fingroup ocaml-findlib libzarith-ocaml-dev
proofs: prover ## compiles the machine-checked proofs, compares what they rest on, extracts and tests the checker (docs/proofs.md)
	proofs/test

prover:
	@scripts/debian $(PROVER)
	$(MAKE) -C proofs -j2

PKG ?= release
SEED ?= 1
MUTANTS ?= 150
WITH_accountant := ./ensemble
WITH_constraints := ./gamma
mutants: ## draws MUTANTS changes of PKG by SEED, names what its tests do not notice, and the rate
	go run ./internal/testing/mutant/mutants -n $(MUTANTS) -seed $(SEED) -with "$(WITH_$(PKG))" ./$(PKG)

PACKAGES ?=
mutants-listed: ## plants every listed change again, in all packages or PACKAGES="./release ./serve", and wants each noticed
	$(HIGHS) scripts/mutants-listed $(PACKAGES)

FUZZTIME ?= 30s
fuzz: ## every fuzz target for FUZZTIME (scripts/fuzz)
	scripts/fuzz $(FUZZTIME)

fuzz-smoke: ## that every fuzz target starts and has inputs in testdata; make fuzz searches, which finds other inputs each time
	SMOKE=1 scripts/fuzz 20x

bench: ## all benchmarks
	$(HIGHS) go test -run '^$$' -bench . ./...

bench-compare: ## darrm against a plain scipy script, as whole processes (bench/README.md)
	bench/compare

bench-report: ## every table of bench/README.md and bench/votes/README.md anew, with machine and versions; an hour
	go run ./bench/report

vulncheck: ## known vulnerabilities; says so and goes on where the database is out of reach
	scripts/vulncheck $(GOVULNCHECK)

ci: ## what a change must pass
	.ci/run

clean:
	rm -rf bin dist
