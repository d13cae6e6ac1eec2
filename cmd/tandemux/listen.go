package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/local"
)

// hostOptions are the flags of `tandemux host`.
type hostOptions struct {
	listen     []string
	origins    []string
	names      []string
	remote     bool
	plaintext  bool
	selfSigned bool
	cert, key  string
}

func (o *hostOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.listen, "listen", nil, "also listen on this TCP address, such as 127.0.0.1:7070")
	f.StringArrayVar(&o.origins, "allow-origin", nil, "let web pages of this origin connect")
	f.StringArrayVar(&o.names, "allow-host", nil, "a name by which clients may know this machine, besides its own")
	f.BoolVar(&o.remote, "allow-remote", false, "allow --listen on an address that other machines reach, encrypted")
	f.StringVar(&o.cert, "tls-cert", "", "encrypt with the certificate in this PEM file")
	f.StringVar(&o.key, "tls-key", "", "its key")
	f.BoolVar(&o.selfSigned, "tls-self-signed", false, "encrypt with a certificate of tandemux's own, which clients trust by its fingerprint")
	f.BoolVar(&o.plaintext, "insecure-plaintext", false, "allow --listen on an address that other machines reach, unencrypted: whoever is on the way reads tokens and keys")
}

// args repeats the flags for the process in the background.
func (o hostOptions) args() []string {
	args := []string{"host"}
	for flag, values := range map[string][]string{"--listen": o.listen, "--allow-origin": o.origins, "--allow-host": o.names} {
		for _, v := range values {
			args = append(args, flag+"="+v)
		}
	}
	for flag, v := range map[string]string{"--tls-cert": o.cert, "--tls-key": o.key} {
		if v != "" {
			args = append(args, flag+"="+v)
		}
	}
	for flag, on := range map[string]bool{
		"--allow-remote": o.remote, "--tls-self-signed": o.selfSigned, "--insecure-plaintext": o.plaintext,
	} {
		if on {
			args = append(args, flag)
		}
	}
	return args
}

// check finds contradictions, and makes paths absolute.
func (o *hostOptions) check() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return cli.Usagef("--tls-cert and --tls-key go together")
	case o.cert != "" && o.selfSigned:
		return cli.Usagef("--tls-cert and --tls-self-signed exclude each other")
	case o.encrypts() && o.plaintext:
		return cli.Usagef("--insecure-plaintext contradicts --tls-cert and --tls-self-signed")
	case len(o.listen) == 0 && (o.encrypts() || o.plaintext || o.remote || len(o.origins)+len(o.names) > 0):
		return cli.Usagef("these flags say how to listen: say where with --listen, as in --listen 127.0.0.1:7070")
	}
	for _, path := range []*string{&o.cert, &o.key} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("find %s: %w", *path, err)
		}
		*path = abs
	}
	for _, addr := range o.listen {
		if _, err := o.encrypted(addr); err != nil {
			return err
		}
	}
	return nil
}

func (o hostOptions) encrypts() bool { return o.cert != "" || o.selfSigned }

// encrypted decides about one address: what other machines reach is encrypted
// unless the user says otherwise, and has to be asked for in any case.
func (o hostOptions) encrypted(addr string) (bool, error) {
	other, err := listen.OtherMachines(addr)
	switch {
	case err != nil:
		return false, err
	case other && !o.remote && !o.plaintext && !o.encrypts():
		return false, fmt.Errorf("listen on %s: other machines would reach this address: allow it, encrypted, with --tls-self-signed or --tls-cert, or use 127.0.0.1", addr)
	}
	return o.encrypts() || other && !o.plaintext, nil
}

// listenAll takes all addresses; on an error none.
func (o hostOptions) listenAll(d local.Dirs, log *slog.Logger) (all []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range all {
				l.Close()
			}
		}
	}()
	var cert *listen.Certificate
	for _, addr := range o.listen {
		secure, err := o.encrypted(addr)
		if err != nil {
			return all, err
		}
		if secure && cert == nil {
			if o.cert != "" {
				cert, err = listen.LoadCertificate(o.cert, o.key, log)
			} else {
				cert, err = listen.SelfSigned(d.State, log)
			}
			if err != nil {
				return all, err
			}
		}
		var l net.Listener
		if secure {
			l, err = listen.TLS(addr, cert)
		} else {
			l, err = listen.TCP(addr, o.plaintext)
		}
		if err != nil {
			return all, err
		}
		all = append(all, l)
	}
	return all, nil
}

// printAddresses says where a host listens and what clients need to know.
func printAddresses(w io.Writer, got ahp.HostResult) {
	for _, u := range got.URLs {
		fmt.Fprintf(w, "listening on %s; `tandemux token new` makes a token\n", u)
	}
	if got.Fingerprint != "" {
		fmt.Fprintf(w, "certificate %s\n", got.Fingerprint)
	}
	if got.Warning != "" {
		fmt.Fprintf(w, "warning: %s\n", cli.Line(got.Warning))
	}
}
