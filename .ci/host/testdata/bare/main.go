// Command bare is the smallest function: it answers 200. Starts of the others are
// held against its.
package main

import "net/http"

// Handler answers 200.
func Handler(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func main() {}
