package attention

import (
	"time"

	"tandemux/internal/config/option"
)

// Alerts choose what is marked and told.
type Alerts struct {
	// Attention are the kinds of alerts that are marked (Names), nil for all; Notify
	// those that the outer terminal is told of by Notifications (tty.Notifier), ""
	// as it says itself.
	Attention, Notify []string
	Notifications     string
	LongCommand       time.Duration // a command's end is an alert from here on; 0 is never
}

// Options gives the options, which keep their values in s.
func (s *Alerts) Options() []option.Option {
	return []option.Option{
		{
			Name: "attention", Value: option.Default(&s.Attention, Names()), Choices: Names(),
			Doc: "What marks a tab, a terminal of the list and the status line while you look elsewhere: " + Doc() + ".",
		},
		{
			Name: "long-command", Value: option.Default(&s.LongCommand, 10*time.Second), Max: 86400,
			Doc: "How many seconds a command has to take for its end to be worth a mark; 0 is never.",
		},
		{
			Name: "notify", Value: option.Default(&s.Notify, []string{"note"}), Choices: Names(), // what programs ask for themselves
			Doc: "What your terminal also shows as a notification while you look elsewhere, by the names of attention.",
		},
		{
			Name: "notifications", Value: option.Default(&s.Notifications, "auto"), Choices: []string{"auto", "off", "osc9", "osc99", "osc777"},
			Doc: "How your terminal is told of a notification: as it says of itself what it has (\"auto\"), not at all, or by that sequence.",
		},
	}
}
