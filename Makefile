# Every command installs what it needs; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.PHONY: deps
deps: # what a fresh machine lacks (Debian: apt; otherwise it says what is missing)
	@.ci/deps run

# Not go run, which makes a failure of Ctrl-C.
.PHONY: build/local
build/local:
	@[[ -e $@ ]] || echo "compiling; the first time takes a minute or two"
	@go build -o $@ ./functions/local

.PHONY: run
run: deps build/local ## the whole platform with embedded databases and a sandbox in the browser
	@exec build/local run

.PHONY: sandbox
sandbox: build/local ## the stand-ins for Telegram, VK and Tracker alone, for any client
	@exec build/local sandbox

.PHONY: demo
demo: deps build/local ## plays the main job by itself and prints what everybody saw
	@exec build/local demo

.PHONY: test
test: ## all tests, with the race detector, in random order
	@.ci/deps test
	@go test -race -shuffle=on -count=1 -timeout=25m $(TEST_FLAGS) ./...

.PHONY: bench
bench: deps ## measures: webhooks, a burst, jobs, starts of functions, archives; fails if a target is missed
	@failed=0; \
	go run ./functions/local bench || failed=1; \
	go run ./.ci/host/bench || failed=1; \
	go run ./.ci/package -check || failed=1; \
	exit $$failed

.PHONY: bench-broadcast
bench-broadcast: deps ## measures broadcasts: sending, memory, planning, the pace; takes ten minutes, on a quiet machine
	@go run ./functions/local bench broadcast

.PHONY: bench-analytics
bench-analytics: deps ## measures analytics: loads of up to 10^6 tickets, metrics over 10^7 events; on a quiet machine
	@go run ./functions/local bench analytics

.PHONY: chaos
chaos: deps build/local ## the whole platform in a storm of faults, then its books are balanced: [SEED=n] [MINUTES=m]
	@exec build/local chaos storm $(if $(SEED),-seed $(SEED)) $(if $(MINUTES),-minutes $(MINUTES))

.PHONY: chaos-broadcast
chaos-broadcast: deps build/local ## kills, freezes and starves the workers of broadcasts; fails if anybody is lost or has it twice
	@exec build/local chaos broadcast

.PHONY: fmt
fmt: ## formats the code
	@gofmt -w functions shared migrations .ci

DOTTED := ./.ci/host/... ./.ci/licences ./.ci/package/... ./.ci/verdict
LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.2

# A folder with a dot is not among ./...
.PHONY: lint
lint: ## linters, vet among them (.golangci.yml says which and why)
	@$(LINT) run ./... $(DOTTED)

VULNDB := $(or $(GOVULNDB),https://vuln.go.dev)

.PHONY: vuln
vuln: ## known vulnerabilities in what the code calls; asks a database on the Internet, GOVULNDB names another
	@curl -fsS -m 30 -o /dev/null $(VULNDB)/index/db.json || \
	  { echo "the database of vulnerabilities cannot be reached from here: $(VULNDB). Nothing was checked." >&2; exit 1; }
	@go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 -db $(VULNDB) ./...

# With the Go of the functions' runtime, so that archives are the same whatever is installed.
PACKAGE := GOTOOLCHAIN=go1.23.9 go run ./.ci/package

.PHONY: package
package: ## the functions' archives in build/; of one: make package-<function>
	@$(PACKAGE)

package-%:
	@$(PACKAGE) $*

.PHONY: connect
connect: build/local ## tells Telegram, VK and Tracker where a deployment is: WEBHOOKS=https://... [DRY_RUN=1] [FORCE=1]
	@exec build/local connect

.PHONY: doctor
doctor: build/local ## examines a deployment from outside: WEBHOOKS=https://... [CONSOLE=https://...] [API_KEY=...]
	@exec build/local doctor

.PHONY: replay
replay: deps build/local ## hands a recorded event to the function that it was for, here: EVENT=file.json [FUNCTION=name]
	@exec build/local reproduce "$(EVENT)" $(FUNCTION)

.PHONY: secrets
secrets: ## random passwords and secrets for terraform/my.auto.tfvars
	@for name in telegram_webhook_secret vk_secret tracker_webhook_secret database_password; do \
	  printf '%s = "%s"\n' "$$name" "$$(od -An -N20 -tx1 /dev/urandom | tr -d ' \n')"; done
