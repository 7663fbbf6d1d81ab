import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBystander } from '../support/bystander.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { candidates, discover, profileAgent, publish } from './publish.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const HR_ID = 'https://agents.example.net/id/hr-core-automator'
const bindingsOf = (...protocols: string[]): JsonObject[] =>
  protocols.map((protocol) => ({ protocol, endpoint: `https://agents.example.net/${protocol}` }))

describe('a discovery request', () => {
  it('PROF-5-01 must be one object', async () => {
    for (const body of [[], [{ query: 'x' }], 'x', null]) {
      expectError(await directory.post('/discover', { body }), { status: 400, code: 'invalid_request' })
    }
  })

  it('PROF-5.1-01 must have a query, a non-empty string (C-48)', async () => {
    for (const body of [{}, { query: 5 }, { query: '' }, { query: null }, { required_tags: ['hr'] }]) {
      const answer = await directory.post('/discover', { body })
      expectError(answer, { status: 400, code: 'invalid_request', member: '/query' }, JSON.stringify(body))
    }
  })

  it.each([
    ['PROF-5.1-02 required_tags must be a list', { required_tags: 'hr' }, '/required_tags'],
    ['PROF-5.1-03 preferred_tags must be a list', { preferred_tags: 'hr' }, '/preferred_tags'],
    ['PROF-5.1-04 excluded_tags must be a list of strings', { excluded_tags: [5] }, '/excluded_tags/0'],
    ['PROF-5.1-05 protocols must be a list', { protocols: 'https' }, '/protocols'],
    ['PROF-5.1-06 constraints must be an object', { constraints: ['apac'] }, '/constraints'],
    ['PROF-5.1-07 limit must be positive', { limit: 0 }, '/limit'],
    ['PROF-5.1-07 limit must be a whole number', { limit: 1.5 }, '/limit'],
    ['PROF-5.1-07 limit must be a number', { limit: 'x' }, '/limit'],
    ['PROF-5.1-08 include_evidence must be a boolean', { include_evidence: 'yes' }, '/include_evidence'],
    ['PROF-5.1-10 client_context must be an object', { client_context: 'zh' }, '/client_context'],
  ] satisfies [string, JsonObject, string][])('%s', async (_rule, members, member) => {
    const answer = await directory.post('/discover', { body: { query: 'x', ...members } })
    expectError(answer, { status: 400, code: 'invalid_request', member })
  })

  it('PROF-5.1-09 accepts three levels of detail', async () => {
    const answer = await directory.post('/discover', { body: { query: 'x', detail: 'huge' } })
    expectError(answer, { status: 400, code: 'invalid_request', member: '/detail' })
    for (const detail of ['minimal', 'summary', 'full'])
      expect((await directory.post('/discover', { body: { query: 'x', detail } })).status).toBe(200)
  })

  it('PROF-5.2-01 from the draft is accepted and finds the HR agent', async () => {
    await publish(directory, fixture('FX-D0'))
    await publish(directory, fixture('FX-HR', { constraints: { region: 'apac' } }))
    const { candidates: found, warnings } = await discover(directory, {
      query: 'Find an agent for onboarding validation and API setup.',
      required_tags: ['hr'],
      preferred_tags: ['onboarding', 'api-automation'],
      protocols: ['https'],
      constraints: { max_results_age_seconds: 300, region: 'apac' },
      limit: 10,
      detail: 'summary',
      include_evidence: true,
    })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ id: HR_ID, matched_tags: expect.arrayContaining(['hr', 'onboarding']) })
    expect(warnings).toBeUndefined()
  })

  it('PROF-13.2-01 PROF-13.2-02 PROF-3.1-05 needs no more than a query', async () => {
    const minimal = { query: 'answer a short factual question', protocols: ['https'], limit: 1 }
    expect(await candidates(directory, minimal)).toEqual([])
    await publish(directory, fixture('FX-D0'))
    await publish(directory, fixture('FX-D0', { id: 'second' }))
    expect(await candidates(directory, minimal)).toHaveLength(1)
    expect(await candidates(directory, { ...minimal, include_evidence: true })).toHaveLength(1)
  })

  it('may have unknown members (C-50)', async () => {
    await publish(directory, profileAgent())
    expect(await candidates(directory, { query: 'probe', 'com.example.x': 1, foo: {} })).toEqual(['probe'])
  })
})

