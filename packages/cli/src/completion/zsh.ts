import { type CompletionNode, type Described, pathPatterns, quoteWord } from './nodes.js'

/** The completion of zsh. */
export const zshCompletion = (nodes: readonly CompletionNode[]): string => `#compdef switchboard
# Completes switchboard in zsh: source <(switchboard completion zsh), after compinit
_switchboard() {
  local place='' word
  local -a items
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      ${pathPatterns(nodes)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$place" in
${nodes.map(itemCase).join('\n')}
  esac
  if [[ -n $items ]]; then _describe 'switchboard' items; else _files; fi
}
compdef _switchboard switchboard
`

/** Options are offered after a hyphen; commands otherwise. */
const itemCase = ({ path, words, options }: CompletionNode): string =>
  `    ${quoteWord(path)}) if [[ $PREFIX == -* ]]; then items=(${options.map(({ name, text }) => item({ name: `--${name}`, text })).join(' ')}); else items=(${words.map(item).join(' ')}); fi ;;`

const valueCases = ({ path, options }: CompletionNode): string[] =>
  options.flatMap(({ name, value }) => {
    if (value === 'none') return []
    const pattern = quoteWord(`${path} --${name}`)
    if (value === 'file') return [`    ${pattern}) _files; return ;;`]
    if (value === 'text') return [`    ${pattern}) return ;;`]
    return [`    ${pattern}) compadd -- ${value.map(quoteWord).join(' ')}; return ;;`]
  })

const item = ({ name, text }: Described): string => quoteWord(`${name.replaceAll(':', '\\:')}:${text}`)
