package keeper

import (
	"context"
	"errors"
	"strings"
	"testing"
)

const (
	loginGroup   = "0::/user.slice/user-1000.slice/session-3.scope\n"
	managerGroup = "1:name=systemd:/user.slice/user-1000.slice/user@1000.service/app.slice/tandemux-keeper-7.scope\n0::/\n"
)

// answers is a machine with logind: kills are the three answers of get-property.
func answers(kills, linger, cgroup string, calls *[]string) *login {
	l := &login{uid: 1000, name: "ada"}
	l.cgroup = func(int) (string, error) { return cgroup, nil }
	l.bus = func(_ context.Context, args ...string) (string, error) {
		line := strings.Join(args, " ")
		*calls = append(*calls, line)
		switch {
		case strings.Contains(line, "KillUserProcesses") && kills != "":
			return kills, nil
		case strings.Contains(line, "/user/_31000 ") && linger != "":
			return linger, nil
		case strings.Contains(line, "StartTransientUnit ssa(sv)a(sa(sv)) tandemux-keeper-7.scope fail 1 PIDs au 1 7 0"):
			cgroup = managerGroup
			return "o \"/org/freedesktop/systemd1/job/9\"", nil
		}
		return "", errors.New("busctl: no such bus")
	}
	return l
}

func TestLogout(t *testing.T) {
	for _, tt := range []struct {
		name, kills, linger, cgroup string
		pid                         int
		ok, left                    bool
		detail                      string
	}{
		{"kept", "b false\nas 0\nas 1 \"root\"\n", "b false\n", loginGroup, 7, true, false, "leaves processes alone"},
		{"excluded", "b true\nas 0\nas 2 \"root\" \"ada\"\n", "b false\n", loginGroup, 7, true, false, "leaves processes alone"},
		{"others only", "b true\nas 1 \"bob\"\nas 0\n", "b false\n", loginGroup, 7, true, false, "leaves processes alone"},
		{"killed", "b true\nas 0\nas 1 \"root\"\n", "b false\n", loginGroup, 7, false, true, "loginctl enable-linger"},
		{"lingers, in the login", "b true\nas 1 \"ada\"\nas 0\n", "b true\n", loginGroup, 7, false, true, "keeper.log"},
		{"lingers, left", "b true\nas 0\nas 0\n", "b true\n", managerGroup, 7, true, false, "outlive"},
		{"lingers, none runs", "b true\nas 0\nas 0\n", "b true\n", "", 0, true, false, "will start outside"},
		{"no bus", "", "", loginGroup, 7, false, false, "no such bus"},
		{"nonsense", "b maybe\n", "b true\n", loginGroup, 7, false, false, "unexpected answer"},
	} {
		var calls []string
		l := answers(tt.kills, tt.linger, tt.cgroup, &calls)
		ok, detail := l.check(context.Background(), tt.pid)
		if ok != tt.ok || !strings.Contains(detail, tt.detail) {
			t.Errorf("%s: %v, %s", tt.name, ok, detail)
		}
		left, err := l.leave(context.Background(), 7)
		if left != tt.left || (err != nil) != (tt.name == "no bus" || tt.name == "nonsense") {
			t.Errorf("%s: leave: %v, %v", tt.name, left, err)
		}
	}
	var none *login
	if ok, _ := none.check(context.Background(), 7); !ok {
		t.Error("a machine without systemd")
	}
	if !inLogin("12:cpu:/\n1:name=systemd:/user.slice/user-0.slice/session-12.scope\n0::/\n") || inLogin("0::/system.slice/session-1.service\n") || inLogin("5:cpu:/session-1.scope\n") {
		t.Error("inLogin")
	}
}
