import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { fitColumns, padColumns } from './columns.js'
import { formatTable } from './print.js'

describe('columns of the terminal', () => {
  it.each([
    ['plain text', 'hello', 5],
    ['Chinese', '翻译', 4],
    ['an emoji of several code points', '👩‍👩‍👧', 2],
    ['a combining accent', 'e\u0301', 1],
  ])('are counted for %s', (_, text, columns) => {
    expect(padColumns(text, 10)).toBe(text + ' '.repeat(10 - columns))
    expect(fitColumns(text, columns)).toBe(text)
  })

  it('are never exceeded, and no character is cut in two', () => {
    expect(fitColumns('翻译合同', 5)).toBe('翻译…')
    expect(fitColumns('翻译合同', 4)).toBe('翻…')
    expect(fitColumns('a👩‍👩‍👧b', 3)).toBe('a…')
    expect(fitColumns('hello', 1)).toBe('…')
    expect(fitColumns('hello', 0)).toBe('')
  })

  it('line up in a table', () => {
    const table = formatTable(
      ['ID', 'NAME', 'TEXT'],
      [
        ['a', '翻译', 'one'],
        ['bb', 'plain', 'two'],
      ],
    )
    expect(table).toBe('ID  NAME   TEXT\na   翻译   one\nbb  plain  two\n')
    const narrow = formatTable(['ID', 'TEXT'], [['a', '翻译合同']], { width: 9 }).split('\n')
    expect(narrow[1]).toBe('a   翻译…')
    expect(Math.max(...narrow.map((line) => stringWidth(line)))).toBeLessThanOrEqual(9)
  })

  it('are taken from the widest cells, so that every column stays visible', () => {
    const row = ['a-very-long-id-of-an-agent', '👩‍👩‍👧 family planner', '0.93', 'plans holidays for families']
    const [, line = ''] = formatTable(['ID', 'NAME', 'SCORE', 'TEXT'], [row], { width: 50 }).split('\n')
    expect(line).toBe('a-very-long-…  👩‍👩‍👧 family pl…  0.93   plans holida…')
    expect(stringWidth(line)).toBeLessThanOrEqual(50)
  })
})
