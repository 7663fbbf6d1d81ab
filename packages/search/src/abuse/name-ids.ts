/** Numbers for names, as long as they are in use: a number is kept for every agent, a name once. */
export function createNameIds() {
  const ids = new Map<string, { id: number; uses: number }>()
  const names = new Map<number, string>()
  let next = 1
  return {
    take(name: string): number {
      const known = ids.get(name)
      if (known) {
        known.uses++
        return known.id
      }
      const id = next++
      ids.set(name, { id, uses: 1 })
      names.set(id, name)
      return id
    },
    release(id: number): void {
      const name = names.get(id)
      const known = name === undefined ? undefined : ids.get(name)
      if (name === undefined || !known || --known.uses > 0) return
      ids.delete(name)
      names.delete(id)
    },
  }
}