describe('hard filters', () => {
  beforeEach(async () => {
    await publish(directory, profileAgent({ id: 'hr', tags: ['hr', 'Workflow'], bindings: bindingsOf('https') }))
    await publish(directory, profileAgent({ id: 'hr-x', tags: ['HR', 'x'], bindings: bindingsOf('mcp/1.0', 'https') }))
    await publish(directory, profileAgent({ id: 'other', tags: ['x'], bindings: bindingsOf('grpc') }))
  })

  it('PROF-5.1-02 PROF-5.1-11 PROF-3.1-02 PROF-4.4-02 required_tags: the agent must have all of them, in any case (C-16)', async () => {
    const { candidates: found, applied_filters: applied } = await discover(directory, {
      query: 'probe',
      required_tags: ['hr', 'x'],
    })
    expect(found.map(({ id, tags }: JsonObject) => ({ id, tags }))).toEqual([{ id: 'hr-x', tags: ['HR', 'x'] }])
    expect(applied).toEqual({ required_tags: ['hr', 'x'] })
    expect(await candidates(directory, { query: 'probe', required_tags: ['workflow'] })).toEqual(['hr'])
  })

  it('PROF-5.1-04 PROF-5.1-11 excluded_tags: the agent must have none of them', async () => {
    const { candidates: found, applied_filters: applied } = await discover(directory, {
      query: 'probe',
      excluded_tags: ['hr'],
    })
    expect(found.map(({ id }: JsonObject) => id)).toEqual(['other'])
    expect(applied).toEqual({ excluded_tags: ['hr'] })
    expect(await candidates(directory, { query: 'probe', required_tags: ['hr'], excluded_tags: ['x'] })).toEqual(['hr'])
  })

  it('PROF-5.1-05 PROF-3.1-02 PROF-6.1-03 protocols: the agent must have one of them, and only its bindings are returned (C-20)', async () => {
    const { candidates: found, applied_filters: applied } = await discover(directory, {
      query: 'probe',
      protocols: ['MCP'],
    })
    expect(found.map(({ id, bindings }: JsonObject) => ({ id, bindings }))).toEqual([
      { id: 'hr-x', bindings: bindingsOf('mcp/1.0') },
    ])
    expect(applied).toEqual({ protocols: ['MCP'] })
    expect((await candidates(directory, { query: 'probe', protocols: ['https', 'grpc'] })).sort()).toEqual([
      'hr',
      'hr-x',
      'other',
    ])
    expect(await candidates(directory, { query: 'probe', protocols: ['mcp/2.0'] })).toEqual([])
  })

  it('PROF-5.1-12 PROF-6.1-04 tags of unknown taxonomies are reported, not silently dropped', async () => {
    const { candidates: found, ...rest } = await discover(directory, {
      query: 'probe',
      required_tags: ['hr', 'urn:tax:foo#bar'],
      excluded_tags: ['https://tax.example/x'],
    })
    expect(found).toHaveLength(2)
    expect(rest.unsupported_filters).toEqual(['urn:tax:foo#bar', 'https://tax.example/x'])
    expect(rest.applied_filters).toEqual({ required_tags: ['hr'], excluded_tags: [] })
    expect(rest.warnings.join()).toContain('urn:tax:foo#bar')
  })

  it('PROF-13.3-01 PROF-14-09 PROF-12-06 an unknown constraint is reported, or rejected if the client prefers strict handling (C-50)', async () => {
    const body = {
      query: 'find a translation agent',
      required_tags: ['translation'],
      constraints: { unsupported_private_filter: 'example' },
    }
    const { unsupported_filters: unsupported, warnings } = await discover(directory, body)
    expect(unsupported).toEqual(['unsupported_private_filter'])
    expect(warnings.join()).toContain('unsupported_private_filter')
    const strict = await directory.post('/discover', { body, headers: { prefer: 'handling=strict' } })
    expectError(strict, { status: 400, code: 'unsupported_filter', says: /unsupported_private_filter/ })
    const known = { ...body, constraints: { region: 'apac' } }
    expect((await directory.post('/discover', { body: known, headers: { prefer: 'handling=strict' } })).status).toBe(
      200,
    )
  })

  it('PROF-5.1-12 a constraint with an unreadable value is reported too', async () => {
    const constraints = { region: 5, max_cost: 'cheap', max_results_age_seconds: '300' }
    const answer = await discover(directory, { query: 'probe', constraints })
    expect(answer.unsupported_filters.sort()).toEqual(['max_cost', 'max_results_age_seconds', 'region'])
    expect(answer.applied_filters).toEqual({})
  })

  it('PROF-5.1-11 unavailable agents are omitted (C-21)', async () => {
    await publish(directory, profileAgent({ id: 'resting', status: 'inactive' }))
    await publish(directory, profileAgent({ id: 'banned', status: 'suspended' }))
    await publish(directory, profileAgent({ id: 'old', status: 'deprecated' }))
    expect((await candidates(directory, { query: 'probe' })).sort()).toEqual(['hr', 'hr-x', 'old', 'other'])
  })
})

