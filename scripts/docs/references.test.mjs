import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileSchema, ERROR_KINDS } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { toEditorSchema } from '../../packages/server/src/config/editor-schema.ts'
import { documents, readSnippets } from '../snippets.mjs'
import { ROOT } from '../tree.mjs'
import { REFERENCES } from './write-references.mjs'

const read = (path) => readFileSync(join(ROOT, path), 'utf8')

describe('the generated pages', () => {
  it.each(Object.entries(REFERENCES))('%s is current: if not, run `npm run docs:references`', (path, generate) => {
    expect(read(path)).toBe(generate())
  })
})

describe('the schema of the config file', () => {
  const schema = toEditorSchema()
  const check = compileSchema(schema)

  it('accepts every example of a config file in the documentation', () => {
    const examples = documents()
      .flatMap(readSnippets)
      .filter(({ language }) => language === 'json')
      .map(({ file, line, code }) => ({ at: `${file}:${line}`, value: JSON.parse(code) }))
      .filter(({ value }) => Object.keys(value).every((name) => Object.hasOwn(schema.properties, name)))
    expect(examples.length).toBeGreaterThan(8)
    for (const { at, value } of examples) expect([at, check(value)]).toEqual([at, []])
  })

  it('refuses unknown keys and wrong types, at every depth', () => {
    for (const wrong of [
      { rateLimit: {} },
      { gateway: { timeout: 1 } },
      { issuers: [{ issuer: 'https://a.example', audience: 'b', jwks: 'c' }] },
      { port: '8040' },
      { anonymous: 'everyone' },
    ])
      expect([wrong, check(wrong).length]).toEqual([wrong, 1])
    expect(check({ $schema: 'https://directory.example/docs/config.schema.json' })).toEqual([])
  })

  it('describes every key, and has the defaults that the directory uses', () => {
    const undescribed = []
    const visit = (path, each) => {
      const inner = [each, each.items, each.additionalProperties, ...(each.anyOf ?? [])]
      const children = inner.flatMap((part) => Object.entries(part?.properties ?? {}))
      if (children.length === 0 && !each.description) undescribed.push(path)
      for (const [name, child] of children) visit(`${path}.${name}`, child)
    }
    visit('', schema)
    expect(undescribed).toEqual([])
    const { port, rateLimits, search } = schema.properties
    expect([port.default, rateLimits.properties.search.default, search.properties.embedder.default]).toEqual([
      8040,
      600,
      'builtin',
    ])
  })
})

describe('docs/reference/errors.md', () => {
  const page = read('docs/reference/errors.md')

  it.each(Object.entries(ERROR_KINDS))('lists %s and says what to do about it', (code, { status, name }) => {
    expect(page).toContain(`| ${status} | [\`${code}\`](#${code}) | \`${name}\` |`)
    const [, section = ''] = page.split(new RegExp(`^## ${code}$`, 'm'))
    const [own] = section.split(/^## /m)
    expect(own).toMatch(/^\*\*What to do:\*\* .{30}/m)
  })
})
