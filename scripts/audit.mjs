// Fails if a production dependency has a known vulnerability of high severity: npm run check:audit
// A registry that serves no advisories, such as many mirrors, is no reason to fail; the output then says so.
import { pathToFileURL } from 'node:url'
import { runNpm } from './run.mjs'

const FAILING = ['high', 'critical']

/** What the output of `npm audit --json` means. */
export function judgeAudit(output) {
  const { vulnerabilities, message } = readReport(output)
  if (!vulnerabilities)
    return { code: 0, lines: [`skipped: the registry serves no advisories (${message ?? 'no report'})`] }
  const found = Object.values(vulnerabilities).filter(({ severity }) => FAILING.includes(severity))
  const lines = found.map(({ name, severity, range }) => `${severity}: ${name} ${range}`)
  return { code: found.length > 0 ? 1 : 0, lines: [...lines, `${found.length} vulnerabilities of high severity`] }
}

function readReport(output) {
  try {
    return JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1))
  } catch {
    return {}
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { output } = await runNpm(['audit', '--omit=dev', '--json'], { quiet: true })
  const { code, lines } = judgeAudit(output)
  for (const line of lines) console.log(`audit: ${line}`)
  process.exitCode = code
}
