// Drives the protocol's TypeScript client, as its package is, against a host:
// node main.mjs PACKAGE TANDEMUX AGENT DIRECTORY. See scripts/interop.sh.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, relay, root, same, until } from './client.mjs'

const [pkg, tandemux, agent, dir] = process.argv.slice(2)
const rounds = Number(process.env.ROUNDS ?? 200)
const manifest = JSON.parse(fs.readFileSync(path.join(pkg, 'package.json')))
const load = name => import(pathToFileURL(path.join(pkg, manifest.exports[name].import)))
const sdk = { ...await load('.'), ...await load('./client'), ...await load('./ws'), ...await load('./hosts') }

const tell = (...words) => execFileSync(tandemux, words, { encoding: 'utf8' })
const token = (...words) => JSON.parse(tell('token', 'new', '--json', ...words)).token
const runtime = path.join(process.env.XDG_RUNTIME_DIR, 'tandemux')
const start = () => Number(tell('host', '--listen', '127.0.0.1:0').match(/127\.0\.0\.1:(\d+)/)[1])

fs.mkdirSync(path.join(dir, 'config/tandemux'), { recursive: true })
fs.writeFileSync(path.join(dir, 'config/tandemux/config.toml'), `[agents.copilot]
command = ["sh", "-c", 'ACPTEST_SCRIPT=$(cat "$0") exec "$1"', "${dir}/agent.txt", "${agent}"]
`)
fs.writeFileSync(path.join(dir, 'count.sh'), 'for i in $(seq 2000); do echo line $i; done; while [ ! -e go ]; do sleep 0.05; done; echo last')
fs.writeFileSync(path.join(dir, 'agent.txt'), `
caps {"loadSession":true}
prompt
think Hm.
say I shall count.
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"Count","kind":"execute","rawInput":{"command":"sh count.sh"}},"options":[{"optionId":"once","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}
call t terminal/create {"sessionId":"$SESSION","command":"sh","args":["count.sh"],"cwd":"$CWD"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","content":[{"type":"terminal","terminalId":"$t.terminalId"}]}
call w terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
say Counted to 2000.
prompt
say I wait.
await cancel
`)

const port = start()
const tokens = { all: token('all'), look: token('--read-only', 'look'), drive: token('--scope', 'terminal:read,session', 'drive'), files: token('--scope', 'terminal:read,terminal:create,files:write', 'files') }
const unix = await relay({ path: path.join(runtime, 'host.sock') })
const tcp = await relay({ host: '127.0.0.1', port })
const slow = await relay({ path: path.join(runtime, 'host.sock') }, 40)
const withToken = (t, r = tcp) => `${r.url}/?tkn=${t}`
const clients = []
const make = (url, versions) => {
	const c = new Client(sdk, url, randomUUID(), versions ?? [...sdk.SUPPORTED_PROTOCOL_VERSIONS])
	clients.push(c)
	return c
}
const killHost = async () => {
	const c = make(unix.url)
	await c.open()
	process.kill((await c.request('x-tandemux/host', { channel: root })).pid, 'SIGKILL')
	await c.ended
	tell('ls') // starts the next
}
const cat = async (client, uri, file, tool = 'cat') => {
	await client.request('createTerminal', { channel: uri, name: uri.split('/')[1], claim: { kind: 'client', clientId: client.id }, cols: 80, rows: 24,
		_meta: { 'tandemux/command': ['sh', '-c', `exec 3>"$0"; stty raw -echo; printf 'rea%s' dy; exec ${tool} >&3`, file] } })
	const state = await client.follow(uri)
	await until('ready', () => JSON.stringify(client.state(uri).content).includes('ready'))
	return state
}
const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789 \t\r\n\u0001\u0003\u0004\u0011\u0013\u001b\u007fäß€漢字🙂']
const word = n => `<${n}>` + Array.from({ length: randomInt(40) }, () => letters[randomInt(letters.length)]).join('')