describe('constraints', () => {
  const found = async (constraints: JsonObject): Promise<string[]> =>
    (await candidates(directory, { query: 'probe', constraints })).sort()

  it('PROF-5.1-06 PROF-4.1-08 region: matches agents that allow it, and those without a region, with a warning (C-99)', async () => {
    await publish(directory, profileAgent({ id: 'apac', constraints: { region: 'apac' } }))
    await publish(directory, profileAgent({ id: 'both', constraints: { regions: ['EU', 'APAC'] } }))
    await publish(directory, profileAgent({ id: 'eu', constraints: { region: 'eu' } }))
    const stated = await discover(directory, { query: 'probe', constraints: { region: 'apac' } })
    expect(stated.candidates.map(({ id }: JsonObject) => id).sort()).toEqual(['apac', 'both'])
    expect(stated.applied_filters).toEqual({ constraints: { region: 'apac' } })
    expect(stated).not.toHaveProperty('warnings')
    await publish(directory, profileAgent({ id: 'silent' }))
    const { candidates: all, warnings } = await discover(directory, { query: 'probe', constraints: { region: 'apac' } })
    expect(all.map(({ id }: JsonObject) => id).sort()).toEqual(['apac', 'both', 'silent'])
    expect(warnings).toEqual([expect.stringContaining('region')])
  })

  it('PROF-5.1-06 cost, latency and residency: match agents within the limits', async () => {
    await publish(directory, profileAgent({ id: 'cheap', constraints: { cost: 1, latency_ms: 900 } }))
    await publish(directory, profileAgent({ id: 'fast', constraints: { cost: 9, latency_ms: 90 } }))
    await publish(directory, profileAgent({ id: 'local', constraints: { data_residency: 'eu' } }))
    expect(await found({ max_cost: 5 })).toEqual(['cheap', 'local'])
    expect(await found({ max_latency_ms: 100 })).toEqual(['fast', 'local'])
    expect(await found({ max_cost: 5, max_latency_ms: 100 })).toEqual(['local'])
    expect(await found({ data_residency: 'us' })).toEqual(['cheap', 'fast'])
  })
})

describe('preferences', () => {
  it('PROF-5.1-03 preferred_tags raise the rank and exclude no agent', async () => {
    await publish(directory, profileAgent({ id: 'plain', tags: ['a'] }))
    await publish(directory, profileAgent({ id: 'liked', tags: ['a', 'Gold'] }))
    expect(await candidates(directory, { query: 'probe' })).toEqual(['plain', 'liked'])
    expect(await candidates(directory, { query: 'probe', preferred_tags: ['gold'] })).toEqual(['liked', 'plain'])
  })

  it('PROF-5.1-03 preferred_tags can raise an agent onto a page that would otherwise not include it', async () => {
    for (let i = 0; i < 12; i++) await publish(directory, profileAgent({ id: `plain-${i}`, tags: ['a'] }))
    await publish(directory, profileAgent({ id: 'liked', tags: ['a', 'gold'] }))
    const wanted = { query: 'probe', limit: 2 }
    expect(await candidates(directory, wanted)).not.toContain('liked')
    expect((await candidates(directory, { ...wanted, preferred_tags: ['gold'] }))[0]).toBe('liked')
  })

  it('PROF-5.1-10 client_context never filters', async () => {
    await publish(directory, profileAgent())
    const client_context = { locale: 'zh', domain: 'aviation' }
    expect(await candidates(directory, { query: 'probe', client_context })).toEqual(['probe'])
  })

  it('PROF-5.1-07 limit: the maximum number of candidates, 10 by default and at most 100 (C-47)', async () => {
    const raw = Array.from({ length: 105 }, (_, i) => JSON.stringify(profileAgent({ id: `p${i}` }))).join('\n')
    await directory.post('/admin/import', { as: 'admin', raw })
    expect(await candidates(directory, { query: 'probe' })).toHaveLength(10)
    expect(await candidates(directory, { query: 'probe', limit: 1 })).toHaveLength(1)
    expect(await candidates(directory, { query: 'probe', limit: 1_000_000 })).toHaveLength(100)
  })
})

