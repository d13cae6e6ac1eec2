package pane

import "tandemux/ui/predict"

// Predict runs fn under the lock, with the predictor of the terminal's echo, the screen, and the
// offset that turns a screen line into a line. looks says that fn reads the screen. It reports
// whether there were or now are predictions, so that the views must be drawn.
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
