import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'

/** A static page of all routes: no scripts and no external resources. */
export function toDocsPage(openapi: JsonObject): string {
  const operations = entries(openapi.paths).flatMap(([path, methods]) =>
    entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const rows = operations.map(({ path, method, operation }) => {
    const { summary, responses, parameters } = isObject(operation) ? operation : {}
    const statuses = entries(responses).map(
      ([status, response]) => `${status} ${text(isObject(response) ? response.description : '')}`,
    )
    const names = (Array.isArray(parameters) ? parameters : []).map((parameter) =>
      isObject(parameter) ? text(parameter.name) : '',
    )
    return `<tr><td><code>${method}</code></td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(text(summary))}<br><small>${escapeHtml(
      [names.join(', '), statuses.join(' · ')].filter((part) => part !== '').join(' — '),
    )}</small></td></tr>`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Switchboard API</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;width:100%}td{border-top:1px solid #ddd;padding:.5rem;vertical-align:top}small{color:#555}
@media(prefers-color-scheme:dark){body{color:#eee;background:#111}td{border-color:#333}small{color:#aaa}a{color:#8bf}}</style>
<h1>Switchboard API</h1><p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p>
<table>${rows.join('\n')}</table></html>`
}

const entries = (value: JsonValue | undefined): [string, JsonValue][] => (isObject(value) ? Object.entries(value) : [])
const text = (value: JsonValue | undefined): string => asString(value) ?? ''
const escapeHtml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
