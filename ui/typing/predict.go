package typing

import (
	"time"

	"tandemux/ui/loop"
	"tandemux/ui/predict"
)

const (
	// nearTime is a round trip to the host over which nobody waits for an echo.
	nearTime = 20 * time.Millisecond
	// farTime is one after which what is predicted is underlined.
	farTime = 80 * time.Millisecond
)

// Predict says when typing shows before its echo has come.
type Predict uint8

// The values of Predict.
const (
	PredictFar Predict = iota // over lines where that takes a while
	PredictAlways
	PredictNever
)

// Predicts are the values by their names in the configuration.
var Predicts = map[string]Predict{"": PredictFar, "auto": PredictFar, "always": PredictAlways, "never": PredictNever}

// predict shows what was sent, if it was, where the host says that it will show.
func (ty *Typing) predict(o outgoing, seq int64, sent bool) {
	t := ty.panes.Terms.Get(o.uri)
	if t == nil || t.Feed == nil {
		return
	}
	trip := ty.link.At(o.uri).RoundTrip()
	far := trip >= nearTime || ty.Predicting == PredictAlways
	if !sent || o.part || !far || ty.Predicting == PredictNever {
		o.data = nil
	}
	if t.Feed.Predict(func(p *predict.Predictor, s predict.Screen, off int) {
		p.Mark = trip > farTime
		p.Type(o.data, seq, ty.loop.Now(), s, off)
	}) {
		ty.loop.Dirty |= loop.Panes
	}
}
