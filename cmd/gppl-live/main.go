//go:build !js

// Elsewhere the same program answers the lines of standard input, with which scripts/e2e compares what a page computes.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

func main() {
	const longest = 1 << 26 // bytes of a message
	var session live.Session
	messages := bufio.NewScanner(os.Stdin)
	messages.Buffer(nil, longest)
	for messages.Scan() {
		fmt.Printf("%s\n", session.Answer(messages.Bytes()))
	}
	if err := messages.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "gppl-live:", err)
		os.Exit(1)
	}
}
