import { expect, it } from 'vitest'
import { operandsOf } from './operands.js'

it.each([
  [[''], 0, 0],
  [['FILE|URL|-'], 1, 1],
  [['[FILE]'], 0, 1],
  [['[WORDS…]'], 0, Number.POSITIVE_INFINITY],
  [['ID…'], 1, Number.POSITIVE_INFINITY],
  [['SUBJECT TO'], 2, 2],
  [['ORIGIN [AGENT [CAPABILITY]]'], 1, 3],
  [['AGENT [NAME=TEXT|NAME:=JSON]…'], 1, Number.POSITIVE_INFINITY],
  [['--from FOLDER|URL --to FOLDER|URL'], 0, 0],
  [['URL|HOST…', '--list', '--remove ID…'], 0, Number.POSITIVE_INFINITY],
])('the usage %j takes from %d to %d operands', (usage, least, most) => {
  expect(operandsOf(usage)).toEqual({ least, most })
})
