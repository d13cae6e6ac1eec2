package svg

import "tandemux/emulator"

func rgb(c uint32) emulator.Color {
	return emulator.RGB(uint8(c>>16), uint8(c>>8), uint8(c))
}

func sixteen(c [16]uint32) (p [16]emulator.Color) {
	for i := range c {
		p[i] = rgb(c[i])
	}
	return p
}

// Dark and Light are colours of tandemux's own in which text reads well.
var (
	Dark = emulator.Colors{
		FG: rgb(0xc9cfd9), BG: rgb(0x16181d),
		Indexed: sixteen([16]uint32{
			0x22262e, 0xe06c75, 0x8fd694, 0xe5c07b, 0x7cc4ff, 0xc792ea, 0x6fd3d3, 0xc9cfd9,
			0x5c6370, 0xff9e9e, 0xa8e6ad, 0xf5d899, 0xa3d6ff, 0xdcb5ff, 0x9be8e8, 0xffffff,
		}),
	}
	Light = emulator.Colors{
		FG: rgb(0x2a2e36), BG: rgb(0xfafbfc),
		Indexed: sixteen([16]uint32{
			0x2a2e36, 0xb3261e, 0x1e6b2c, 0x7a5300, 0x0b57a4, 0x7b2fa0, 0x006a6a, 0x9aa2b1,
			0x5c6370, 0xd13b32, 0x2c8a3d, 0x996900, 0x1a73d1, 0x9a45c4, 0x008787, 0xffffff,
		}),
	}
)
