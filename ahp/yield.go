package ahp

// MethodYield asks a host to end and leave everything to the next one: terminals,
// their output, who is connected. It is what `tandemux upgrade` says to the host of
// before. The answer comes first; then connections are closed with the status
// CloseRestart.
const MethodYield = "x-tandemux/yield"

// CloseRestart is the WebSocket status (service restart) of a host that another
// one follows at once: clients try again without a pause.
const CloseRestart = 1012
