package machine

import "time"

var start = time.Now()

func sinceStart() float64 { return time.Since(start).Seconds() }
