package config

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLoad is what each start, and each new terminal in the host, costs.
func BenchmarkLoad(b *testing.B) {
	for name, doc := range map[string]string{"none": "", "all": uncommented(File())} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if doc != "" {
				if err := os.WriteFile(filepath.Join(dir, FileName), []byte(doc), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, problems := Load(dir); Fail(problems) != nil {
					b.Fatal(problems)
				}
			}
		})
	}
}
