// Runs one program at a time; its output goes to our stderr.
import { spawn } from 'node:child_process'
import { ROOT } from './tree.mjs'

let child

/**
 * Runs a program, as the user `uid` if given; resolves to its exit code and everything it printed, which `quiet` keeps off
 * our stderr.
 */
export function run(command, args, { quiet = false, cwd = ROOT, uid } = {}) {
  return new Promise((resolve) => {
    let output = ''
    const keep = (chunk) => {
      output += chunk
      if (!quiet) process.stderr.write(chunk)
    }
    child = spawn(command, args, { cwd, uid, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => resolve({ code: 127, output: error.message }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }))
  })
}

/** Runs npm; if npm started this program, the same one. */
export function runNpm(args, options) {
  const cli = process.env.npm_execpath ?? ''
  return cli.endsWith('npm-cli.js') ? run(process.execPath, [cli, ...args], options) : run('npm', args, options)
}

/** Stops the running program, if any. */
export const stopChild = () => child?.kill()
