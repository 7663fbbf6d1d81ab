import { type Command, type CommandGroup, command } from '../command/command.js'
import { bashCompletion } from '../completion/bash.js'
import { fishCompletion } from '../completion/fish.js'
import { completionNodes } from '../completion/nodes.js'
import { zshCompletion } from '../completion/zsh.js'
import { print } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const SHELLS = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
])

/** Completes all commands; `load` returns them, including this one. */
export const createCompletion = (load: () => Promise<ReadonlyMap<string, Command | CommandGroup>>): Command =>
  command({
    summary: 'print the completion of commands and options for a shell',
    usage: 'bash|zsh|fish',
    about:
      'Load the output when the shell starts: add the line of your shell to ~/.bashrc, ~/.zshrc (after compinit) or ~/.config/fish/config.fish.',
    options: {},
    examples: [
      'source <(switchboard completion bash)',
      'source <(switchboard completion zsh)',
      'switchboard completion fish | source',
    ],
    async run(_values, [shell = '']) {
      const write = SHELLS.get(shell)
      if (!write) throw new UsageError(`there is no completion for "${shell}": use ${[...SHELLS.keys()].join(', ')}`)
      await print(write(completionNodes(await load())))
      return 0
    },
  })
