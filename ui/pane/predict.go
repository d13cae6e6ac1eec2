package pane

import "tandemux/ui/predict"

// Predict runs fn with what is predicted of the terminal's echo, and the screen, for which it is
// asked: looks, or something is predicted. It reports whether there is something to draw.
func (f *Feed) Predict(looks bool, fn func(p *predict.Predictor, s predict.Screen, off int)) (draw bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil {
		return false
	}
	f.guard(func() {
		had := f.predict.Any()
		if had || looks {
			f.collect()
		}
		fn(&f.predict, f.em, f.lineOff)
		if draw = had || f.predict.Any(); draw {
			f.gen++
			f.all = f.gen
		}
	})
	return draw
}
