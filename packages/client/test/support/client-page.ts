import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { createAuthority } from '../../../server/test/support/tls.js'

/** A page with the client as the global `switchboard`. */
export interface ClientPage {
  readonly port: number
  /** Files in the page's bundle. */
  readonly modules: readonly string[]
  close(): Promise<void>
}

/** Bundles the client as a web project does: by its package name, for browsers. */
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
  // Files that package.json excludes from browsers are listed as disabled.
  const modules = Object.keys(metafile.inputs).filter((path) => !path.startsWith('(disabled):'))
  return { code: outputFiles[0]?.text ?? '', modules }
}

/** Only the page's own scripts, and no generated code: `'unsafe-eval'` is missing. */
const CONTENT_POLICY = "default-src 'none'; script-src 'self'; connect-src *"

/** Serves the page over HTTPS. The browser must ignore certificate errors and map host names to 127.0.0.1. */
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
