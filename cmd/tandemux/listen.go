package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"reflect"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/local"
)

// hostOptions are the flags of `tandemux host` that say how it listens.
type hostOptions struct {
	Listen     []string `flag:"listen" doc:"Also listen on this TCP address, such as 127.0.0.1:7070"`
	Origins    []string `flag:"allow-origin" doc:"Let web pages of this origin connect"`
	Names      []string `flag:"allow-host" doc:"A name by which clients may know this machine, besides its own"`
	Cert       string   `flag:"tls-cert" doc:"Encrypt with the certificate in this PEM file"`
	Key        string   `flag:"tls-key" doc:"Its key"`
	SelfSigned bool     `flag:"tls-self-signed" doc:"Encrypt with a certificate of tandemux's own, which clients trust by its fingerprint"`
	Plaintext  bool     `flag:"insecure-plaintext" doc:"Allow --listen on an address that other machines reach, unencrypted: whoever is on the way reads tokens and keys"`
}

// args repeats the flags for the process in the background.
func (o hostOptions) args() []string {
	args := []string{"host"}
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		flag := "--" + v.Type().Field(i).Tag.Get("flag")
		switch value := v.Field(i).Interface().(type) {
		case []string:
			for _, one := range value {
				args = append(args, flag+"="+one)
			}
		case string:
			if value != "" {
				args = append(args, flag+"="+value)
			}
		case bool:
			if value {
				args = append(args, flag)
			}
		}
	}
	return args
}

// check finds contradictions, and makes paths absolute.
func (o *hostOptions) check() error {
	switch {
	case (o.Cert == "") != (o.Key == ""):
		return cli.Usagef("--tls-cert and --tls-key go together")
	case o.Cert != "" && o.SelfSigned:
		return cli.Usagef("--tls-cert and --tls-self-signed exclude each other")
	case o.encrypts() && o.Plaintext:
		return cli.Usagef("--insecure-plaintext contradicts --tls-cert and --tls-self-signed")
	case len(o.Listen) == 0 && (o.encrypts() || o.Plaintext || len(o.Origins)+len(o.Names) > 0):
		return cli.Usagef("these flags say how to listen: say where with --listen, as in --listen 127.0.0.1:7070")
	}
	for _, path := range []*string{&o.Cert, &o.Key} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("find %s: %w", *path, err)
		}
		*path = abs
	}
	for _, addr := range o.Listen {
		switch other, err := listen.OtherMachines(addr); {
		case err != nil:
			return cli.Usagef("%w", err)
		case other && !o.Plaintext && !o.encrypts():
			return cli.Usagef("listen on %s: other machines would reach this address: allow it, encrypted, with --tls-self-signed or --tls-cert, or use 127.0.0.1", addr)
		}
	}
	return nil
}

func (o hostOptions) encrypts() bool { return o.Cert != "" || o.SelfSigned }

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
	switch {
	case o.Cert != "":
		cert, err = listen.LoadCertificate(o.Cert, o.Key, log)
	case o.SelfSigned:
		cert, err = listen.SelfSigned(d.State, log)
	}
	if err != nil {
		return nil, err
	}
	for _, addr := range o.Listen {
		var l net.Listener
		if cert != nil {
			l, err = listen.TLS(addr, cert)
		} else {
			l, err = listen.TCP(addr, o.Plaintext)
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
