import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tree.mjs'
import { drawSession, escapeText } from './draw-session.mjs'
import { PICTURE, readSteps } from './read-steps.mjs'

describe('the picture of the README', () => {
  it('shows the commands of the README, in order; npm run check:readme -- --record draws it again', () => {
    const steps = readSteps(readFileSync(join(ROOT, 'README.md'), 'utf8'))
    const commands = steps.flatMap((step) => step.commands ?? [])
    expect(commands.length).toBeGreaterThan(5)
    const shown = /<desc>\n(.*?)\n<\/desc>/s.exec(readFileSync(PICTURE, 'utf8'))?.[1].split('\n')
    expect(shown).toEqual(commands.map(escapeText))
  })

  it('shows colours, and the beginning of long outputs', () => {
    const output = `\u001b[1mID\u001b[22m \u001b[32m<ok>\u001b[39m\n\n${'line\n'.repeat(20)}`
    const picture = drawSession([{ command: 'search a & b', output }], 80)
    expect(picture).toContain('<tspan font-weight="600">ID</tspan>')
    expect(picture).toContain('<tspan fill="#7ee787">&lt;ok&gt;</tspan>')
    expect(picture).toContain('>search a &amp; b<')
    expect(picture.match(/>line</g)).toHaveLength(4)
    expect(picture).toContain('>…<')
  })
})
