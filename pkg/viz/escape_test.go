package viz

import "testing"

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"noise in K_uu, p < 5 %":     `noise in K<sub>uu</sub>, <span style="white-space:nowrap">p &lt; 5 %</span>`,
		"1000·Σ_{i≠j} e^(−d_{ij}²)":  "1000·Σ<sub>i≠j</sub> e^(−d<sub>ij</sub>²)",
		"A⁻¹K_uu⁻¹":                  "A⁻¹K<sub>uu</sub>⁻¹",
		"I_Y − I_Z":                  "I<sub>Y</sub> − I<sub>Z</sub>",
		"-0.26 [-1, 2], a -> -3 ±-1": "−0.26 [−1, 2], a -&gt; −3 ±−1",
		"1-2, Table 3-4, x-1, -y":    "1-2, Table 3-4, x-1, -y",
		"co2_ppm x_value train_step": "co2_ppm x_value train_step",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}
