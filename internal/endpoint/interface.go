package endpoint

import (
	"context"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/palette"
)

// clientPrefix begins the ids of our clients, and KindInterface is that of interfaces in a
// terminal.
const (
	clientPrefix  = "tandemux-"
	KindInterface = "tui"
)

// Interface is one of this person's.
type Interface struct{ palette.Client }

// Interfaces are this person's in terminals, by layout.
func (s *Conn) Interfaces(ctx context.Context) (own []Interface, err error) {
	var all palette.Clients
	if err := s.Ask(ctx, palette.MethodClients, ahp.SubscribeParams{Channel: ahp.RootURI}, &all); err != nil {
		return nil, err
	}
	for _, one := range all.Items {
		if strings.HasPrefix(one.ClientID, clientPrefix+KindInterface+"-") {
			own = append(own, Interface{one})
		}
	}
	return own, nil
}

// Name is its id as people give it.
func (i Interface) Name() string { return strings.TrimPrefix(i.ClientID, clientPrefix) }

// On is the name of the layout that it shows.
func (i Interface) On() string { return LastPart(i.Layout) }

// ChooseInterface finds the one that is meant: by its id or how that begins, with or without
// "tui-"; for no id the only one that shows a layout, or for no layout the only one.
func ChooseInterface(all []Interface, id, layout string) (Interface, error) {
	var fits []Interface
	for _, one := range all {
		_, short, _ := strings.Cut(one.Name(), "-")
		switch {
		case id == "" && layout != "" && one.On() != layout:
		case id == "", strings.HasPrefix(one.Name(), id), strings.HasPrefix(short, id), one.ClientID == id:
			fits = append(fits, one)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	var there []string
	for _, one := range all {
		there = append(there, one.Name()+" shows "+one.On())
	}
	what := "you have no interface open"
	switch {
	case len(all) == 0:
		return Interface{}, fmt.Errorf("%s", what)
	case len(fits) > 0:
		what = "there are several interfaces"
	case id != "":
		what = fmt.Sprintf("you have no interface %q", id)
	case layout != "":
		what = "none of your interfaces shows layout " + layout
	}
	return Interface{}, fmt.Errorf("%s; say which with --interface: %s", what, strings.Join(there, ", "))
}
