// The browser build in a real browser: a page of another origin finds, resolves, calls and streams, and calls an agent on
// this computer through the bridge of the local runtime after the user has consented.
import { createAgent } from '@switchboard/agent'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Computer, startComputer } from '../../local/test/support/computer.js'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { findChromium, NO_CHROMIUM } from './support/chromium.js'
import { type ClientPage, serveClientPage } from './support/client-page.js'

/** The global of the page's bundle; functions passed to `evaluate` run in the page. */
declare const switchboard: typeof import('../src/index.js')

const executablePath = findChromium()

/** An agent that pages of one origin may call. */
const makeAgent = (origin: string) =>
  createAgent({
    name: 'teller',
    version: '1.4.0',
    description: 'Counts, and says texts backwards.',
    origins: [origin],
    capabilities: [
      {
        name: 'reverse',
        input: { text: 'string' },
        output: { text: 'string' },
        handler: ({ text }) => ({ text: [...text].reverse().join('') }),
      },
      {
        name: 'count',
        input: { to: 'integer' },
        async *handler({ to }, { signal }) {
          signal.addEventListener('abort', () => stopped.push(to))
          for (let n = 1; n <= to; n++) {
            yield { n }
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        },
      },
      {
        name: 'later',
        input: { text: 'string' },
        deferred: true,
        handler: ({ text }) => ({ text }),
      },
    ],
  })

/** The `to` of each count that was cancelled. */
const stopped: number[] = []

describe.skipIf(executablePath === undefined)(executablePath ? 'the client in Chromium' : NO_CHROMIUM, () => {
  let page: ClientPage
  let origin: string
  let directory: TestDirectory
  let agent: ReturnType<typeof makeAgent>
  let agentUrl: string
  let browser: Browser
  let tab: Page
  /** Arguments of functions that run in the page, which cannot access this file's variables. */
  let given: { readonly baseUrl: string; readonly token: string; readonly agentUrl: string; readonly host: string }

  const open = async (url: string): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    // The browser's own permission for pages that connect to the user's network.
    await context.grantPermissions(['local-network-access'])
    const opened = await context.newPage()
    await opened.goto(url)
    return opened
  }

  beforeAll(async () => {
    page = await serveClientPage()
    origin = `https://page.example:${page.port}`
    agent = makeAgent(origin)
    agentUrl = (await agent.listen()).url ?? ''
    directory = await startDirectory({ cors: { origins: [origin] } })
    await agent.register(directory.url, { token: directory.adminKey })
    const token = await directory.makeKey({ subject: 'page', scopes: ['discover', 'invoke'] })
    given = { baseUrl: directory.url, token, agentUrl, host: new URL(agentUrl).host }
    browser = await chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      args: [
        '--host-resolver-rules=MAP *.example 127.0.0.1',
        // Treat the page as one from the Internet, which may not connect to loopback without permission.
        `--ip-address-space-overrides=127.0.0.1:${page.port}=public`,
      ],
    })
    tab = await open(origin)
  })
  afterAll(async () => {
    await browser?.close()
    await agent?.close()
    await directory?.close()
    await page?.close()
  })

  it('has no code for Node in its bundle', () => {
    expect(page.modules).toContainEqual(expect.stringMatching(/client\/dist\/index\.js$/))
    expect(page.modules.filter((path) => /\.node\.js$|node_modules\/ws\//.test(path))).toEqual([])
  })

  it('searches', async () => {
    const found = await tab.evaluate(async ({ baseUrl }) => {
      const agents = []
      const directory = switchboard.createClient({ baseUrl })
      for await (const { id, capabilities } of directory.search('say a text backwards'))
        agents.push({ id, capabilities })
      return agents
    }, given)
    expect(found).toEqual([{ id: 'teller', capabilities: ['reverse', 'count', 'later'] }])
  })

  it('resolves an intent, and an agent URI', async () => {
    const [candidates, resolved] = await tab.evaluate(async ({ baseUrl, token, host }) => {
      const directory = switchboard.createClient({ baseUrl, token })
      const { endpoint, version, capability, params, fallback } = await switchboard.resolveAgent(
        `agent://${host}/reverse?text=abc`,
        { httpLoopback: true },
      )
      const found = await directory.resolve('say a text backwards')
      return [found.map(({ id }) => id), { endpoint, version, capability, params, fallback }] as const
    }, given)
    expect(candidates).toEqual(['teller'])
    expect(resolved).toEqual({
      endpoint: `${agentUrl}/`,
      version: '1.4.0',
      capability: 'reverse',
      params: { text: 'abc' },
      fallback: false,
    })
  })

  it("resolves an agent URI under `script-src 'self'`, which forbids generated code", async () => {
    const result = await tab.evaluate(async ({ host }) => {
      const isForbidden = () => {
        try {
          return new Function('return false')()
        } catch (error) {
          return error instanceof EvalError
        }
      }
      // Chromium allows generated code until the first task of `evaluate` ends.
      await new Promise((resolve) => setTimeout(resolve))
      const { version, record } = await switchboard.resolveAgent(`agent://${host}/reverse`, { httpLoopback: true })
      return { version, capabilities: record?.capabilities.map(({ name }) => name), isForbidden: isForbidden() }
    }, given)
    expect(result).toEqual({ version: '1.4.0', capabilities: ['reverse', 'count', 'later'], isForbidden: true })
  })

  it('invokes through the directory, directly and by URI', async () => {
    const outputs = await tab.evaluate(async ({ baseUrl, token, host }) => {
      const directory = switchboard.createClient({ baseUrl, token })
      const named = { operation: 'reverse', requestId: 'r-1' }
      const replies = [
        await directory.invoke('teller', { text: 'abc' }, named),
        await directory.invoke('teller', { text: 'abc' }, { ...named, mode: 'direct', httpLoopback: true }),
        await switchboard.invokeAgent(`agent://${host}/reverse`, { text: 'abc' }, { httpLoopback: true }),
      ]
      return replies.map(({ output, version }) => ({ output, version }))
    }, given)
    expect(outputs).toEqual(Array(3).fill({ output: { text: 'cba' }, version: '1.4.0' }))
  })

  it('waits for deferred responses', async () => {
    const output = await tab.evaluate(async ({ host }) => {
      const options = { httpLoopback: true, sessionId: 's-1' }
      return (await switchboard.invokeAgent(`agent://${host}/later`, { text: 'done' }, options)).output
    }, given)
    expect(output).toEqual({ text: 'done' })
  })

  it('streams through the directory, by URI and by WebSocket', async () => {
    const streams = await tab.evaluate(async ({ baseUrl, token, agentUrl: url, host }) => {
      const socket = { 'agent://teller.example': url.replace('http', 'ws') }
      const all = [
        switchboard.createClient({ baseUrl, token }).stream('teller', { to: 3 }, { operation: 'count' }),
        switchboard.streamAgent(`agent://${host}/count`, { to: 3 }, { httpLoopback: true }),
        switchboard.streamAgent('agent://teller.example/count', { to: 3 }, { static: socket }),
      ]
      const read = []
      for (const stream of all) {
        const parts = []
        for await (const { data } of stream) parts.push(data)
        read.push(parts)
      }
      return read
    }, given)
    expect(streams).toEqual(Array(3).fill([{ n: 1 }, { n: 2 }, { n: 3 }]))
  })

  it('stops the agent when it leaves the loop of a stream', async () => {
    await tab.evaluate(async ({ host }) => {
      const parts = switchboard.streamAgent(`agent://${host}/count`, { to: 100_000 }, { httpLoopback: true })
      for await (const _part of parts) break
    }, given)
    await expect.poll(() => stopped).toContain(100_000)
  })

  it('reports failures by code', async () => {
    const codes = await tab.evaluate(async ({ baseUrl, token, host }) => {
      const directory = switchboard.createClient({ baseUrl, token })
      const works = [
        directory.invoke('teller', { text: 1 }, { operation: 'reverse' }),
        directory.get('nobody'),
        switchboard.invokeAgent(`agent+unix://notes/add`, {}),
        switchboard.invokeAgent(`agent://${host}/reverse`, { text: 'abc' }),
      ]
      const results = await Promise.allSettled(works)
      return results.map((result) =>
        result.status === 'rejected' && result.reason instanceof switchboard.ClientError ? result.reason.code : 'none',
      )
    }, given)
    expect(codes).toEqual(['invalid_input', 'not_found', 'unsupported_transport', 'blocked_address'])
  })

  it('can only search from origins that the directory does not list', async () => {
    const other = await open(`https://other.example:${page.port}`)
    const results = await other.evaluate(async ({ baseUrl, token, host }) => {
      const directory = switchboard.createClient({ baseUrl, token })
      const works = [
        directory.search('say a text backwards').then(({ total }) => total),
        directory.invoke('teller', { text: 'abc' }, { operation: 'reverse' }),
        switchboard.invokeAgent(`agent://${host}/reverse`, { text: 'abc' }, { httpLoopback: true }),
      ]
      const settled = await Promise.allSettled(works)
      return settled.map((result) => (result.status === 'rejected' ? result.reason.code : result.value))
    }, given)
    expect(results).toEqual([1, 'unreachable', 'unreachable'])
  })

  describe('with an agent on the same computer', () => {
    let computer: Computer
    let bridge: { readonly url: string }

    beforeEach(async () => {
      computer = await startComputer({ ask: async () => true })
      await computer.client.register('teller', { url: agentUrl })
      bridge = { url: computer.bridgeUrl }
      return () => computer.close()
    })

    /** Asks for consent; resolves to the token for the capability, or undefined if the user refused. */
    const askConsent = (from: Page, capability: string): Promise<string | undefined> =>
      from.evaluate(
        async ({ url, wanted }) => {
          const response = await fetch(`${url}/consents`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ agent: 'teller', capability: wanted }),
          })
          const { token } = JSON.parse(await response.text())
          return typeof token === 'string' ? token : undefined
        },
        { ...bridge, wanted: capability },
      )

    /** The output of `reverse`, or the code of the error. */
    const reverse = (from: Page, token?: string): Promise<unknown> =>
      from.evaluate(
        async ({ url, secret }) => {
          const credentials = secret === undefined ? {} : { credentials: { type: 'bearer', token: secret } as const }
          const options = { localBridge: url, ...credentials }
          return switchboard.invokeAgent('agent+local://teller/reverse', { text: 'abc' }, options).then(
            ({ output }) => output,
            ({ code }) => code,
          )
        },
        { ...bridge, secret: token },
      )

    it('AURI-6.1-09 is rejected before the user consents, accepted afterwards, and rejected once the consent is revoked', async () => {
      expect(await reverse(tab)).toBe('permission_denied')
      const token = await askConsent(tab, 'reverse')
      expect(await reverse(tab, token)).toEqual({ text: 'cba' })
      expect((await computer.client.consents()).consents).toMatchObject([{ origin, agent: 'teller' }])
      await computer.client.revoke({ origin })
      expect(await reverse(tab, token)).toBe('permission_denied')
    })

    it('streams from it until the consent is revoked', async () => {
      const token = await askConsent(tab, 'count')
      const streaming = tab.evaluate(
        async ({ url, secret }) => {
          const options = { localBridge: url, credentials: { type: 'bearer', token: secret } as const }
          try {
            for await (const { data } of switchboard.streamAgent(
              'agent+local://teller/count',
              { to: 99_999 },
              options,
            )) {
              Reflect.set(globalThis, 'heard', data)
            }
          } catch (error) {
            return error instanceof switchboard.ClientError
          }
          return false
        },
        { ...bridge, secret: token ?? '' },
      )
      await tab.waitForFunction(() => Reflect.get(globalThis, 'heard')?.n > 3)
      await computer.client.revoke({ agent: 'teller' })
      expect(await streaming).toBe(true)
      await expect.poll(() => stopped).toContain(99_999)
    })

    it('cannot use the token on a page of another origin', async () => {
      const token = await askConsent(tab, 'reverse')
      expect(await reverse(tab, token)).toEqual({ text: 'cba' })
      const other = await open(`https://other.example:${page.port}`)
      expect(await reverse(other, token)).toBe('permission_denied')
    })

    it('AURI-6.1-09 rejects a page whose host name was rebound to this computer', async () => {
      const rebound = await browser.newPage()
      const response = await rebound.goto(`http://rebind.example:${new URL(bridge.url).port}/agents/teller/reverse`)
      expect(response?.status()).toBe(421)
    })
  })
})
