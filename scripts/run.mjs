// Runs one program at a time; what it prints goes to our stderr.
import { spawn } from 'node:child_process'
import { ROOT } from './tree.mjs'

let child

/** Runs a program in the repository; resolves to its exit code and all that it printed. Quiet: we do not show that. */
export function run(command, args, { quiet = false } = {}) {
  return new Promise((resolve) => {
    let output = ''
    const keep = (chunk) => {
      output += chunk
      if (!quiet) process.stderr.write(chunk)
    }
    child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => resolve({ code: 127, output: error.message }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }))
  })
}

/** Runs npm: the very one that runs us, if it does. */
export function runNpm(args, options) {
  const cli = process.env.npm_execpath ?? ''
  return cli.endsWith('npm-cli.js') ? run(process.execPath, [cli, ...args], options) : run('npm', args, options)
}

/** Ends the program that is running, if there is one. */
export const stopChild = () => child?.kill()
