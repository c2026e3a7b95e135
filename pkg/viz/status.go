package viz

import (
	"fmt"
	"html"
)

// Status is the verdict on a published number or claim. As a cell of a [Table] it is a badge whose sign and word repeat what its
// colour says, for monochrome print and for colour-blind readers. Any other text is a badge in grey.
type Status string

type badge struct{ sign, ink, fill, edge string }

// badges are the looks of the verdicts of pkg/experiment/ledger; scripts/report/style.css has the same for the index of reports.
var badges = map[Status]badge{
	"reproduced":     {"✓", "#1a6334", "#e6f4ea", "1px solid #8cc7a0"},
	"corrected":      {"→", "#7a4b00", "#fff3d6", "2px solid #b97a10"},
	"not reproduced": {"✗", "#a4161a", "#fdeaea", "2px solid #a4161a"},
	"undecided":      {"~", "#4b5661", "#ffffff", "1px solid #8c959f"},
	"not comparable": {"≁", "#4b5661", "#f1f3f5", "1px dashed #8c959f"},
	"not run":        {"·", "#57606a", "#ffffff", "1px dotted #8c959f"},
}

// plain is the badge of any other text.
const plain Status = "not run"

func (s Status) badge() badge {
	if b, ok := badges[s]; ok {
		return b
	}
	return badges[plain]
}

// String returns the sign and the word, or a dash for none.
func (s Status) String() string {
	if s == "" {
		return absent
	}
	return s.badge().sign + " " + clean(string(s))
}

func (s Status) html() string {
	b := s.badge()
	return fmt.Sprintf(`<span style="display:inline-block;padding:0 0.45em;border-radius:0.7em;font-size:0.92em;font-weight:600;`+
		`white-space:nowrap;color:%s;background:%s;border:%s;print-color-adjust:exact;-webkit-print-color-adjust:exact">%s</span>`,
		b.ink, b.fill, b.edge, html.EscapeString(s.String()))
}
