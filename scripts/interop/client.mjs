// What a program does around the protocol's TypeScript client: it keeps the state of the
// channels that it follows by the package's reducers, and says what became of an action.
// Between it and the host stands a relay, so that connections can be cut at any byte.
import net from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

export const root = 'ahp-root://'

export async function until(what, check, ms = 60_000) {
	for (const end = Date.now() + ms; ; await sleep(5)) {
		const value = await check()
		if (value) return value
		if (Date.now() > end) throw new Error(`not within ${ms / 1000} s: ${typeof what === 'function' ? what() : what}`)
	}
}

// A relay listens on loopback and passes on to a host's socket, with that one's Host; what
// clients send it keeps for up to ms, also when their connection is lost by then.
export async function relay(target, ms = 0) {
	const pairs = new Set()
	const server = net.createServer(down => {
		const up = net.connect(target)
		const pair = { down, left: Infinity }
		const mine = Math.random() * ms
		const late = act => ms ? setTimeout(act, mine) : act()
		const end = () => { pairs.delete(pair); down.destroy(); late(() => up.end()) }
		pairs.add(pair)
		for (const s of [down, up]) s.on('error', end).on('close', end)
		let opened = false
		down.on('data', data => {
			if (!opened && target.port) data = Buffer.from(data.toString('latin1').replace(/^(host: ).*$/im, `$1127.0.0.1:${target.port}`), 'latin1')
			opened = true
			const part = data.subarray(0, pair.left)
			pair.left -= part.length
			late(() => up.write(part))
			if (part.length < data.length) end()
		})
		up.on('data', data => down.write(data))
	})
	await new Promise(ok => server.listen(0, '127.0.0.1', ok))
	return {
		url: `ws://127.0.0.1:${server.address().port}`,
		cut: () => { for (const p of pairs) p.down.destroy() },
		cutAfter: bytes => { for (const p of pairs) p.left = bytes },
	}
}

export class Client {
	constructor(sdk, url, id, versions) {
		Object.assign(this, { sdk, url, id, versions, seq: 0, channels: new Map(), fates: new Map(), heard: [] })
	}

	// open begins, or after a lost connection goes on with the same clientId, as the SDK
	// does: its clientSeq begins at 1 again. It says how the host answered.
	async open(...subscriptions) {
		const { AhpClient, WebSocketTransport } = this.sdk
		const again = this.channels.size > 0
		await this.ended
		this.client = new AhpClient(await WebSocketTransport.connect(this.url))
		this.fates = new Map()
		this.held = []
		const events = this.client.events()
		this.client.connect()
		this.ended = (async () => { for await (const e of events) this.held ? this.held.push(e) : this.take(e) })()
		if (!again) {
			this.hello = await this.client.initialize({ clientId: this.id, protocolVersions: this.versions, initialSubscriptions: [root, ...subscriptions] })
			this.hello.snapshots.forEach(s => this.put(s))
			this.release()
			return 'initialize'
		}
		const answer = await this.client.reconnect({ clientId: this.id, lastSeenServerSeq: this.seq, subscriptions: [...this.channels.keys()] })
		if (answer.type === 'snapshot') answer.snapshots.forEach(s => this.put(s))
		else {
			for (const uri of answer.missing) this.channels.delete(uri)
			for (const params of answer.actions) this.take({ event: { type: 'action', params } })
		}
		this.release()
		// Notifications are not replayed.
		for (const s of (await this.client.request('listSessions', { channel: root })).items) this.summarize(s.resource, s)
		return answer.type
	}

	release() { const held = this.held; this.held = null; held.forEach(e => this.take(e)) }

	put({ resource, state, fromSeq }) {
		this.channels.set(resource, { state, seq: fromSeq })
		this.seq = Math.max(this.seq, fromSeq)
	}

	take({ event }) {
		if (event.type === 'sessionSummaryChanged') this.summarize(event.params.session, event.params.changes)
		if (event.type !== 'action') return
		const { channel, action, serverSeq, origin, rejectionReason } = event.params
		this.seq = Math.max(this.seq, serverSeq)
		if (origin?.clientId === this.id) this.fates.set(origin.clientSeq, { action, serverSeq, rejectionReason })
		const c = this.channels.get(channel)
		if (!c || rejectionReason !== undefined || serverSeq <= c.seq) return
		c.seq = serverSeq
		this.heard.push(event.params)
		const reduce = this.sdk[action.type.split('/')[0] + 'Reducer']
		if (reduce) c.state = reduce(c.state, action, () => {})
	}

	// summarize merges a row of a session into its state, which has a _meta of its own.
	summarize(uri, { _meta, ...changes }) {
		const state = this.state(uri)
		if (state) Object.assign(state.summary ?? state, changes)
	}

	async follow(uri) {
		this.held ??= []
		const { result } = await this.client.subscribe(uri)
		this.put(result.snapshot)
		this.release()
		return this.state(uri)
	}

	state(uri) { return this.channels.get(uri)?.state }
	request(method, params) { return this.client.request(method, params) }
	dispatch(channel, action, seq) { return this.client.dispatch(channel, action, seq).clientSeq }

	// fate is what the host made of an action: with rejectionReason, or without.
	async fate(channel, action, seq) {
		const n = this.dispatch(channel, action, seq)
		return until(`an answer to ${action.type}`, () => this.fates.get(n))
	}

	async lose() { await this.client.shutdown(); await this.ended }
}

// same waits until what a client made of its actions is what a fresh client is told. Left
// out are times, which reducers take from their own clock or do not know, activities that
// ended (0.5 has "" for them), and what a session or chat of 0.5 has twice.
export async function same(client, fresh, uri) {
	const twice = new Set(['title', 'status', 'activity', 'provider', 'workingDirectory'])
	const plain = state => {
		state = JSON.parse(JSON.stringify(state ?? null), (k, v) => ['modifiedAt', 'startedAt', 'duration'].includes(k) || k === 'activity' && v === '' ? undefined : v)
		if (state?.turns) delete state.summary
		else if (state?.summary) for (const k of twice) delete state[k]
		return state
	}
	let ours, theirs
	await until(() => `the state of ${uri} by actions is\n${JSON.stringify(ours)}\nand a fresh snapshot\n${JSON.stringify(theirs)}`, async () => {
		theirs = plain((await fresh.client.subscribe(uri)).result.snapshot.state)
		await fresh.client.unsubscribe(uri)
		ours = plain(client.state(uri))
		return isDeepStrictEqual(ours, theirs)
	}, 20_000)
}
