package show

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/janpfeifer/gonb/cache"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Cache returns the value that compute returned under this key before in the same notebook, or else its value now. GoNB's cache
// keeps it in the folder of the kernel, with which it ends: GoNB's default storage outlives kernels, and a later session would
// get what earlier code computed. It keeps what encoding/gob can write: of a model, keep the parameters. Outside a notebook it
// only computes.
func Cache[T any](key string, compute func() T) T {
	folder := os.Getenv(protocol.GONB_TMP_DIR_ENV)
	if folder == "" {
		return compute()
	}
	return cache.CacheWith(cache.MustNew(filepath.Join(folder, "cache")), key, compute)
}

// Key returns a key for [Cache], which differs as soon as one of the knobs that the value depends on differs. It is a hash of the
// knobs as %#v and %v print them. Knobs with pointers have another key in every cell, and are never found.
func Key(name string, knobs ...any) string {
	hash := sha256.New()
	for _, knob := range knobs {
		fmt.Fprintf(hash, "%T %#v %v\n", knob, knob, knob)
	}
	return fmt.Sprintf("%s-%.12x", name, hash.Sum(nil))
}
