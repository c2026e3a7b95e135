//go:build !js

package live

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"strings"
)

//go:embed *.go
var sources embed.FS

// Sources returns a checksum of this package, by which a command knows that the program that it carries understands its figures.
// scripts/report/live.py computes the same.
func Sources() string {
	files, err := sources.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	sum := sha256.New()
	for _, f := range files { // they are sorted by name
		if strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := sources.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