// connections types while connections are lost at any byte. The SDK counts its clientSeq
// from 1 on each: then what had no answer may have arrived or not, but all in order and
// nothing twice. A program that numbers on, and sends what has no answer again under its
// old number, has every byte arrive once.
async function connections(url, cut, numbersOn, { versions, kill } = {}) {
	const client = make(url, versions)
	await client.open()
	const uri = `ahp-terminal:/${randomUUID()}`, file = path.join(dir, randomUUID())
	await cat(client, uri, file, 'tee /dev/tty')
	const answers = {}, typed = []
	let number = 0, again = 0
	const type = w => {
		w.seq = client.dispatch(uri, w.action, numbersOn ? w.seq ?? ++number : undefined)
		w.fates = client.fates
	}
	const answered = w => w.fates?.get(w.seq)
	for (let round = 0; round < rounds; round++) {
		if (round % 2) cut.cutAfter(randomInt(2000))
		const words = Array.from({ length: randomInt(1, 12) }, (_, i) => ({ action: { type: 'terminal/input', data: word(typed.length + i) } }))
		typed.push(...words)
		try {
			for (const w of words) {
				type(w)
				if (randomInt(3) === 0) await sleep(randomInt(3))
			}
		} catch (e) {
			if (!(e instanceof sdk.ClientClosedError)) throw e
		}
		if (round % 3 === 0) await until('the echoes', () => words.every(answered) || client.client.connectionState.status !== 'connected')
		if (kill && round % 10 === 5) await killHost()
		cut.cut()
		await client.ended
		const how = await client.open()
		answers[how] = (answers[how] ?? 0) + 1
		if (!numbersOn) continue
		for (const w of words.filter(w => !answered(w))) {
			again++
			type(w)
		}
		await until('the echoes', () => words.every(answered))
	}
	await client.fate(uri, { type: 'terminal/input', data: '<end>' }, numbersOn ? ++number : undefined)
	await until('the end', () => fs.readFileSync(file, 'utf8').endsWith('<end>'))
	const have = fs.readFileSync(file, 'utf8')
	let at = 0, without = 0, lost = 0
	for (const w of typed) {
		const fate = answered(w)
		assert.equal(fate?.rejectionReason, undefined)
		if (!fate) without++
		if (have.startsWith(w.action.data, at)) at += w.action.data.length
		else if (fate || numbersOn) assert.fail(`${JSON.stringify(w.action.data)} was taken, and here is ${JSON.stringify(have.slice(at, at + 200))}`)
		else lost++
	}
	assert.equal(have.slice(at), '<end>')
	const fresh = make(url, versions)
	await fresh.open()
	await same(client, fresh, uri)
	await same(client, fresh, root)
	await client.request('disposeTerminal', { channel: uri })
	return `${rounds} connections lost, ${typed.length} inputs, ${Buffer.byteLength(have)} bytes in order, ` +
		(numbersOn ? `each once, ${again} sent again` : `${without} without an answer, ${lost} of them lost`) + `; reconnect: ${JSON.stringify(answers)}`
}

