import type { CompletionNode } from './nodes.js'

/** The completion of fish. */
export const fishCompletion = (
  nodes: readonly CompletionNode[],
): string => `# Completes switchboard in fish: switchboard completion fish | source
function __switchboard_place
    set -l place switchboard
    for word in (commandline -opc)[2..-1]
        if contains -- "$place $word" ${paths(nodes)}
            set place "$place $word"
        end
    end
    echo $place
end
function __switchboard_at
    test (__switchboard_place) = "$argv"
end
complete -c switchboard -f
${nodes.flatMap(lines).join('\n')}
`

const placeOf = (path: string): string => `switchboard ${path}`.trimEnd()

const paths = (nodes: readonly CompletionNode[]): string =>
  nodes.flatMap(({ path, words }) => words.map(({ name }) => quote(`${placeOf(path)} ${name}`))).join(' ')

function lines({ path, words, options }: CompletionNode): string[] {
  const start = `complete -c switchboard -n ${quote(`__switchboard_at ${placeOf(path)}`)}`
  return [
    // Operands that are not commands may be files.
    ...(words.length === 0 ? [`${start} -F`] : []),
    ...words.map(({ name, text }) => `${start} -a ${quote(name)} -d ${quote(text)}`),
    ...options.map(({ name, short, text, value }) => {
      const flags = `${short === undefined ? '' : ` -s ${short}`} -l ${name}`
      return `${start}${flags}${argumentOf(value)} -d ${quote(text)}`
    }),
  ]
}

function argumentOf(value: CompletionNode['options'][number]['value']): string {
  if (value === 'none') return ''
  if (value === 'file') return ' -r -F'
  return value === 'text' ? ' -x' : ` -x -a ${quote(value.join(' '))}`
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
