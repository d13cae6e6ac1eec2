// What useChat, DefaultChatTransport and readUIMessageStream make of a task (U48).
// main.mjs PACKAGES API TASK KEY: the folder of node_modules, the tasks' API, a task whose
// agent asks once in each turn and says what it was answered, and what lets us in.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const [packages, api, task, key] = process.argv.slice(2)
const headers = { Authorization: `Bearer ${key}` }
const require = createRequire(packages + '/')
const load = async name => {
	try {
		return require(name)
	} catch {
		return await import(require.resolve(name))
	}
}
// All before the first request: what takes seconds to load would keep us from seeing that the
// host has closed a connection which is idle.
const ai = await load('ai')
const { JSDOM } = await load('jsdom')
const dom = new JSDOM('<div id=root></div>', { url: 'http://localhost/' })
for (const name of ['window', 'document', 'navigator', 'HTMLElement']) globalThis[name] ??= name === 'window' ? dom.window : dom.window[name]
globalThis.IS_REACT_ACT_ENVIRONMENT = false
const React = await load('react')
const { createRoot } = await load('react-dom/client')
const { useChat } = await load('@ai-sdk/react')
console.log('ai', require('ai/package.json').version)

const at = `${api}/tasks/${task}/chat`
const textOf = m => m.parts.filter(p => p.type === 'text').map(p => p.text).join('')
const call = m => m.parts.find(p => p.type === 'dynamic-tool')
const limit = AbortSignal.timeout(60_000)

// A stream, read as one message; nothing of it is refused.
async function read(stream, message) {
	let last = message
	for await (const m of ai.readUIMessageStream({ stream, message, onError: e => { throw e }, terminateOnError: true })) last = m
	return last
}

// The transport by itself: a message, a question, its answer.
{
	const transport = new ai.DefaultChatTransport({ api: at, headers })
	const user = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
	const send = messages => transport.sendMessages({ chatId: 'c', messages, trigger: 'submit-message', abortSignal: limit })
	assert.equal(await transport.reconnectToStream({ chatId: 'c' }), null)
	let m = await read(await send([user]))
	assert.equal(call(m).state, 'approval-requested')
	assert.ok(m.parts.some(p => p.type === 'data-question' && p.data.lines.length > 0))
	const again = await read(await transport.reconnectToStream({ chatId: 'c' }))
	assert.equal(again.id, m.id)
	assert.equal(call(again).approval.id, call(m).approval.id)
	const c = call(m)
	c.state = 'approval-responded'
	c.approval = { ...c.approval, approved: false }
	m = await read(await send([user, m]), m)
	assert.equal(call(m).state, 'output-error')
	assert.match(textOf(m), /not/)
	const stream = await fetch(`${api}/tasks/${task}/stream?format=ui`, { headers })
	assert.equal(stream.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
	const whole = await read(ai.parseJsonEventStream({ stream: stream.body, schema: ai.uiMessageChunkSchema }).pipeThrough(new TransformStream({
		transform(chunk, out) {
			if (!chunk.success) throw chunk.error
			out.enqueue(chunk.value)
		},
	})))
	assert.equal(textOf(whole), textOf(m))
	console.log('transport: asked, refused, resumed, read whole')
}

// useChat in React, which answers approvals by itself.
{
	let chat
	const errors = []
	function App() {
		chat = useChat({
			id: 'c2', transport: new ai.DefaultChatTransport({ api: at, headers }), onError: e => errors.push(e),
			sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
		})
		return null
	}
	createRoot(document.getElementById('root')).render(React.createElement(App))
	const until = async (what, ok) => {
		for (const end = Date.now() + 30_000; !ok(); ) {
			assert.deepEqual(errors, [])
			assert.ok(Date.now() < end, `waited in vain until ${what}: ${JSON.stringify(chat?.messages)}`)
			await new Promise(done => setTimeout(done, 10))
		}
	}
	await until('it is there', () => chat)
	for (const round of [1, 2]) {
		chat.sendMessage({ text: 'go' })
		await until('it asks', () => chat.status === 'ready' && chat.messages.length === 2 * round && call(chat.messages.at(-1))?.state === 'approval-requested')
		chat.addToolApprovalResponse({ id: call(chat.messages.at(-1)).approval.id, approved: true })
		await until('it is done', () => chat.status === 'ready' && textOf(chat.messages.at(-1) ?? { parts: [] }).includes('once'))
		assert.equal(call(chat.messages.at(-1)).state, 'output-available')
	}
	assert.deepEqual(chat.messages.map(m => m.role), ['user', 'assistant', 'user', 'assistant'])
	console.log('useChat: two turns, each asked and allowed')
}
process.exit(0)
