// Package acptest is an agent that speaks the Agent Client Protocol and does what
// a script says: for tests of whatever runs agents. It uses no model. Its
// JSON-RPC is written independently of tandemux's, so that the two check each other.
//
// Main is the program. A test binary becomes it by calling Main from its TestMain
// when it is started under that name.
//
// # Scripts
//
// A script is lines. Those before the first "prompt" say how the agent begins;
// each "prompt" begins what the next session/prompt does, the last one again and
// again. # begins a comment. In JSON and texts, $SESSION, $CWD, $DIR (of the
// session) and $NAME.MEMBER of an earlier result are replaced.
//
//	caps JSON               agentCapabilities
//	auth JSON               authMethods
//	version N               protocolVersion
//	session JSON            what session/new answers besides the id
//	refuse ARG              ends at once where ARG is among its arguments
//	on METHOD hang          never answers
//	on METHOD exit N        ends
//	on METHOD error N TEXT  answers with an error
//	once FILE               what follows counts until FILE exists, which it makes
//	task                    what follows counts in a task
//	always                  what follows counts
//
//	say TEXT                an agent_message_chunk; \n is a new line
//	think TEXT              an agent_thought_chunk
//	update JSON             any session/update
//	call NAME METHOD JSON   asks the client, and waits for the answer
//	go NAME METHOD JSON     asks the client, and goes on
//	join NAME               waits for the answer
//	mcp NAME METHOD JSON    asks the first of its MCP servers, which it starts
//	shell NAME LINE         runs a line by $SHELL, and keeps what it says
//	noted METHOD            waits for a notification of that server
//	show NAME               says an answer, or an error
//	expect NAME REGEXP      ends the agent unless the answer matches
//	cancel NAME             gives up a question ($/cancel_request)
//	raw TEXT                a line on stdout
//	garbage N               N bytes without a line's end on stdout
//	large N                 a message of N bytes
//	flood N                 N message chunks
//	stderr TEXT             a line on stderr
//	child FILE              a process in the background; its id goes to FILE
//	await cancel            waits for session/cancel
//	await prompt            waits for another session/prompt
//	deaf                    ignores session/cancel and the end of stdin, and SIGTERM
//	usage JSON              what the answer says that the turn used
//	stop REASON             answers the prompt
//	error N TEXT            answers the prompt with an error
//	exit N | kill | hang    ends, by a signal, or does nothing for ever
//
// A prompt's script that ends without an answer stops with end_turn, or
// cancelled when it was. What the agent got as the prompt is $PROMPT, as MCP servers
// $SERVERS, as _meta of its session $META, and as arguments $ARGS.
package acptest
