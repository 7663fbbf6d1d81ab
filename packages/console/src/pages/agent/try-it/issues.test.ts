import { ClientError } from '@switchboard/client'
import { expect, it } from 'vitest'
import { checkInput, checkPart, fits, issuesOfError, pointerTo } from './issues.js'

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    guests: { type: 'array', items: { type: 'object', required: ['name'] } },
  },
  required: ['city'],
}

it('finds the place of every problem', () => {
  expect(checkInput(schema, undefined).map(({ at }) => at)).toEqual(['/city'])
  expect(checkInput(schema, { city: 'x', guests: [{ name: 'Ann' }, {}] }).map(({ at }) => at)).toEqual([
    '/city',
    '/guests/1/name',
  ])
  expect(checkInput(schema, { city: 'Rome' })).toEqual([])
})

it('does not hang on a pattern that backtracks', () => {
  const started = Date.now()
  const text = `${'a'.repeat(50_000)}!`
  expect(checkInput({ type: 'object', properties: { t: { pattern: '^(a+)+$' } } }, { t: text })).toHaveLength(1)
  expect(Date.now() - started).toBeLessThan(5000)
})

it('checks one alternative with the definitions of the whole schema', () => {
  const root = { $defs: { seats: { type: 'integer' } } }
  const alternative = { type: 'object', properties: { seats: { $ref: '#/$defs/seats' } } }
  expect(checkPart(alternative, root, { seats: 'two' })).toMatchObject([{ at: '/seats' }])
  expect(fits(alternative, root, { seats: 2 })).toBe(true)
})

it('reads the members that an error names', () => {
  const details = { error: { code: 'InvalidInput', details: [{ member: '/city', message: 'must be a string' }] } }
  const error = new ClientError('invalid_input', 'no', { status: 400, details })
  expect(issuesOfError(error)).toEqual([{ at: '/city', message: 'must be a string' }])
  expect(issuesOfError(new Error('other'))).toEqual([])
})

it('escapes names in pointers', () => expect(pointerTo('/a', 'b/c~')).toBe('/a/b~1c~0'))
