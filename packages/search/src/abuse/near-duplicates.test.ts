import { readRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCopyDetector } from './near-duplicates.js'

const TEXT =
  'Translates legal contracts between German and English, keeps layout, numbering, footnotes and defined terms intact'
const BOILERPLATE =
  'Provided by Acme Cloud. Data is encrypted in transit and at rest. Enterprise support around the clock.'
const record = (name: string, description = TEXT) =>
  readRecord('aidip', { name, description, tags: [], capabilities: [], endpoint: 'https://a.example/' }, name)
const agent = (name: string, description?: string, rest: { publisher?: string; open?: boolean } = {}) => ({
  record: record(name, description),
  publisher: 'acme',
  open: true,
  ...rest,
})

describe('createCopyDetector', () => {
  it('PROF-14-04 finds 50 near-copies of one publisher', () => {
    const detector = createCopyDetector()
    for (let i = 1; i <= 50; i++) detector.put(i, agent(`Lexi ${i}`, `${TEXT}, variant ${i}`))
    expect(detector.copiesOf(7)).toEqual({ own: 49, all: 49, earlier: 0 })
    expect(detector.findingOf(7)).toEqual({
      code: 'near_duplicates',
      member: '',
      message: 'has 49 near-copies, 49 of the same publisher',
    })
  })

  it('finds copies whose words were shuffled or changed here and there', () => {
    const detector = createCopyDetector()
    const shuffled = TEXT.split(' ').reverse().join(' ')
    detector.put(1, agent('Lexi'))
    detector.put(2, agent('Lexi', shuffled))
    detector.put(3, agent('Lexi Berlin', TEXT.toUpperCase()))
    expect(detector.copiesOf(1)).toEqual({ own: 2, all: 2, earlier: 0 })
  })

  it('does not take agents for copies that share what their publisher says of itself', () => {
    const detector = createCopyDetector()
    const jobs = [
      'Books meeting rooms and resolves conflicts between calendars of several offices',
      'Reads receipts, converts currencies and files expense reports for approval by managers',
      'Monitors warehouse stock and orders spare parts before they run out',
      'Answers questions of new employees about holidays, payroll and insurance',
      'Drafts replies to customers in their language and routes complaints to the right team',
      'Checks invoices against purchase orders and flags amounts that differ',
    ]
    for (const [i, job] of jobs.entries()) detector.put(i, agent(`Acme ${i}`, `${job}. ${BOILERPLATE}`))
    expect(jobs.map((_, i) => detector.copiesOf(i).all)).toEqual(jobs.map(() => 0))
  })

  it('does not hold it against the first that others copy it', () => {
    const detector = createCopyDetector()
    for (let i = 1; i <= 20; i++) detector.put(i, agent('Lexi', TEXT, { publisher: `account ${i}` }))
    expect(detector.copiesOf(1)).toEqual({ own: 0, all: 19, earlier: 0 })
    expect(detector.findingOf(1)).toBeUndefined()
    expect(detector.findingOf(20)?.code).toBe('near_duplicates')
  })

  it('counts no agent that is hidden, but compares it with those that are not', () => {
    const detector = createCopyDetector()
    for (let i = 1; i <= 10; i++) detector.put(i, agent(`Lexi ${i}`, TEXT, { open: i <= 2 }))
    expect(detector.copiesOf(1)).toEqual({ own: 1, all: 1, earlier: 0 })
    expect(detector.copiesOf(9)).toEqual({ own: 2, all: 2, earlier: 0 })
    detector.put(3, agent('Lexi 3'))
    expect(detector.copiesOf(1).all).toBe(2)
    detector.put(3, agent('Lexi 3', TEXT, { open: false }))
    expect(detector.copiesOf(1).all).toBe(1)
  })

  it('takes short records for copies only if they say the same', () => {
    const detector = createCopyDetector()
    detector.put(1, agent('Weather', 'Weather data'))
    detector.put(2, agent('Weather', 'Weather news'))
    detector.put(3, agent('Weather 3', 'Weather data'))
    detector.put(4, agent('7', '42'))
    detector.put(5, agent('8', '43'))
    expect(detector.copiesOf(1).all).toBe(1)
    expect(detector.copiesOf(4).all).toBe(0)
  })

  it('stops counting in a flood', () => {
    const detector = createCopyDetector()
    for (let i = 1; i <= 300; i++) detector.put(i, agent(`Lexi ${i}`))
    expect(detector.copiesOf(1).all).toBe(100)
    expect(detector.findingOf(1)?.message).toBe('has 100 or more near-copies, 100 of the same publisher')
  })

  it('knows nothing of an agent that was never put', () => {
    expect(createCopyDetector().copiesOf(1)).toEqual({ own: 0, all: 0, earlier: 0 })
    expect(createCopyDetector().findingOf(1)).toBeUndefined()
  })

  it('counts as a new detector would, after any changes', () => {
    const texts = [TEXT, `${TEXT} ${BOILERPLATE}`, BOILERPLATE]
    const step = fc.record({
      number: fc.nat(12),
      text: fc.nat(2),
      publisher: fc.constantFrom('a', 'b'),
      open: fc.boolean(),
      gone: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const detector = createCopyDetector()
        const left = new Map<number, ReturnType<typeof agent>>()
        for (const { number, text, publisher, open, gone } of steps) {
          const next = agent('Lexi', texts[text], { publisher, open })
          if (gone) detector.remove(number)
          else detector.put(number, next)
          if (gone) left.delete(number)
          else left.set(number, next)
        }
        const fresh = createCopyDetector()
        for (const [number, next] of left) fresh.put(number, next)
        expect(detector.size).toBe(left.size)
        for (const number of left.keys()) expect(detector.copiesOf(number)).toEqual(fresh.copiesOf(number))
      }),
    )
  })
})
