import { existsSync } from 'node:fs'

/** Reason for skipped tests; part of their titles. */
export const NO_CHROMIUM = 'skipped: no Chromium in /usr/bin (apt-get install chromium), and $CHROMIUM names none'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/**
 * Path of the browser for the tests. Undefined, with a warning on the console, if there is none; in CI that is an
 * error.
 */
export function findChromium(): string | undefined {
  const { CHROMIUM, CI } = process.env
  const found = CHROMIUM ?? PLACES.find((path) => existsSync(path))
  if (found !== undefined) return found
  if (CI) throw new Error(NO_CHROMIUM)
  console.warn(NO_CHROMIUM)
  return undefined
}
