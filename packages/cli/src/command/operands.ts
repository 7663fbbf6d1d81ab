/** How many operands a command takes, by its usage: `SUBJECT [TO]` takes one or two, `ID…` one or more. */
export function operandsOf(usage: readonly string[]): { readonly least: number; readonly most: number } {
  const counts = usage.map(countIn)
  return { least: Math.min(...counts.map(({ least }) => least)), most: Math.max(...counts.map(({ most }) => most)) }
}

function countIn(line: string): { least: number; most: number } {
  const operands = line.replaceAll(/--[\w-]+( [A-Z|]+)?/g, '')
  const required = operands.replaceAll(/\[.*\]/g, '').match(/\S+/g) ?? []
  const all = operands.match(/[^\s[\]]+/g) ?? []
  return {
    least: required.filter((word) => word !== '…').length,
    most: operands.includes('…') ? Number.POSITIVE_INFINITY : all.length,
  }
}
