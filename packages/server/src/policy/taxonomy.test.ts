import { describe, expect, it } from 'vitest'
import { createTaxonomy, matchTags } from './taxonomy.js'

const taxonomy = createTaxonomy([
  {
    name: 'work',
    uri: 'urn:tax:work',
    tags: {
      'invoice-processing': { broader: ['finance'], same: ['Invoicing'] },
      'e-invoicing': { broader: ['invoice-processing'] },
      finance: { synonyms: ['money'] },
    },
  },
])

describe('a taxonomy', () => {
  it('gives the narrower tags of a tag, at any depth, and those that mean the same', () => {
    expect([...taxonomy.satisfying('Finance')].sort()).toEqual(['e-invoicing', 'invoice-processing', 'invoicing'])
    expect([...taxonomy.satisfying('invoicing')].sort()).toEqual(['e-invoicing', 'invoice-processing'])
    expect(taxonomy.satisfying('e-invoicing')).toEqual([])
  })

  it('lets synonyms raise and not satisfy', () => {
    expect(taxonomy.satisfying('finance')).not.toContain('money')
    expect(taxonomy.related('finance')).toContain('money')
    expect(taxonomy.related('money')).toEqual(['finance'])
  })

  it('reads tags of its own taxonomies and no others', () => {
    expect(taxonomy.read('urn:tax:work#finance')).toBe('finance')
    expect(taxonomy.read('urn:tax:other#finance')).toBeUndefined()
    expect(taxonomy.read('finance')).toBe('finance')
  })

  it('declares its tags, their equivalents and synonyms; without taxonomies, every tag is declared', () => {
    const tags = ['Finance', 'invoicing', 'money', 'urn:tax:work#finance', 'urn:tax:other#finance', 'astrology']
    expect(tags.map(taxonomy.declares)).toEqual([true, true, true, true, false, false])
    expect(tags.map(createTaxonomy([]).declares)).toEqual(tags.map(() => true))
  })

  it('tells direct matches from inferred ones, with what they follow from', () => {
    expect(matchTags(['finance', 'HR', 'none'], ['E-Invoicing', 'hr'], taxonomy)).toEqual({
      direct: ['hr'],
      expanded: [{ tag: 'finance', via: 'E-Invoicing' }],
    })
  })

  it('ends where tags are broader than each other', () => {
    const round = createTaxonomy([{ name: 'round', tags: { a: { broader: ['b'] }, b: { broader: ['a'] } } }])
    expect(round.satisfying('a')).toEqual(['b'])
  })
})
