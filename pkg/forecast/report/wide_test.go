package report

import (
	"os"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/viz"
)

// The shadow behind a table wider than a phone is seen through its cells: the page's style names the colours that tables have.
func TestWideTablesShowTheirShadow(t *testing.T) {
	page, err := os.ReadFile("report.html")
	if err != nil {
		t.Fatal(err)
	}
	table, err := (&viz.Table{Caption: "t", Columns: []viz.Column{{Name: "a"}, {Name: "b", Best: true}},
		Rows: [][]any{{"x", 1.}, {"y", 2.}}}).HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, colour := range []string{"ffffff", "e6f4ef"} {
		if !strings.Contains(string(page), `[style*="`+colour+`"]`) || !strings.Contains(string(table), "#"+colour) {
			t.Errorf("the page's style and tables differ in the colour %s", colour)
		}
	}
}
