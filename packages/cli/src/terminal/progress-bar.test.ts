import { describe, expect, it } from 'vitest'
import { createProgressBar } from './progress-bar.js'

const screenOf = (isTTY: boolean, columns = 80) => {
  const written: string[] = []
  return { written, screen: { isTTY, columns, write: (text: string) => written.push(text) } }
}

describe('the progress bar', () => {
  it('shows the progress on a terminal, and is removed at the end', () => {
    const { written, screen } = screenOf(true)
    const bar = createProgressBar(screen)
    bar.show(15, 30, 0)
    bar.show(15, 30, 0)
    bar.show(16, undefined, 2)
    bar.clear()
    bar.clear()
    expect(written).toEqual([
      `\r\u001b[K[${'#'.repeat(15)}${'.'.repeat(15)}] 15 of 30`,
      '\r\u001b[K16 done, 2 failed',
      '\r\u001b[K',
    ])
  })

  it('fits the terminal, and shows nothing without one', () => {
    const small = screenOf(true, 10)
    createProgressBar(small.screen).show(1, 2, 0)
    expect(small.written[0]?.length).toBe('\r\u001b[K'.length + 9)
    const file = screenOf(false)
    createProgressBar(file.screen).show(1, 2, 0)
    expect(file.written).toEqual([])
  })
})
