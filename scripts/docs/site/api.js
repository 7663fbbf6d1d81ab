// The API reference: Swagger UI with the OpenAPI document of this directory. Its script is loaded before this one.
const element = document.querySelector('#site-api')
const root = new URL(element.dataset.root, document.baseURI)
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
follow()
dark.addEventListener('change', follow)

const response = await fetch(new URL('openapi.json', root))
const spec = await response.json()
globalThis.SwaggerUIBundle({
  // Requests go to where this page comes from, which may be another name of the directory than its public URL.
  spec: { ...spec, servers: [{ url: root.href.replace(/\/$/, '') }] },
  domNode: element,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  filter: true,
  validatorUrl: null,
  requestInterceptor: addToken,
  onComplete: () => element.removeAttribute('aria-busy'),
})

/** People who are signed in to the console need no key here, but proof that the request comes from a page of the directory. */
async function addToken(request) {
  const names = Object.keys(request.headers ?? {}).map((name) => name.toLowerCase())
  if (request.method === 'GET' || names.includes('authorization') || names.includes('x-api-key')) return request
  const session = await fetch(new URL('session', root)).then((reply) => reply.json())
  if (session.csrf) request.headers['X-CSRF-Token'] = session.csrf
  return request
}
