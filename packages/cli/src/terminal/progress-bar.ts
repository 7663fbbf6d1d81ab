/** The progress of a long task; shown on terminals only. */
export interface ProgressBar {
  /** Without a total, only the count is shown. */
  show(done: number, total: number | undefined, failed: number): void
  /** Removes the bar, to print a line or at the end. */
  clear(): void
}

export interface ProgressScreen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const WIDTH = 30
/** Carriage return and erase to the end of the line. */
const TO_START = '\r\u001b[K'

export function createProgressBar(screen: ProgressScreen): ProgressBar {
  if (!screen.isTTY) return { show() {}, clear() {} }
  let shown = ''
  return {
    show(done, total, failed) {
      const line = `${barOf(done, total)}${failed > 0 ? `, ${failed} failed` : ''}`.slice(0, (screen.columns ?? 80) - 1)
      if (line === shown) return
      shown = line
      screen.write(TO_START + line)
    },
    clear() {
      if (shown !== '') screen.write(TO_START)
      shown = ''
    },
  }
}

function barOf(done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${done} done`
  const filled = Math.round((Math.min(done, total) / total) * WIDTH)
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done} of ${total}`
}
