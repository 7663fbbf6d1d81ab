// Follows the first steps of the README in a fresh clone, pasting block after block as fast as possible, and prints the time
// until an agent is found and called. What is cloned is the last commit. `--record` also draws the session into the picture of the README.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { run } from '../run.mjs'
import { ROOT } from '../tree.mjs'
import { drawSession } from './draw-session.mjs'
import { openShell } from './open-shell.mjs'
import { PICTURE, readSteps } from './read-steps.mjs'

/** Milliseconds for the first start, which installs and builds, and for each command after it. */
const [START_MS, COMMAND_MS] = [900_000, 120_000]
/** Milliseconds in which programs end after SIGTERM. */
const STOP_MS = 15_000
/** Columns of the recorded terminal. */
const COLUMNS = 104
/** What a search prints for each agent. */
const SCORE = /\b[01]\.\d\d\b/

const isRecording = process.argv.includes('--record')
const folder = mkdtempSync(join(tmpdir(), 'switchboard-first-minutes-'))
const clone = join(folder, 'switchboard')
// What a newcomer has. The cache of npm is shared with other clones.
const { PATH, HOME } = process.env
const env = {
  PATH,
  HOME,
  LANG: 'C.UTF-8',
  npm_config_prefer_offline: 'true',
  // Warnings about the settings of npm on this computer are not part of the session.
  npm_config_loglevel: 'error',
  npm_config_progress: 'false',
}
const staying = []
/** The second terminal. */
let shell

let began = 0
const say = (line) => console.log(`[${((performance.now() - began) / 1000).toFixed(1)} s] ${line}`)

/** Starts a program in a terminal of its own; resolves to the first line that it prints to stdout, after what npm prints. */
async function stay(code) {
  const child = spawn('bash', ['-c', code], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  staying.push(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk
  })
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`${code}\nended with ${status}: ${stderr}`)
  })
  const firstLine = async () => {
    for await (const line of createInterface({ input: child.stdout })) if (/^[^>\s]/.test(line)) return line
    return ended
  }
  return within(START_MS, code, Promise.race([firstLine(), ended]))
}

async function within(ms, what, work) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, ms, new Error(`${what}\ntook longer than ${ms / 1000} s`))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A search must find agents, with the right one first; a call must return something. */
function assertUseful(command, output) {
  const lines = stripVTControlCharacters(output).split('\n')
  const best = lines.find((line) => SCORE.test(line)) ?? ''
  if (command.includes(' search ') && !/^(demo-units|shouter) /.test(best)) {
    throw new Error(`${command}\ndid not find the agent: ${output}`)
  }
  if (command.includes(' call ') && output.trim() === '') throw new Error(`${command}\nreturned nothing`)
}

/** Does what the README says; returns the commands of the second terminal and what they printed. */
async function follow(readme) {
  const session = []
  for (const { file, code, stays, commands = [] } of readSteps(readme)) {
    if (file) writeFileSync(join(clone, file), code)
    if (stays) say(`${stays}  → ${await stay(stays)}`)
    for (const command of commands) {
      shell ??= await openShell({ cwd: clone, env, ...(isRecording && { columns: COLUMNS }) })
      const output = await within(COMMAND_MS, command, shell.run(command))
      assertUseful(command, output)
      say(command)
      const isFirstCall = command.includes(' call ') && !session.some((step) => step.command.includes(' call '))
      if (isFirstCall) say('an agent has been found and called')
      session.push({ command, output })
    }
  }
  return session
}

async function stopAll() {
  shell?.close()
  for (const child of staying.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGTERM')
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }
}

try {
  const { code, output } = await run('git', ['clone', '--quiet', '--local', ROOT, clone], { quiet: true })
  if (code !== 0) throw new Error(`git clone failed: ${output}`)
  began = performance.now()
  const session = await follow(readFileSync(join(clone, 'README.md'), 'utf8'))
  if (isRecording) {
    mkdirSync(dirname(PICTURE), { recursive: true })
    writeFileSync(PICTURE, drawSession(session, COLUMNS))
    say(`wrote ${PICTURE}`)
  }
  say('every step of the README works')
} catch (error) {
  console.error(`first-minutes: ${error.message}`)
  process.exitCode = 1
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}
