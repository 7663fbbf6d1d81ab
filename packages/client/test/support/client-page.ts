import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { createAuthority } from '../../../server/test/support/tls.js'

/** A page that has the client as the global `switchboard`. */
export interface ClientPage {
  readonly port: number
  /** Files that went into the page's bundle. */
  readonly modules: readonly string[]
  close(): Promise<void>
}

/** The client as web projects bundle it: by its package's name, for browsers. */
async function bundleClient(): Promise<{ readonly code: string; readonly modules: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export * from '@switchboard/client'",
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'switchboard',
    write: false,
    metafile: true,
  })
  // Files that the package leaves out for browsers are listed as disabled.
  const modules = Object.keys(metafile.inputs).filter((path) => !path.startsWith('(disabled):'))
  return { code: outputFiles[0]?.text ?? '', modules }
}

/** No code but the page's own; the checks of descriptors are compiled there, which takes 'unsafe-eval'. */
const CONTENT_POLICY = "default-src 'none'; script-src 'self' 'unsafe-eval'; connect-src *"

/** Serves the page by HTTPS; the browser has to be told to trust it, and which names lead here. */
export async function serveClientPage(): Promise<ClientPage> {
  const { code, modules } = await bundleClient()
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-page-'))
  const identity = createAuthority(folder, 'page').issue('/CN=page.example', 'DNS:page.example')
  const server = createServer(identity, ({ url }, response) => {
    const isScript = url === '/client.js'
    const type = isScript ? 'text/javascript' : 'text/html'
    response
      .writeHead(200, { 'content-type': type, 'content-security-policy': CONTENT_POLICY })
      .end(isScript ? code : '<!doctype html><title>Client</title><script src="/client.js"></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    modules,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
