package forecast

import "sync"

// computed holds results that an Analysis computes from its models at the first request. Copies of an Analysis share it; an
// analysis with another series or other models has its own.
type computed struct {
	conditioned once[struct{}] // whether the members are conditioned on the data
	note        string         // why their posteriors are not exact; "" if they are; guarded by the lock of conditioned
	windows     windowCache    // shared by the members
	factor      once[*factor]  // the last that was asked for, of the best model
	outliers    once[*Outliers]
	shifts      once[[]ShiftSize]
}

// once is a value that is computed when it is first asked for, and anew after an error. It is safe for concurrent use.
type once[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

// get returns the value, and computes it if it is missing or if suits, unless nil, rejects the one that is there.
func (o *once[T]) get(suits func(T) bool, compute func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done && (suits == nil || suits(o.value)) {
		return o.value, nil
	}
	value, err := compute()
	if err == nil {
		o.value, o.done = value, true
	}
	return value, err
}

// ShiftSize is a series.Shift with its size.
type ShiftSize struct {
	Kind string  `json:"kind"` // "level" or "slope"
	X    float64 `json:"x"`
	When string  `json:"when"`
	// Size is in the unit of y or, for a slope, in the unit of y per unit of x. In a model of log y it is a change of log y.
	Size   float64 `json:"size"`
	StdErr float64 `json:"std_err"` // standard error of Size if the kernel's parameters and the noise are known
	Log    bool    `json:"log,omitempty"`
	// InY, for a change of the level of log y, is the change of y at the median of the 24 observations before it.
	InY float64 `json:"size_in_y,omitempty"`
	// Chance is approximately the probability of a shift as clear somewhere in a series without shifts; 0 if it was given.
	Chance float64 `json:"chance,omitempty"`
	// Used says that the forecast includes it.
	Used bool `json:"used"`
}

// Outlier is an observation that the model does not explain.
type Outlier struct {
	Index int     `json:"index"`
	When  string  `json:"when"`
	Y     float64 `json:"y"`
	// Probability is the probability of an observation as far out in either tail, given all others; with Student-t noise, of
	// noise as large.
	Probability float64 `json:"probability"`
	// Late says that it is among the latest observations, where changes of level are not looked for, and not the last: it may
	// be the first of a new level.
	Late bool `json:"late,omitempty"`
}

// Outliers lists the observations, among the latest Of, that the best model does not explain.
type Outliers struct {
	List []Outlier `json:"list"` // ordered by time
	Of   int       `json:"of"`
	// Heavy says that there are more of them than normal noise produces, so that noise with heavy tails describes the
	// observations better (observe.Outliers.Proposed).
	Heavy bool `json:"heavy,omitempty"`
}
