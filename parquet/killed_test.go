package gpplparquet

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/projected-likelihood/gppl/internal/killed"
)

var kills = flag.Int("kills", 2, "number of kills of TestKilled")

// TestKilled kills the command at random moments.
func TestKilled(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gppl-parquet")
	if text, err := exec.Command("go", "build", "-o", program, "./cmd/gppl-parquet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	file := write(t, schema, 1000, func(b *array.RecordBuilder) {
		for i := range 20000 {
			b.Field(0).(*array.Float64Builder).Append(float64(i))
			b.Field(1).(*array.Float64Builder).Append(float64(i * i % 17))
		}
	})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 4))
	var count killed.Count
	for i := range *kills {
		count.Check(t, killed.Command{
			Name: "gppl-parquet",
			Prepare: func(dir string) {
				if err := os.WriteFile(filepath.Join(dir, "a.parquet"), text, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			Process: func(dir string) *exec.Cmd {
				c := exec.Command(program, "--x", "t", "--y", "y", "-o", "all.sums", "a.parquet")
				c.Dir = dir
				return c
			},
		}, r, i%2 == 1)
	}
	t.Log(count)
}
