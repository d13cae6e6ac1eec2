# Targets:
#   run             build and start tandemux
#   build           bin/tandemux, bin/tandemux-keeper and bin/tandemux-hub
#   browser         the page for browsers in a real one, and its speed: needs Chromium
#   install         all of them to $(PREFIX)/bin
#   release         what is released, into dist: archives, .deb, .rpm, formula, checksums, SBOM
#   release-check   build that twice, compare, and install it in a root of its own
#   clean           remove bin and dist
#   test            what shows in a minute or two that it works: each test, where it is long with less
#   test-long       every test in full, and test-page
#   test-page       the tests of the page for browsers that need no browser
#   race            with the race detector, where goroutines share memory
#   test-hidden     every test without the programs that are optional, at once and each alone
#   soak            every test at full size, for hours: make soak SOAK=1m
#   lint            go vet, staticcheck, gofumpt, known vulnerabilities
#   platforms       go vet for every system that is released for
#   bench           measure, and compare with bench/baseline.txt
#   bench-baseline  measure anew what is compared with
#   compare         measure against the bare pty and tmux
#   agents          tests with real agents from npm
#   interop         the protocol's own TypeScript client against a host
#   aisdk           a task as npm's ai and useChat take it
#   screens         docs/screens anew, from the program as it is
GO      ?= go
PREFIX  ?= $(HOME)/.local
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# -s -w leaves out the symbols that only debuggers read, 13 MB. A panic's stack still
# names functions and lines.
LDFLAGS := -s -w -X main.version=$(VERSION)
# The race detector needs a C compiler; without one the tests run without it.
RACE    := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race)

# Tools are run at fixed versions straight from the module proxy, so that
# nothing needs to be installed and go.mod stays free of them.
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
GOVULNCHECK := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0

BENCHSTAT   := $(GO) run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

# What `make bench` measures and compares with bench/baseline.txt: the ways of a
# byte and of a key. A regression of more than 5 % is a defect.
BENCH_PACKAGES := ./ahp/wire ./emulator/native ./host/terminal ./host/terminal/filter ./host ./internal/client ./internal/wsrpc ./ui ./ui/paint
BENCH := $(GO) test -run '^$$' -bench '^Benchmark(AppendDataEnvelope|ParseDataEnvelope|Write|Pipeline|Filter|Keystroke|Echo|Key|Output|RoundTrip|Stream|Frame.*)$$' \
	-skip '/vt10x|//encoding-json|//string|/tcp' -benchmem -benchtime 0.1s -count 6

