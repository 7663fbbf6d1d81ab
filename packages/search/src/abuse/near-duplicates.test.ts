import { readRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNearDuplicateDetector } from './near-duplicates.js'

const TEXT =
  'Translates legal contracts between German and English, keeps layout, numbering, footnotes and defined terms intact'
const BOILERPLATE =
  'Provided by Acme Cloud. Data is encrypted in transit and at rest. Enterprise support around the clock.'
const record = (name: string, description = TEXT) =>
  readRecord('aidip', { name, description, tags: [], capabilities: [], endpoint: 'https://a.example/' }, name)
const agent = (name: string, description?: string, rest: { publisher?: string; isPublic?: boolean } = {}) => ({
  record: record(name, description),
  publisher: 'acme',
  isPublic: true,
  ...rest,
})

describe('createNearDuplicateDetector', () => {
  it('PROF-14-04 finds 50 near-duplicates by one publisher', () => {
    const detector = createNearDuplicateDetector()
    for (let i = 1; i <= 50; i++) detector.put(i, agent(`Lexi ${i}`, `${TEXT}, variant ${i}`))
    expect(detector.duplicatesOf(7)).toEqual({ samePublisher: 49, total: 49, earlier: 0 })
    expect(detector.findingOf(7)).toEqual({
      code: 'near_duplicates',
      member: '',
      message: 'has 49 near-duplicates, 49 of them by the same publisher',
    })
  })

  it('finds duplicates with reordered or slightly changed words', () => {
    const detector = createNearDuplicateDetector()
    const shuffled = TEXT.split(' ').reverse().join(' ')
    detector.put(1, agent('Lexi'))
    detector.put(2, agent('Lexi', shuffled))
    detector.put(3, agent('Lexi Berlin', TEXT.toUpperCase()))
    expect(detector.duplicatesOf(1)).toEqual({ samePublisher: 2, total: 2, earlier: 0 })
  })

  it('accepts different agents that share their publisher’s boilerplate', () => {
    const detector = createNearDuplicateDetector()
    const jobs = [
      'Books meeting rooms and resolves conflicts between calendars of several offices',
      'Reads receipts, converts currencies and files expense reports for approval by managers',
      'Monitors warehouse stock and orders spare parts before they run out',
      'Answers questions of new employees about holidays, payroll and insurance',
      'Drafts replies to customers in their language and routes complaints to the right team',
      'Checks invoices against purchase orders and flags amounts that differ',
    ]
    for (const [i, job] of jobs.entries()) detector.put(i, agent(`Acme ${i}`, `${job}. ${BOILERPLATE}`))
    expect(jobs.map((_, i) => detector.duplicatesOf(i).total)).toEqual(jobs.map(() => 0))
  })

  it('does not flag the original for copies that others registered later', () => {
    const detector = createNearDuplicateDetector()
    for (let i = 1; i <= 20; i++) detector.put(i, agent('Lexi', TEXT, { publisher: `account ${i}` }))
    expect(detector.duplicatesOf(1)).toEqual({ samePublisher: 0, total: 19, earlier: 0 })
    expect(detector.findingOf(1)).toBeUndefined()
    expect(detector.findingOf(20)?.code).toBe('near_duplicates')
  })

  it('never counts private agents, but compares them with public ones', () => {
    const detector = createNearDuplicateDetector()
    for (let i = 1; i <= 10; i++) detector.put(i, agent(`Lexi ${i}`, TEXT, { isPublic: i <= 2 }))
    expect(detector.duplicatesOf(1)).toEqual({ samePublisher: 1, total: 1, earlier: 0 })
    expect(detector.duplicatesOf(9)).toEqual({ samePublisher: 2, total: 2, earlier: 0 })
    detector.put(3, agent('Lexi 3'))
    expect(detector.duplicatesOf(1).total).toBe(2)
    detector.put(3, agent('Lexi 3', TEXT, { isPublic: false }))
    expect(detector.duplicatesOf(1).total).toBe(1)
  })

  it('requires short records to be identical', () => {
    const detector = createNearDuplicateDetector()
    detector.put(1, agent('Weather', 'Weather data'))
    detector.put(2, agent('Weather', 'Weather news'))
    detector.put(3, agent('Weather 3', 'Weather data'))
    detector.put(4, agent('7', '42'))
    detector.put(5, agent('8', '43'))
    expect(detector.duplicatesOf(1).total).toBe(1)
    expect(detector.duplicatesOf(4).total).toBe(0)
  })

  it('stops counting at 100', () => {
    const detector = createNearDuplicateDetector()
    for (let i = 1; i <= 300; i++) detector.put(i, agent(`Lexi ${i}`))
    expect(detector.duplicatesOf(1).total).toBe(100)
    expect(detector.findingOf(1)?.message).toBe('has 100 or more near-duplicates, 100 of them by the same publisher')
  })

  it('reports nothing for an unknown agent', () => {
    expect(createNearDuplicateDetector().duplicatesOf(1)).toEqual({ samePublisher: 0, total: 0, earlier: 0 })
    expect(createNearDuplicateDetector().findingOf(1)).toBeUndefined()
  })

  it('counts the same as a new detector after any sequence of changes', () => {
    const texts = [TEXT, `${TEXT} ${BOILERPLATE}`, BOILERPLATE]
    const step = fc.record({
      number: fc.nat(12),
      text: fc.nat(2),
      publisher: fc.constantFrom('a', 'b'),
      isPublic: fc.boolean(),
      removed: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const detector = createNearDuplicateDetector()
        const left = new Map<number, ReturnType<typeof agent>>()
        for (const { number, text, publisher, isPublic, removed } of steps) {
          const next = agent('Lexi', texts[text], { publisher, isPublic })
          if (removed) detector.remove(number)
          else detector.put(number, next)
          if (removed) left.delete(number)
          else left.set(number, next)
        }
        const fresh = createNearDuplicateDetector()
        for (const [number, next] of left) fresh.put(number, next)
        expect(detector.size).toBe(left.size)
        for (const number of left.keys()) expect(detector.duplicatesOf(number)).toEqual(fresh.duplicatesOf(number))
      }),
    )
  })
})
