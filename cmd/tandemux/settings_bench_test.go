package main

import (
	"os"
	"path/filepath"
	"testing"

	"tandemux/internal/config"
	"tandemux/internal/local"
)

// BenchmarkLoadSettings is what each start, and each new terminal in the host, costs.
func BenchmarkLoadSettings(b *testing.B) {
	for name, doc := range map[string]string{"none": "", "all": uncommented(defaultFile())} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if doc != "" {
				if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(doc), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := loadSettings(local.Dirs{Config: dir}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