# The page for browsers, which the program embeds. Without the npm registry the program is
# built all the same, and the page says how to get it.
PAGE := host/web/dist/index.html.zst
$(PAGE): $(wildcard web/src/* web/build/*.go) web/build/lock.json
	@cd web/build && $(GO) run . || echo "make: built without the page for browsers: the npm registry or the Go module proxy can't be reached"

.PHONY: run build browser install release release-check clean test test-long test-page race test-hidden soak lint platforms bench bench-baseline compare agents interop aisdk screens

run: build
	@./bin/tandemux

build: $(PAGE)
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/tandemux ./cmd/tandemux
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/tandemux-keeper ./cmd/tandemux-keeper
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/tandemux-hub ./cmd/tandemux-hub

# Four packages at once, of the short form eight, and of each four tests: where one waits for a program, the
# others compute. More, and on a slow machine tests wait in vain for what is only late. What is checked
# by lint need not be here (-vet=off). Go's compiler takes a sixth less of processor time when it
# collects its garbage less often; the cache is that of any other build.
TEST := $(GO) test -vet=off -timeout 10m -p 4 -parallel 4 -toolexec 'env GOGC=200'

# Neither the race detector nor the page is here: for the one all is compiled anew, with the
# standard library, for the other what reads JavaScript. Without cgo, as what is released, a test
# binary takes a sixth less of processor time to link, and needs no C compiler.
test:
	CGO_ENABLED=0 $(TEST) -p 8 -short ./...

test-long: test-page
	CGO_ENABLED=0 $(TEST) ./...

test-page:
	cd web/build && $(TEST) -short .

# All that share memory between goroutines. What needs SQLite is not compiled for it. A race-built
# command sleeps a second at its end unless told otherwise.
race:
	GORACE=atexit_sleep_ms=10 $(TEST) $(RACE) $$($(GO) list ./host/... ./internal/... | grep -v -e /host/task -e /internal/taskcmd -e /internal/rules)
	GORACE=atexit_sleep_ms=10 $(TEST) $(RACE) -run '^TestRun' ./ui

# First all with the race detector; then at full size: what goes on at random does so
# for SOAK, and hosts and writers are killed by the hundred. RUN and PACKAGES choose:
# make soak SOAK=1h RUN=TestChaos PACKAGES=./cmd/tandemux
SOAK     := 10m
RUN      := .
PACKAGES := ./...
soak:
	@all=$$($(GO) list $(PACKAGES) | grep -v /cmd/); test -z "$$all" || \
		GORACE=atexit_sleep_ms=10 nice -n 15 $(GO) test $(RACE) -vet=off -count 1 -timeout 1h -run '$(RUN)' $$all
	TANDEMUX_SOAK=$(SOAK) nice -n 15 $(GO) test -vet=off -count 1 -p 1 -v -timeout 24h -run '$(RUN)' $(PACKAGES)

browser: $(PAGE)
	cd web/build && $(GO) test -count 1 -v -timeout 24h .

test-hidden:
	scripts/test-hidden.sh

lint:
	$(GO) vet ./...
	$(STATICCHECK) ./...
	@out=$$($(GOFUMPT) -l .); test -z "$$out" || { echo "gofumpt wants changes in:"; echo "$$out"; exit 1; }
	@# It ends with 3 where it found something; else it could not look.
	@out=$$($(GOVULNCHECK) ./... 2>&1) && echo "$$out" || { echo "$$out"; \
		case "$$out" in *"exit status 3") exit 1;; esac; \
		echo "lint: known vulnerabilities were NOT looked for: govulncheck needs https://vuln.go.dev"; }

# Everything compiles for all systems that it is released for, tests included.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
platforms:
	@for p in $(PLATFORMS); do echo $$p; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit 1; done

bench:
	$(BENCH) $(BENCH_PACKAGES) | tee bench/new.txt
	$(BENCHSTAT) -ignore cpu bench/baseline.txt bench/new.txt

# Only on a quiet machine, and with the reason in the commit.
bench-baseline:
	$(BENCH) $(BENCH_PACKAGES) | tee bench/baseline.txt

# From outside, against the bare pty, tmux and screen.
compare: build
	$(GO) run ./bench

install: build
	install -Dm755 bin/tandemux $(PREFIX)/bin/tandemux
	install -Dm755 bin/tandemux-keeper $(PREFIX)/bin/tandemux-keeper
	install -Dm755 bin/tandemux-hub $(PREFIX)/bin/tandemux-hub

# Real agents from npm, against a model without a mind on this machine; they are
# installed outside of the repository: make agents AGENTS=/tmp/agents
agents:
	scripts/real-agents.sh $(AGENTS)

# AHP is the folder of its installed package: make interop AHP=/tmp/x/node_modules/@microsoft/agent-host-protocol
interop:
	scripts/interop.sh $(AHP)

# SDK is a folder with npm's ai, @ai-sdk/react, react, react-dom and jsdom: make aisdk SDK=/tmp/x
aisdk:
	scripts/aisdk.sh $(SDK)

# For the formula: make release RELEASE_URL=https://… ; VERSION is git's tag.
release:
	scripts/release.sh dist

release-check:
	scripts/release-check.sh

clean:
	rm -rf bin dist host/web/dist/*.zst

screens:
	$(GO) test -count 1 ./cmd/tandemux -run '^(TestStart|TestRecordingIsOfToday)$$' -update
	scripts/screens.sh
