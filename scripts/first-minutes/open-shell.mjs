// A shell that commands are pasted into, one after the other.
import { spawn } from 'node:child_process'

/** Surrounds the exit status of a command in the output of the shell. */
const MARK = '\u0001'

/** In a terminal of this many columns if given; programs then print colours, and the output is as on a screen. */
export async function openShell({ cwd, env, columns }) {
  const setUp =
    columns === undefined ? '' : `stty -echo cols ${columns} rows 50; bind 'set enable-bracketed-paste off'\n`
  const [program, args] =
    columns === undefined ? ['bash', ['-s']] : ['script', ['-qfec', 'bash --norc --noprofile --noediting', '/dev/null']]
  const shell = spawn(program, args, { cwd, env: { ...env, PS1: '', PS2: '' }, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let wake = () => {}
  const collect = (chunk) => {
    output += chunk
    wake()
  }
  shell.stdout.setEncoding('utf8').on('data', collect)
  shell.stderr.setEncoding('utf8').on('data', collect)

  /** Runs a command as if it had been pasted; resolves to what it printed, and throws that if the command failed. */
  const run = async (command) => {
    output = ''
    shell.stdin.write(`${command}\nprintf '\\001%s\\001' $?\n`)
    const end = new RegExp(`${MARK}(\\d+)${MARK}`)
    while (!end.test(output)) {
      await new Promise((resolve) => {
        wake = resolve
      })
    }
    const [printed, status] = output.split(MARK)
    const text = printed.replaceAll('\r', '')
    if (status !== '0') throw new Error(`${command}\nended with ${status}: ${text}`)
    return text
  }
  await run(`${setUp}true`)
  return {
    run,
    close: () => void shell.kill('SIGHUP'),
  }
}
