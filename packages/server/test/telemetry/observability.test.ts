import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { setUp } from '../invoke/setup.js'
import { ROOT, temporaryFolder } from '../support/process.js'
import { parseSamples, parseTypes } from './samples.js'

const FOLDER = join(ROOT, 'deploy/observability')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const rules = read('deploy/observability/alerts.yml')
const dashboard = parseJson(read('deploy/observability/dashboard.json'))

const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: FOLDER })

/** All texts of a document that are PromQL. */
function expressionsIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(expressionsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member !== 'string' ? expressionsIn(member) : name === 'expr' || name === 'query' ? [member] : [],
  )
}

/** Metrics that a PromQL expression uses, with the labels in braces after them. */
const usesIn = (expression: string): { name: string; labels: string[] }[] =>
  [...expression.matchAll(/\b((?:switchboard|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=|!=|=~|!~)"/g)].map(([, label = '']) => label),
    }),
  )

/** Labels that Prometheus adds. */
const ADDED_LABELS = ['job', 'instance']

const setup = setUp()

describe('deploy/observability', () => {
  it.skipIf(!hasPromtool)('has alert rules that Prometheus accepts, and that fire when they should', async () => {
    expect((await promtool('check', 'rules', 'alerts.yml')).stdout).toContain(`${alerts.length} rules found`)
    expect((await promtool('test', 'rules', 'alerts.test.yml')).stdout).toContain('SUCCESS')
  })

  it.skipIf(!hasPromtool)('has a dashboard whose queries Prometheus can parse', async () => {
    const queries = expressionsIn(dashboard).filter((text) => text.includes('{') && !text.startsWith('label_values'))
    expect(queries.length).toBeGreaterThan(30)
    // As the rules of a group, because that is what promtool can check.
    const asRules = queries.map((text, i) => ({
      record: `query_${i}`,
      expr: text.replaceAll(/\$__(rate_)?interval/g, '1m').replaceAll(/\$(job|instance)/g, '.*'),
    }))
    const folder = temporaryFolder()
    writeFileSync(join(folder.path, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }))
    const { stdout } = await promtool('check', 'rules', join(folder.path, 'rules.yml'))
    folder.remove()
    expect(stdout).toContain(`${queries.length} rules found`)
  })

  it('tests every alert', () => {
    expect(alerts.length).toBeGreaterThan(10)
    const tested = [...read('deploy/observability/alerts.test.yml').matchAll(/alertname: (\w+)/g)].map(
      ([, name]) => name,
    )
    expect([...new Set(tested)].sort()).toEqual([...alerts].sort())
  })

  it('uses only metrics and labels that there are', async () => {
    const { directory } = setup
    await setup.register()
    await directory.post('/agents/search', { body: { query: 'an agent for tests' } })
    await setup.call({ text: 'hello' })
    await directory.post('/agents/search', { raw: '{' })
    const { text } = await directory.get('/metrics')
    const series = Array.from(parseTypes(text)).flatMap(([name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    )
    const labels = new Map(parseSamples(text).map((sample) => [sample.name, Object.keys(sample.labels)]))
    const uses = [rules, ...expressionsIn(dashboard)].flatMap(usesIn)
    expect(new Set(uses.map(({ name }) => name)).size).toBeGreaterThan(25)
    for (const use of uses) {
      expect(series, use.name).toContain(use.name)
      // The process may have collected no garbage yet.
      const known = [...(labels.get(use.name) ?? use.labels), ...ADDED_LABELS]
      for (const label of use.labels) expect(known, `${use.name}{${label}}`).toContain(label)
    }
  })

  it('links every alert to its entry in the runbook, and the runbook has no others', () => {
    const [, runbook = ''] = read('docs/operations.md').split('\n## Runbook\n')
    const entries = [...(runbook.split('\n## ')[0] ?? '').matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name)
    expect(entries.sort()).toEqual([...alerts].sort())
    const links = [...rules.matchAll(/runbook_url: .*\/docs\/operations\.md#(\S+)$/gm)].map(([, anchor]) => anchor)
    expect(links).toEqual(alerts.map((name) => name.toLowerCase()))
  })
})