const scenarios = {
	async 'connect, initialize, root'() {
		const c = make(withToken(tokens.all))
		await c.open()
		assert.equal(c.hello.protocolVersion, c.versions[0])
		assert.ok(c.state(root).agents.some(a => a.provider === 'copilot'))
		assert.ok(c.hello.completionTriggerCharacters.includes('@'))
		await c.client.ping()
		await assert.rejects(sdk.WebSocketTransport.connect(`${tcp.url}/?tkn=wrong`))
		const wrong = make(withToken(tokens.all), ['77.0.0'])
		await assert.rejects(wrong.open(), e => e.code === -32005)
		return `speaks ${c.hello.protocolVersion}`
	},

	async 'create, type, output'() {
		const c = make(unix.url)
		await c.open()
		const uri = `ahp-terminal:/${randomUUID()}`
		await c.request('createTerminal', { channel: uri, claim: { kind: 'client', clientId: c.id }, cwd: pathToFileURL(dir).href, cols: 100, rows: 30 })
		await c.follow(uri)
		await c.fate(uri, { type: 'terminal/input', data: 'echo $((6*7)); pwd\r' })
		await until('output', () => JSON.stringify(c.state(uri).content).includes('42'))
		await c.fate(uri, { type: 'terminal/titleChanged', title: 'sums' })
		await until('the name', () => c.state(root).terminals.some(t => t.resource === uri && t.title === 'sums'))
		const fresh = make(unix.url)
		await fresh.open()
		await same(c, fresh, uri)
		await same(c, fresh, root)
		assert.equal((await c.fate(uri, { type: 'terminal/resized', cols: 90, rows: 20 })).rejectionReason, undefined)
		assert.equal(c.state(uri).cols, 90)
		await assert.rejects(c.request('createTerminal', { channel: uri, claim: { kind: 'client', clientId: c.id } }), e => e.code === -32010)
		await c.fate(uri, { type: 'terminal/input', data: 'exit 3\r' })
		await until('its end', () => c.state(uri).exitCode === 3)
		await c.request('disposeTerminal', { channel: uri })
		await until('its row gone', () => !c.state(root).terminals.some(t => t.resource === uri))
		await same(c, fresh, root)
	},

	'drop, reconnect, type; unix socket': () => connections(unix.url, unix, false),
	'drop, reconnect, type; what was sent comes later': () => connections(slow.url, slow, false),
	'drop, reconnect, type; what was sent comes later, numbering on': () => connections(slow.url, slow, true),
	'drop, reconnect, type; each tenth time the host is killed': () => connections(unix.url, unix, false, { kill: true }),
	'drop, reconnect, type; each tenth time the host is killed, numbering on': () => connections(unix.url, unix, true, { kill: true }),
	'drop, reconnect, type; 0.9, TCP, numbering on': () => connections(withToken(tokens.all), tcp, true, { versions: ['0.9.0'] }),
	'drop, reconnect, type; 1.x, TCP': () => connections(withToken(tokens.all), tcp, false, { versions: ['1.0.0'] }),
	'drop, reconnect, type; 1.x, unix socket, numbering on': () => connections(unix.url, unix, true, { versions: ['1.0.0'] }),

	async 'much output while away'() {
		const gone = await relay({ path: path.join(runtime, 'host.sock') })
		const c = make(gone.url), owner = make(unix.url)
		await owner.open()
		const uri = `ahp-terminal:/${randomUUID()}`
		await owner.request('createTerminal', { channel: uri, claim: { kind: 'client', clientId: owner.id }, _meta: { 'tandemux/command': ['sh', '-c', 'read x; seq 400000; printf "%s\\n" the end'] } })
		await c.open()
		await owner.follow(uri)
		await c.follow(uri)
		gone.cut()
		await c.ended
		await owner.fate(uri, { type: 'terminal/input', data: '\r' })
		await until('all of it', () => owner.state(uri).exitCode === 0)
		assert.equal(await c.open(), 'snapshot')
		await same(c, owner, uri)
		const text = s => s.state(uri).content.map(p => p.output ?? p.value).join('')
		assert.ok(text(owner).includes(Array.from({ length: 400000 }, (_, i) => `${i + 1}\r\n`).join('')), 'output is missing')
		assert.match(text(c), /399999\s+400000\s+the\s+end/)
		await owner.request('disposeTerminal', { channel: uri })
		return `${text(owner).length} bytes live, ${text(c).length} in the state`
	},

	async 'files'() {
		const c = make(withToken(tokens.all))
		await c.open()
		fs.writeFileSync(path.join(dir, 'a file.txt'), 'hä\n')
		const file = pathToFileURL(path.join(dir, 'a file.txt')).href
		assert.ok((await c.request('resourceList', { channel: root, uri: pathToFileURL(dir).href })).entries.some(e => e.name === 'a file.txt' && e.type === 'file'))
		const read = await c.request('resourceRead', { channel: root, uri: file, encoding: 'utf-8' })
		assert.equal(Buffer.from(read.data, read.encoding === 'base64' ? 'base64' : 'utf8').toString(), 'hä\n')
		assert.equal((await c.request('resourceResolve', { channel: root, uri: file })).size, 4)
		await assert.rejects(c.request('resourceRead', { channel: root, uri: file + '.not' }), e => e.code === -32008)
		await assert.rejects(c.request('resourceRead', { channel: root, uri: 'file:///etc/passwd' }), e => e.code === -32009)
		const at = name => pathToFileURL(path.join(dir, 'made', name)).href
		await assert.rejects(c.request('resourceMkdir', { channel: root, uri: at('') }), e => e.code === -32009)
		const w = make(withToken(tokens.files))
		await w.open()
		const does = (method, params) => w.request(method, { channel: root, ...params })
		await does('resourceMkdir', { uri: at('sub') })
		const { channel } = await does('createResourceWatch', { uri: at(''), recursive: true })
		await w.follow(channel)
		const saw = (type, name) => until(`${type} ${name}`, () => w.heard.some(e => e.channel === channel && e.action.changes.items.some(i => i.type === type && i.uri === at(name))))
		await does('resourceWrite', { uri: at('a'), data: 'one', encoding: 'utf-8', createOnly: true })
		await saw('added', 'a')
		await assert.rejects(does('resourceWrite', { uri: at('a'), data: 'two', encoding: 'utf-8', createOnly: true }), e => e.code === -32010)
		const { etag } = await does('resourceResolve', { uri: at('a') })
		await does('resourceWrite', { uri: at('a'), data: Buffer.from(' two').toString('base64'), encoding: 'base64', mode: 'append', ifMatch: etag })
		await saw('updated', 'a')
		await assert.rejects(does('resourceWrite', { uri: at('a'), data: 'x', encoding: 'utf-8', ifMatch: etag }), e => e.code === -32011)
		assert.equal(fs.readFileSync(path.join(dir, 'made/a'), 'utf8'), 'one two')
		await does('resourceCopy', { source: at('a'), destination: at('sub/b') })
		await saw('added', 'sub/b')
		await does('resourceMove', { source: at('a'), destination: at('c') })
		await does('resourceDelete', { uri: at('c') })
		await saw('deleted', 'a')
		assert.deepEqual((await does('resourceList', { uri: at('') })).entries, [{ name: 'sub', type: 'directory' }])
		await assert.rejects(does('resourceDelete', { uri: at('sub') }))
		fs.symlinkSync('/etc', path.join(dir, 'made/link'))
		for (const uri of [at('link/x'), 'file:///etc/x']) await assert.rejects(does('resourceWrite', { uri, data: '', encoding: 'utf-8' }), e => e.code === -32009)
		await does('resourceDelete', { uri: at('sub'), recursive: true })
		await saw('deleted', 'sub')
	},

	async 'the SDK\'s own reconnecting'() {
		const hosts = new sdk.MultiHostClient()
		const uri = `ahp-terminal:/${randomUUID()}`, file = path.join(dir, randomUUID())
		await hosts.addHost({ id: 'h', label: 'h', clientId: randomUUID(), initialSubscriptions: [root],
			transportFactory: () => sdk.WebSocketTransport.connect(unix.url), reconnectPolicy: { ...sdk.immediateForeverPolicy(), backoff: { kind: 'constant', delayMs: 5 } } })
		const now = () => hosts.host('h')
		await until('a connection', () => now().state.status === 'connected')
		const owner = make(unix.url)
		await owner.open()
		await cat(owner, uri, file)
		await hosts.subscribe('h', uri)
		let want = ''
		for (let i = 0; i < 20; i++) {
			const { generation } = now()
			if (i === 10) await killHost()
			else unix.cut()
			await until('a new connection', () => now().generation > generation && now().state.status === 'connected')
			hosts.dispatch('h', uri, { type: 'terminal/input', data: `${i};` })
			want += `${i};`
			await until(() => `${want}, not ${fs.readFileSync(file, 'utf8')}`, () => fs.readFileSync(file, 'utf8') === want)
		}
		await until('its row', () => now().terminals.some(t => t.resource === uri))
		await hosts.shutdown()
		return '19 connections lost, one host killed'
	},

	async 'chat, approval, tool terminal; the host killed'() {
		const session = `copilot:/${randomUUID()}`
		const c = make(unix.url), look = make(withToken(tokens.look)), drive = make(withToken(tokens.drive))
		for (const x of [c, look, drive]) await x.open()
		await c.request('createSession', { channel: session, provider: 'copilot', workingDirectory: pathToFileURL(dir).href })
		await c.follow(session)
		await until(() => JSON.stringify(c.state(session)), () => c.state(session).lifecycle === 'ready')
		const chat = c.state(session).defaultChat
		await c.follow(chat)
		await look.follow(session)
		await look.follow(chat)
		const started = { type: 'chat/turnStarted', turnId: randomUUID(), message: { text: 'count', origin: { kind: 'user' } } }
		assert.equal((await c.fate(chat, started)).rejectionReason, undefined)
		const call = (who = c) => (who.state(chat).activeTurn ?? who.state(chat).turns.at(-1))?.responseParts.find(p => p.kind === 'toolCall')?.toolCall
		await until('a question', () => call()?.status === 'pending-confirmation')
		await same(c, look, chat)
		await same(c, look, session)
		const yes = { type: 'chat/toolCallConfirmed', turnId: started.turnId, toolCallId: call().toolCallId, approved: true, confirmed: 'user-action', selectedOptionId: call().options.find(o => o.kind === 'approve').id }
		assert.match((await look.fate(chat, yes)).rejectionReason, /scope "session"/)
		assert.match((await drive.fate(chat, yes)).rejectionReason, /scope "approve"/)
		unix.cut()
		await c.ended
		await c.open()
		assert.equal((await c.fate(chat, yes)).rejectionReason, undefined)
		const uri = (await until(() => 'a terminal: ' + JSON.stringify(c.state(chat)), () => call()?.content?.find(p => p.type === 'terminal'))).resource
		const busy = await c.follow(uri)
		assert.equal(busy.claim.kind, 'session')
		assert.equal(busy.claim.session, session)
		assert.equal(busy.claim.toolCallId, call().toolCallId)
		assert.match((await c.fate(uri, { type: 'terminal/input', data: 'x' })).rejectionReason, /reclaim/)
		const text = () => c.state(uri).content.map(p => p.output ?? p.value).join('')
		await until('the lines', () => text().includes('line 2000\r\n'))
		fs.writeFileSync(path.join(dir, 'go'), '')
		await until('the end of the turn', () => !c.state(chat).activeTurn && c.state(chat).turns.length === 1)
		await until('the exit', () => c.state(uri).exitCode === 0)
		assert.equal(text(), Array.from({ length: 2000 }, (_, i) => `line ${i + 1}\r\n`).join('') + 'last\r\n')
		assert.equal(call().status, 'completed')
		await until('a narrower claim', () => c.state(uri).claim.session === session && c.state(uri).claim.toolCallId === undefined)
		for (const u of [chat, session, uri]) await same(c, look, u)
		// Which commands run is told only to who may run some.
		const told = (await look.client.subscribe(root)).result.snapshot.state.terminals.map(t => t._meta)
		assert.ok(c.state(root).terminals.some(t => t._meta['tandemux/lastCommand']))
		assert.deepEqual(told.map(m => [m['tandemux/command'], m['tandemux/lastCommand']]), told.map(() => [undefined, undefined]))

		// Killed in the second turn: that has failed, the first is whole.
		const second = { ...started, turnId: randomUUID() }
		await c.fate(chat, second)
		await until('an answer', () => c.state(chat).activeTurn?.responseParts.some(p => p.content === 'I wait.'))
		const first = JSON.stringify(c.state(chat).turns[0])
		await killHost()
		await Promise.all([c.ended, look.ended])
		const how = await c.open()
		await until('the turn to have failed', () => c.state(chat).turns.length === 2)
		assert.equal(c.state(chat).turns[1].state, 'error')
		assert.equal(JSON.stringify(c.state(chat).turns[0]), first)
		assert.ok((await c.request('listSessions', { channel: root })).items.some(s => s.resource === session))
		const fresh = make(unix.url)
		await fresh.open()
		for (const u of [chat, session, uri, root]) await same(c, fresh, u)
		await c.fate(chat, { ...started, turnId: randomUUID() })
		await until('a third turn', () => c.state(chat).activeTurn)
		await c.fate(chat, { type: 'chat/turnCancelled', turnId: c.state(chat).activeTurn.id })
		await until('its end', () => c.state(chat).turns.at(-1).state === 'cancelled')
		await same(c, fresh, chat)
		await c.request('disposeSession', { channel: session })
		return `session ${session.split(':')[0]}:, ${text().length} bytes of output, reconnect to the next host: ${how}`
	},

	async 'sessions: denial, queue, rows, chats, cancelling'() {
		const c = make(unix.url), fresh = make(unix.url)
		await c.open()
		await fresh.open()
		const session = `ahp-session:/${randomUUID()}`, create = { channel: session, provider: 'copilot', workingDirectory: pathToFileURL(dir).href,
			activeClient: { clientId: c.id, displayName: 'interop', tools: [{ name: 'shout', description: 'Shouts', inputSchema: { type: 'object', properties: {} } }] } }
		await c.request('createSession', create)
		await assert.rejects(c.request('createSession', create), e => e.code === -32003)
		await assert.rejects(c.request('createSession', { channel: 'copilot:/none', provider: 'nobody' }), e => e.code === -32002)
		await c.follow(session)
		await until('its start', () => c.state(session).lifecycle === 'ready')
		assert.deepEqual(c.state(session).activeClients.map(a => [a.clientId, a.tools.length]), [[c.id, 1]])
		const chat = c.state(session).defaultChat
		await c.follow(chat)
		const taken = async (uri, action) => assert.equal((await c.fate(uri, action)).rejectionReason, undefined, action.type)
		const message = text => ({ text, origin: { kind: 'user' } })
		const turnId = randomUUID()
		await taken(chat, { type: 'chat/turnStarted', turnId, message: message('first') })
		await until('a question', () => c.state(chat).activeTurn?.responseParts.some(p => p.toolCall?.status === 'pending-confirmation'))
		for (const id of ['q1', 'q2']) await taken(chat, { type: 'chat/pendingMessageSet', kind: 'queued', id, message: message(id) })
		await taken(chat, { type: 'chat/queuedMessagesReordered', order: ['q2', 'q1'] })
		await taken(chat, { type: 'chat/pendingMessageRemoved', kind: 'queued', id: 'q1' })
		await same(c, fresh, chat)
		await taken(session, { type: 'session/titleChanged', title: 'a name' })
		await taken(session, { type: 'session/isReadChanged', isRead: true })
		await taken(session, { type: 'session/isArchivedChanged', isArchived: true })
		await taken(session, { type: 'session/isArchivedChanged', isArchived: false })
		await taken(session, { type: 'session/configChanged', config: { 'tandemux/confirm': 'reads' } })
		await taken(session, { type: 'session/activeClientSet', activeClient: { clientId: c.id, tools: [] } })
		await same(c, fresh, session)
		await taken(chat, { type: 'chat/toolCallConfirmed', turnId, toolCallId: 'c1', approved: false, reason: 'denied', reasonMessage: 'not now' })
		fs.writeFileSync(path.join(dir, 'go'), '') // the agent runs it all the same
		await until('the queued turn', () => c.state(chat).activeTurn?.message.text === 'q2' && c.state(chat).activeTurn.responseParts.some(p => p.content === 'I wait.'))
		assert.equal(c.state(chat).turns[0].responseParts.find(p => p.toolCall).toolCall.status, 'cancelled')
		await same(c, fresh, chat)
		await taken(chat, { type: 'chat/turnCancelled', turnId: c.state(chat).activeTurn.id })
		await until('its end', () => c.state(chat).turns[1]?.state === 'cancelled')
		const fetched = await c.request('fetchTurns', { channel: chat, limit: 1 })
		assert.deepEqual([fetched.turns.length, fetched.hasMore], [1, true])
		assert.equal((await c.request('fetchTurns', { channel: chat, before: fetched.turns[0].id, limit: 5 })).turns[0].id, turnId)
		await taken(chat, { type: 'chat/truncated', turnId })
		assert.equal(c.state(chat).turns.length, 1)
		const other = `ahp-chat:/${randomUUID()}`
		await c.request('createChat', { channel: session, chat: other })
		await until('its row', () => c.state(session).chats.some(r => r.resource === other))
		await c.follow(other)
		for (const uri of [session, chat, other, root]) await same(c, fresh, uri)
		await c.request('disposeChat', { channel: other })
		await until('its row gone', () => !c.state(session).chats.some(r => r.resource === other))
		await taken(session, { type: 'session/activeClientRemoved', clientId: c.id })
		const notes = `${session}/annotations`, id = 'n1'
		await c.follow(notes)
		const note = { id, turnId, resource: pathToFileURL(path.join(dir, 'count.sh')).href, resolved: false, entries: [{ id: 'e1', text: 'why 2000?' }] }
		await taken(notes, { type: 'annotations/set', annotation: note })
		await taken(notes, { type: 'annotations/entrySet', annotationId: id, entry: { id: 'e2', text: { markdown: '*because*' } } })
		await taken(notes, { type: 'annotations/updated', annotationId: id, resolved: true })
		await taken(notes, { type: 'annotations/entryRemoved', annotationId: id, entryId: 'e1' })
		assert.ok((await c.fate(notes, { type: 'annotations/set', annotation: { ...note, id: 'n2', resource: 'file:///etc/none' } })).rejectionReason)
		await same(c, fresh, notes)
		assert.equal(c.state(notes).annotations[0].entries.length, 1)
		await taken(notes, { type: 'annotations/removed', annotationId: id })
		await same(c, fresh, session)
		await c.request('disposeSession', { channel: session })
		assert.ok(!(await c.request('listSessions', { channel: root })).items.some(s => s.resource === session))
	},

	async 'scopes'() {
		const c = make(withToken(tokens.all)), look = make(withToken(tokens.look))
		await c.open()
		await look.open()
		const uri = `ahp-terminal:/${randomUUID()}`
		await cat(c, uri, path.join(dir, randomUUID()), 'tee /dev/tty')
		await look.follow(uri)
		await c.fate(uri, { type: 'terminal/input', data: 'hello' })
		await until('what the other types', () => JSON.stringify(look.state(uri).content).includes('hello'))
		const refused = []
		for (const action of [{ type: 'terminal/input', data: 'x' }, { type: 'terminal/claimed', claim: { kind: 'client', clientId: look.id } }, { type: 'terminal/resized', cols: 10, rows: 10 },
			{ type: 'terminal/titleChanged', title: 'x' }, { type: 'terminal/cleared' }]) refused.push((await look.fate(uri, action)).rejectionReason)
		assert.ok(refused.every(r => r), JSON.stringify(refused))
		for (const [method, params] of [['createTerminal', { channel: 'ahp-terminal:/x', claim: { kind: 'client', clientId: look.id } }], ['disposeTerminal', { channel: uri }],
			['createSession', { channel: 'copilot:/x', provider: 'copilot' }]]) await assert.rejects(look.request(method, params), e => e.code === -32009, method)
		await same(look, c, uri)
		await c.request('disposeTerminal', { channel: uri })
		return `${refused.length} actions and 3 requests refused`
	},

	async 'two clients race for a claim'() {
		const owner = make(unix.url)
		await owner.open()
		const uri = `ahp-terminal:/${randomUUID()}`
		await cat(owner, uri, path.join(dir, randomUUID()))
		const racers = await Promise.all(['a', 'b'].map(async name => {
			const c = make(withToken(token('--terminal', uri.split('/')[1], name)))
			await c.open()
			await c.follow(uri)
			return c
		}))
		const won = [0, 0]
		for (let i = 0; i < rounds / 2; i++) {
			const back = await owner.fate(uri, { type: 'terminal/claimed', claim: { kind: 'client', clientId: owner.id } })
			assert.equal(back.rejectionReason, undefined)
			await until('the owner\'s claim', () => racers.every(r => r.channels.get(uri).seq >= back.serverSeq))
			const order = randomInt(2) ? [0, 1] : [1, 0]
			const fates = []
			await Promise.all(order.map(async n => { fates[n] = await racers[n].fate(uri, { type: 'terminal/claimed', claim: { kind: 'client', clientId: racers[n].id } }) }))
			const winner = fates.findIndex(f => f.rejectionReason === undefined)
			assert.equal(fates.filter(f => f.rejectionReason).length, 1, `round ${i}: ${JSON.stringify(fates)}`)
			await until('all to agree', () => [owner, ...racers].every(c => c.state(uri).claim.clientId === racers[winner].id))
			won[winner]++
		}
		return `${won[0] + won[1]} rounds, won ${won.join(' and ')}`
	},

	async 'a client that the host does not know'() {
		const c = make(unix.url)
		c.client = new sdk.AhpClient(await sdk.WebSocketTransport.connect(unix.url))
		c.client.connect()
		// As the SDK does: where reconnect is refused it initializes on the same connection.
		const answer = await c.client.reconnect({ clientId: c.id, lastSeenServerSeq: 5, subscriptions: [root] }).catch(e => e)
		if (answer instanceof sdk.RpcError) await c.client.initialize({ clientId: c.id, protocolVersions: c.versions, initialSubscriptions: [root] })
		await c.client.ping()
		await c.client.shutdown()
		return answer instanceof Error ? `reconnect: ${answer.message}` : `reconnect: ${answer.type}`
	},
}

let failed = 0
for (const [name, run] of Object.entries(scenarios)) {
	if (process.env.RUN && !name.includes(process.env.RUN)) continue
	const begin = Date.now()
	try {
		const said = await run()
		console.log(`ok    ${name}${said ? `: ${said}` : ''} (${((Date.now() - begin) / 1000).toFixed(1)} s)`)
	} catch (e) {
		failed++
		console.log(`FAIL  ${name}: ${e.stack ?? e}`)
	}
	await Promise.all(clients.splice(0).map(c => c.client?.shutdown()))
}
process.exit(failed ? 1 : 0)
