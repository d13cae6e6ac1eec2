# Targets:
#   run             build and start tandemux
#   build           bin/tandemux
#   install         bin/tandemux to $(PREFIX)/bin
#   clean           remove bin
#   test            every test, with the race detector where there is a C compiler
#   test-hidden     every test without the programs that are optional, at once and each alone
#   lint            go vet, staticcheck, gofumpt, known vulnerabilities
#   platforms       go vet for every system that is released for
#   long            the tests that take minutes
#   load            many terminals and clients at once
#   load-tasks      many tasks and readers, hosts that are killed
#   chaos           everything that can go wrong, at random
#   keys-fuzz       random keys in the interface
#   bench           measure, and compare with bench/baseline.txt
#   bench-baseline  measure anew what is compared with
#   compare         measure against the bare pty, tmux and screen
#   agents          tests with real agents from npm
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
BENCH_PACKAGES := ./ahp ./emulator/native ./host/terminal ./host ./internal/client ./internal/wsrpc ./ui ./ui/paint
BENCH := $(GO) test -run '^$$' -bench '^Benchmark(AppendDataEnvelope|ParseDataEnvelope|Write|Pipeline|Filter|Keystroke|Echo|Key|Output|RoundTrip|Stream|Frame.*)$$' \
	-skip '/vt10x|//encoding-json|//string|/tcp' -benchmem -benchtime 0.1s -count 6

.PHONY: run build install clean test test-hidden lint platforms long load load-tasks chaos keys-fuzz bench bench-baseline compare agents

run: build
	@./bin/tandemux

build:
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/tandemux ./cmd/tandemux

# What is checked by lint need not be here (-vet=off). A race-built command sleeps a
# second at its end unless told otherwise, and cmd runs many.
test:
	GORACE=atexit_sleep_ms=10 $(GO) test $(RACE) -vet=off -timeout 5m $$($(GO) list ./... | grep -v /cmd/)
	$(GO) test -vet=off -timeout 4m ./cmd/...

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

# Ten minutes of each by default: make load DURATION=1m
load:
	TANDEMUX_LOAD=$(or $(DURATION),10m) nice -n 15 $(GO) test ./host -run '^TestLoad' -v -timeout 90m

# Fifty tasks with fifty readers of their streams each, and hosts that are killed
# anywhere in tasks' lives: make load-tasks KILLS=30
load-tasks:
	TANDEMUX_LOAD=1 nice -n 15 $(GO) test ./host/task/api -run '^TestLoadTasks$$' -v -count 1 -timeout 20m
	TANDEMUX_TASK_KILLS=$(or $(KILLS),30) nice -n 15 $(GO) test ./cmd/tandemux -run '^TestTaskHostKilledAnywhere$$' -v -count 1 -timeout 30m

# Everything that can go wrong, at random: make chaos DURATION=1h TERMINALS=50
chaos:
	TANDEMUX_CHAOS=$(or $(DURATION),10m) TANDEMUX_TERMINALS=$(or $(TERMINALS),20) TANDEMUX_SEED=$(SEED) nice -n 15 $(GO) test ./cmd/tandemux -run '^TestChaos$$' -v -count 1 -timeout 24h

# Everything compiles for all systems that it is released for, tests included.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
platforms:
	@for p in $(PLATFORMS); do echo $$p; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit 1; done

# What takes minutes: a thousand commands in each shell, hundreds of odd arguments.
long:
	TANDEMUX_LONG=1 $(GO) test -timeout 20m -run 'ManyCommands|Arguments' -v ./host
	TANDEMUX_LONG=1 $(GO) test -timeout 20m -run 'TestScript/run$$' ./cmd/tandemux
	# Children that die at 100 instants of each job, trees by the hundred, a gigabyte.
	TANDEMUX_LONG=1 TANDEMUX_WORKSPACE_KILLS=100 TANDEMUX_WORKSPACE_SEEDS=200 $(GO) test -timeout 20m -run 'Killed|Sync|Large' ./host/workspace
	# Hosts of one terminal that are killed, and lives of terminals that die.
	TANDEMUX_TERMINAL_KILLS=500 TANDEMUX_TERMINAL_LIVES=4000 $(GO) test -timeout 20m -run 'HostKilled|Restore$$' -v ./host/terminal
	# Writers of the tasks' database that are killed.
	TANDEMUX_STORE_KILLS=500 $(GO) test -timeout 20m -run 'TestKill$$' -v ./host/task/store

# Random keys, resizes, output and accidents: make keys-fuzz DURATION=1m
keys-fuzz:
	TANDEMUX_KEYS=$(or $(DURATION),10m) nice -n 15 $(GO) test ./ui -run '^TestRandomKeys$$' -v -timeout 90m

bench:
	$(BENCH) $(BENCH_PACKAGES) | tee bench/new.txt
	$(BENCHSTAT) bench/baseline.txt bench/new.txt

# Only on a quiet machine, and with the reason in the commit.
bench-baseline:
	$(BENCH) $(BENCH_PACKAGES) | tee bench/baseline.txt

# From outside, against the bare pty, tmux and screen.
compare: build
	$(GO) run ./bench

install: build
	install -Dm755 bin/tandemux $(PREFIX)/bin/tandemux

# Real agents from npm, against a model without a mind on this machine; they are
# installed outside of the repository: make agents AGENTS=/tmp/agents
agents:
	scripts/real-agents.sh $(AGENTS)

clean:
	rm -rf bin
