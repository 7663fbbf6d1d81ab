import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Bundles the page with the client, as any web project would, and serves it on a free port of this computer. */
export async function servePage(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { outputFiles } = await build({
    entryPoints: [fileOf('page.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const files = new Map([
    ['/', { type: 'text/html', body: await readFile(fileOf('page.html')) }],
    ['/page.js', { type: 'text/javascript', body: outputFiles[0]?.contents }],
  ])
  const server = createServer((request, response) => {
    const file = files.get(request.url?.split('?')[0] ?? '')
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://localhost:${typeof address === 'object' ? address?.port : ''}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
