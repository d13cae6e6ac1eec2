# Targets: run, test, lint, load, long, bench, build, install, clean.
GO      ?= go
PREFIX  ?= $(HOME)/.local
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
# The race detector needs a C compiler; without one the tests run without it.
RACE    := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race)

# Tools are run at fixed versions straight from the module proxy, so that
# nothing needs to be installed and go.mod stays free of them.
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := $(GO) run mvdan.cc/gofumpt@v0.12.0
GOVULNCHECK := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4

.PHONY: run build test lint load long bench install clean

run: build
	@./bin/cotty

build:
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/cotty ./cmd/cotty

test:
	$(GO) test $(RACE) -timeout 5m ./...

lint:
	$(GO) vet ./...
	$(STATICCHECK) ./...
	@out=$$($(GOFUMPT) -l .); test -z "$$out" || { echo "gofumpt wants changes in:"; echo "$$out"; exit 1; }
	@$(GOVULNCHECK) ./... || echo "govulncheck did not finish; it needs the network's vulnerability list"

# Ten minutes of each by default: make load DURATION=1m
load:
	COTTY_LOAD=$(or $(DURATION),10m) nice -n 15 $(GO) test ./host -run '^TestLoad' -v -timeout 90m

# What takes minutes: a thousand commands in each shell, hundreds of odd arguments.
long:
	COTTY_LONG=1 $(GO) test -timeout 20m -run 'ManyCommands|Arguments' -v ./host
	COTTY_LONG=1 $(GO) test -timeout 20m -run 'TestScript/run$$' ./cmd/cotty

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

install: build
	install -Dm755 bin/cotty $(PREFIX)/bin/cotty

clean:
	rm -rf bin
