# Homebrew's formula; scripts/release.sh fills it in.
class Tandemux < Formula
  desc "Terminal multiplexer that people and agents share"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL@/tandemux-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@darwin-arm64@"
    end
    on_intel do
      url "@URL@/tandemux-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@darwin-amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/tandemux-@VERSION@-linux-arm64.tar.gz"
      sha256 "@linux-arm64@"
    end
    on_intel do
      url "@URL@/tandemux-@VERSION@-linux-amd64.tar.gz"
      sha256 "@linux-amd64@"
    end
  end

  def install
    bin.install Dir["bin/*"]
    man1.install "tandemux.1"
    bash_completion.install "completions/tandemux.bash" => "tandemux"
    fish_completion.install "completions/tandemux.fish"
    zsh_completion.install "completions/_tandemux"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tandemux --version")
  end
end
