# Every command installs what it needs; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: deps
deps: # what a fresh machine lacks (Debian: apt; otherwise it says what is missing)
	@.ci/deps run

.PHONY: run
run: deps ## the whole platform with embedded databases and a sandbox in the browser
	@go run ./functions/local run

.PHONY: sandbox
sandbox: ## the stand-ins for Telegram, VK and Tracker alone, for any client
	@go run ./functions/local sandbox

.PHONY: demo
demo: deps ## plays the main job by itself and prints what everybody saw
	@go run ./functions/local demo

.PHONY: test
test: ## all tests, with the race detector, in random order
	@.ci/deps test
	@go test -race -shuffle=on -count=1 -timeout=20m ./...

.PHONY: fmt
fmt: ## formats the code
	@gofmt -w functions shared migrations .ci

LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.2

.PHONY: lint
lint: ## vet and linters (.golangci.yml says which and why)
	@go vet ./...
	@$(LINT) run ./...
