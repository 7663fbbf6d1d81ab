import { type JsonObject, type JsonValue, type KeptRecord, ParsedRecords, readRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAgentIndex } from './agent-index.js'
import { agentTest, type Condition, conditionTest } from './conditions.js'
import type { IndexedAgent } from './select-agents.js'

const member = (name: string, value: JsonValue, asText = false): Condition => ({ kind: 'member', name, value, asText })

/** A record that has to be parsed again, from this text. */
function keep(text: string): KeptRecord {
  const records = new ParsedRecords(1)
  const kept = records.keep(text, readRecord('aidip', JSON.parse(text), 'a'))
  records.keep('{}', readRecord('aidip', {}, 'b'))
  return kept
}

describe('a filter on a record that is not parsed', () => {
  const name = fc.constantFrom('id', 'name', 'version', 'x', 'a/b', 'é', 'a"b', 'verification', 'c\\d')
  const scalar = fc.constantFrom<JsonValue>('a', '1', 1, true, 'true', 'x', 'é', 'a/b', 'a"b', '', null, 1e21, '1e+21')
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.dictionary(name, scalar, { maxKeys: 2 }))
  const document = fc.dictionary(name, value, { maxKeys: 4 })

  /** JSON with escapes where none are necessary. */
  const escaped = (json: string): string => json.replaceAll('/', '\\/').replaceAll(/[é]/g, '\\u00e9')

  it('passes the same agents as on one that is', () => {
    fc.assert(
      fc.property(document, name, value, fc.boolean(), fc.boolean(), (has, wanted, what, asText, isEscaped) => {
        const json = JSON.stringify(has)
        const text = isEscaped ? escaped(json) : json
        const condition = member(wanted, what, asText)
        const registry: JsonObject = { verification: { x: 'a' } }
        const plain = readRecord('aidip', JSON.parse(text), 'a')
        for (const given of [undefined, registry]) {
          const about = { status: 'active', ...(given && { registry: given }) }
          expect(agentTest(condition)(keep(text), about)).toBe(conditionTest(condition)(plain, 'active', given))
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('does not parse records that do not contain the name, or the value', () => {
    const kept = keep('{"name":"A","version":"1.0"}')
    const isParsed = (condition: Condition): boolean => {
      let parses = 0
      const watched = new Proxy(kept, {
        get(target, key) {
          if (key === 'document') parses++
          return Reflect.get(target, key, target)
        },
      })
      agentTest(condition)(watched, { status: 'active' })
      return parses > 0
    }
    expect(isParsed(member('region', 'eu'))).toBe(false)
    expect(isParsed(member('version', '2.0'))).toBe(false)
    expect(isParsed(member('version', '1.0'))).toBe(true)
    expect(isParsed({ kind: 'test', holds: () => true, unless: { member: 'constraints', holds: true } })).toBe(false)
  })

  it('finds capabilities by the prefix of a name, also together with a type or tag', () => {
    const index = createAgentIndex<IndexedAgent>()
    const put = (number: number, capabilities: JsonValue): void =>
      index.put({ number, status: 'active', record: readRecord('directory', { capabilities }, `agent-${number}`) })
    put(1, [{ name: 'get-weather', type: 'tool' }])
    put(2, [
      { name: 'get-news', type: 'skill' },
      { name: 'read', type: 'tool' },
    ])
    put(3, [{ name: 'budget', type: 'tool' }])
    const find = (more: JsonObject & { type?: string }): number[] => {
      const condition: Condition = { kind: 'directory-capability', name: { prefix: 'get' }, ...more }
      return Array.from(index.select({ conditions: [condition], view: ({ record }) => record }), ({ number }) => number)
    }
    expect(find({})).toEqual([1, 2])
    expect(find({ type: 'tool' })).toEqual([1])
    index.remove('agent-1')
    expect(find({})).toEqual([2])
  })
})
