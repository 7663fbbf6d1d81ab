import { type CompletedOption, type CompletionNode, pathPatterns, quoteWord } from './nodes.js'

/** The completion of bash. */
export const bashCompletion = (
  nodes: readonly CompletionNode[],
): string => `# Completes switchboard in bash: source <(switchboard completion bash)
_switchboard() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local path='' words='' options='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${pathPatterns(nodes)}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$path" in
${nodes.map(wordCase).join('\n')}
  esac
  if [[ $current == -* ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _switchboard switchboard
`

const wordCase = ({ path, words, options }: CompletionNode): string =>
  `    ${quoteWord(path)}) words=${quoteWord(words.map(({ name }) => name).join(' '))} options=${quoteWord(options.map(({ name }) => `--${name}`).join(' '))} ;;`

/** Files are the default of \`complete\`, so they need no words. */
function valueCases({ path, options }: CompletionNode): string[] {
  const pattern = ({ name, short }: CompletedOption): string =>
    [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].map((flag) => quoteWord(`${path} ${flag}`)).join(' | ')
  return options.flatMap((option) => {
    const { value } = option
    if (value === 'none') return []
    if (value === 'file') return [`    ${pattern(option)}) return ;;`]
    if (value === 'text') return [`    ${pattern(option)}) compopt +o default; return ;;`]
    return [`    ${pattern(option)}) COMPREPLY=($(compgen -W ${quoteWord(value.join(' '))} -- "$current")); return ;;`]
  })
}