describe('the discovery response', () => {
  it('PROF-7.2-01 lists each candidate once, however many of its parts match', async () => {
    await publish(directory, fixture('FX-HR'))
    const query = 'HR onboarding workflow hcm: prepare a new-employee onboarding workflow, check payroll fields'
    const preferred_tags = ['hr', 'HR', 'onboarding', 'workflow']
    expect(await candidates(directory, { query, preferred_tags })).toEqual([HR_ID])
  })

  it('PROF-1-02 is computed without contacting any agent', async () => {
    const bystander = await startBystander()
    const bindings = [{ protocol: 'http', endpoint: `${bystander.url}/invoke` }]
    await publish(directory, profileAgent({ bindings }))
    for (const detail of ['minimal', 'summary', 'full']) {
      expect(await candidates(directory, { query: 'probe', detail })).toEqual(['probe'])
    }
    await directory.get('/discover/agents/probe')
    expect(bystander.requests()).toBe(0)
    await bystander.close()
  })

  it('PROF-6-01 PROF-6.1-01 PROF-6.1-02 PROF-6.1-06 PROF-6.1-07 is an object with candidates, best first', async () => {
    await publish(directory, profileAgent({ id: 'half', description: 'Sorts parcels, and no more than that.' }))
    await publish(directory, profileAgent({ id: 'whole', description: 'Sorts parcels by weight and by colour.' }))
    await publish(directory, profileAgent({ id: 'none', name: 'None', tags: [], description: 'Waters the plants.' }))
    const { headers, json } = await directory.post('/discover', { body: { query: 'sort parcels by colour' } })
    expect(json.candidates.map(({ id }: JsonObject) => id)).toEqual(['whole', 'half'])
    const scores: number[] = json.candidates.map(({ score }: { score: number }) => score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    for (const score of scores) {
      expect(score).toBeGreaterThan(0)
      expect(score).toBeLessThanOrEqual(1)
    }
    expect(json.request_id).toBe(headers.get('x-request-id'))
    expect(Math.abs(Date.now() - Date.parse(json.generated_at))).toBeLessThan(5000)
    expect(json.generated_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const again = await discover(directory, { query: 'sort parcels by colour' })
    expect(again.request_id).not.toBe(json.request_id)
    expect(await candidates(directory, { query: 'zebra' })).toEqual([])
  })

  it('PROF-6.1-01 uses the client’s request id (C-74)', async () => {
    const { headers, json } = await directory.post('/discover', {
      body: { query: 'x' },
      headers: { 'x-request-id': 'mine-4711' },
    })
    expect([json.request_id, headers.get('x-request-id')]).toEqual(['mine-4711', 'mine-4711'])
  })

  it('PROF-5.1-13 minimal: only id, status, bindings and score', async () => {
    await publish(directory, fixture('FX-HR'))
    const { candidates: found } = await discover(directory, { query: 'onboarding', detail: 'minimal' })
    expect(found).toEqual([
      {
        id: HR_ID,
        status: 'active',
        bindings: [{ protocol: 'https', endpoint: 'https://agents.example.net/hr-core/invoke' }],
        score: expect.any(Number),
      },
    ])
  })

  it('PROF-5.1-14 PROF-6.1-08 PROF-7.4-01 PROF-3-03 summary is the default: the members needed to choose', async () => {
    await publish(directory, fixture('FX-HR', { 'com.example.index': 'x', identity: 'did:web:hr.example' }))
    for (const detail of ['summary', undefined]) {
      const request = { query: 'onboarding', ...(detail !== undefined && { detail }) }
      const { candidates: found } = await discover(directory, request)
      expect(found).toEqual([
        {
          id: HR_ID,
          name: 'HR Core Automator',
          description: 'Optimizes HR workflows and onboarding checks.',
          tags: fixture('FX-HR').tags,
          bindings: fixture('FX-HR').bindings,
          status: 'active',
          score: expect.any(Number),
          freshness: expect.objectContaining({ indexed_at: expect.any(String) }),
          credential_refs: ['did:web:hr.example'],
        },
      ])
    }
  })

  it('PROF-5.1-15 full: the entire document', async () => {
    const document = fixture('FX-HR', { 'com.example.x': { y: 1 } })
    await publish(directory, document)
    const { candidates: found } = await discover(directory, { query: 'onboarding', detail: 'full' })
    expect(found[0]).toMatchObject(document)
  })

  it('PROF-5.1-16 PROF-7.4-02 PROF-7.4-03 PROF-7.4-04 PROF-8-02 omits private parts at every level of detail and marks the candidate as redacted', async () => {
    await publish(
      directory,
      profileAgent({
        examples: [{ id: 'ex-1', text: 'Open the vault of the museum.', private: true }],
        bindings: [...bindingsOf('https'), { protocol: 'grpc', endpoint: 'grpc://10.0.0.7:9000', private: true }],
        'com.example.billing': 'account 7',
        private: ['com.example.billing'],
      }),
    )
    for (const detail of ['minimal', 'summary', 'full']) {
      const { json, text } = await directory.post('/discover', {
        as: 'tokC',
        body: { query: 'probe vault', detail, include_evidence: true },
      })
      expect(json.candidates[0].redacted, detail).toBe(true)
      expect(json.warnings, detail).toHaveLength(1)
      expect(text, detail).not.toMatch(/museum|10\.0\.0\.7|account 7/)
    }
    // A hit would reveal that it exists.
    expect(await candidates(directory, { query: 'museum' }, { as: 'tokC' })).toEqual([])
    expect(await candidates(directory, { query: 'probe', protocols: ['grpc'] }, { as: 'tokC' })).toEqual([])
    const own = await discover(directory, { query: 'probe', detail: 'full' }, tokA)
    expect(own.candidates[0]).toMatchObject({ 'com.example.billing': 'account 7' })
    expect(own).not.toHaveProperty('warnings')
  })

  it('PROF-3.1-03 PROF-5.1-08 PROF-6.1-09 PROF-8-01 has evidence if requested', async () => {
    await publish(directory, fixture('FX-HR'))
    const request = { query: 'onboarding', required_tags: ['hr'], preferred_tags: ['workflow', 'tax'] }
    const { candidates: with_ } = await discover(directory, { ...request, include_evidence: true })
    expect(with_[0].matched_tags).toEqual(['hr', 'workflow'])
    expect(with_[0].freshness).toBeDefined()
    const documented: string[] = (await directory.get('/discover')).json.score_components
    const components: Record<string, number> = with_[0].score_components
    for (const [name, value] of Object.entries(components)) {
      expect(documented).toContain(name)
      expect(Math.abs(value)).toBeLessThanOrEqual(1)
    }
    expect(Object.keys(components).length).toBeGreaterThan(0)
    for (const include_evidence of [false, undefined]) {
      const body = { ...request, ...(include_evidence !== undefined && { include_evidence }) }
      const { candidates: without } = await discover(directory, body)
      expect(without[0]).not.toHaveProperty('matched_tags')
      expect(without[0]).not.toHaveProperty('score_components')
    }
  })

  it('PROF-6.1-05 has a warning while text search is off, and only the filters apply (C-52)', async () => {
    await directory.restart({ search: { semantic: false } })
    await publish(directory, profileAgent({ id: 'plants', name: 'Plants', tags: ['x'], description: 'Waters plants.' }))
    await publish(
      directory,
      profileAgent({ id: 'parcels', name: 'Parcels', tags: ['x'], description: 'Sorts parcels.' }),
    )
    const answer = await discover(directory, { query: 'sort parcels', required_tags: ['x'] })
    expect(answer.candidates.map(({ id }: JsonObject) => id)).toEqual(['parcels', 'plants'])
    expect(answer.warnings).toHaveLength(1)
    await directory.restart()
  })

  it('PROF-11-02 PROF-3.1-05 includes agents of the other drafts', async () => {
    await directory.post('/agents', { ...tokA, body: fixture('FX-T01') })
    await directory.post('/ad/r?agent=summarizer-v2', { ...tokA, body: fixture('FX-SUM') })
    const [translator] = (await discover(directory, { query: 'translate', required_tags: ['translation'] })).candidates
    expect(translator).toMatchObject({
      id: 'agent-12345',
      bindings: [{ protocol: 'https', endpoint: 'https://api.example.com/agents/translate' }],
    })
    const [summarizer] = (await discover(directory, { query: 'documents', required_tags: ['summarize'] })).candidates
    expect(summarizer).toMatchObject({ id: 'summarizer-v2', bindings: [{ protocol: 'a2a' }] })
  })

  it('PROF-6.1-02 contains nothing about agents that the caller may not see', async () => {
    await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'hidden', visibility: 'private' }) })
    expect(await candidates(directory, { query: 'probe' })).toEqual([])
    expect(await candidates(directory, { query: 'probe' }, tokA)).toEqual(['hidden'])
  })
})
