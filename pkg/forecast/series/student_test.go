package series

import (
	"testing"
)

// TestStudentNote writes degrees of freedom without an exponent, and says that noise is normal where it is.
func TestStudentNote(t *testing.T) {
	for nu, want := range map[float64]string{
		200:  "Observations scatter as a normal distribution does (Student's t with 200 degrees of freedom); none of 3 is far off.",
		4.37: "Observations scatter as Student's t with 4.4 degrees of freedom; 0 of 3 are far off and count for less.",
	} {
		if got := (&Student{Nu: nu}).note([]float64{1, 1, 1}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
