// Command gppl-live is the program that a page carries to compute its figures again: package live, compiled to WebAssembly.
//
//	GOOS=js GOARCH=wasm go build ./cmd/gppl-live
//
// It defines one function, gpplLive, which takes a message and returns the answer, both JSON.
package main

import (
	"syscall/js"

	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

func main() {
	var session live.Session
	js.Global().Set("gpplLive", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(session.Answer([]byte(args[0].String())))
	}))
	select {} // the page calls it as long as it is open
}
