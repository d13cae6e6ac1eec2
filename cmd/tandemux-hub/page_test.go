package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// TestFleetPage runs the commands of docs/fleet.md as they are written, from one machine to
// three: each machine is a home of its own, and ssh a program that goes from one to another.
// Ports are free ones, and house is this machine, by TLS.
func TestFleetPage(t *testing.T) {
	soak.Long(t, "the page of a whole fleet")
	t.Parallel()
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	house := hosttest.New(t, "")
	machines := map[string]*hosttest.Machine{"build": hosttest.New(t, ""), "gpu": hosttest.New(t, "")}
	bin := filepath.Join(house.Dir, "bin")
	house.Must(os.Mkdir(bin, 0o700))
	program := house.Command().Path
	house.Must(os.Symlink(program, filepath.Join(bin, "tandemux")))
	ssh := "#!/bin/sh\nto=$1; shift\ncase $to in\n"
	for name, m := range machines {
		ssh += name + ") exec env -i " + strings.Join(m.Env, " ") + ` PATH=` + bin + `:$PATH sh -c "cd; $*";;` + "\n"
	}
	house.Must(os.WriteFile(filepath.Join(bin, "ssh"), []byte(ssh+"esac\nexit 255\n"), 0o700))
	ports := freePorts(t, 2)
	_, front, _ := strings.Cut(ports[0], ":")
	_, nats, _ := strings.Cut(ports[1], ":")
	words := strings.NewReplacer("7080", front, "4222", nats, "house", "localhost")
	ran := ""
	for _, m := range regexp.MustCompile("(?s)<!-- not run: TestFleetPage runs it -->\n```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(words.Replace(m[1])) {
			line = strings.TrimSpace(line)
			command, background := strings.CutSuffix(regexp.MustCompile(`\s+#.*$`).ReplaceAllString(line, ""), " &")
			if strings.HasPrefix(command, "tandemux run") || strings.HasPrefix(command, "tandemux hub ls") || strings.HasPrefix(command, "tandemux ls") {
				house.Eventually("all three are here", func() bool {
					all := fleet(house)
					return all["home"].Present && all["build"].Present && all["gpu"].Present
				})
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir, cmd.Env = house.Dir, append(house.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			if !background {
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
				ran += "$ " + command + "\n" + string(out)
				continue
			}
			cmd.Args[2] = "exec " + command
			if strings.Contains(command, "|") {
				cmd.Args[2] = command
			}
			log, err := os.Create(filepath.Join(t.TempDir(), "log"))
			house.Must(err)
			cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, group
			house.Must(cmd.Start())
			t.Cleanup(func() {
				endGroup(cmd)
				if t.Failed() {
					said, _ := os.ReadFile(log.Name())
					t.Logf("%s said:\n%s", command, said)
				}
			})
			if strings.Contains(command, "hub serve") {
				house.Eventually("the hub serves", func() bool {
					said, _ := os.ReadFile(log.Name())
					return strings.Contains(string(said), "hosts join at")
				})
			}
		}
	}
	for _, want := range []string{"home ", "build ", "gpu ", "Linux", "sha256:"} {
		if !strings.Contains(ran, want) {
			t.Errorf("nothing says %q:\n%s", want, ran)
		}
	}
	if strings.Contains(ran, "AWAY") {
		t.Errorf("a host is away:\n%s", ran)
	}
	t.Logf("%s", ran)
}
