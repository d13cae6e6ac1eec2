package ahp

// MethodYield asks a host to end and leave everything to the next one: terminals,
// their output, who is connected. It is what `tandemux upgrade` says to the host of
// before. The answer comes first; then connections are closed with the status
// 1012 (service restart): clients try again without a pause.
const MethodYield = "x-tandemux/yield"
