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
  it('returns the narrower tags of a tag, at any depth, and its equivalents', () => {
    expect([...taxonomy.satisfying('Finance')].sort()).toEqual(['e-invoicing', 'invoice-processing', 'invoicing'])
    expect([...taxonomy.satisfying('invoicing')].sort()).toEqual(['e-invoicing', 'invoice-processing'])
    expect(taxonomy.satisfying('e-invoicing')).toEqual([])
  })

  it('counts synonyms as preferred tags, but not as required ones', () => {
    expect(taxonomy.satisfying('finance')).not.toContain('money')
    expect(taxonomy.related('finance')).toContain('money')
    expect(taxonomy.related('money')).toEqual(['finance'])
  })

  it('resolves qualified tags of its own taxonomies only', () => {
    expect(taxonomy.read('urn:tax:work#finance')).toBe('finance')
    expect(taxonomy.read('urn:tax:other#finance')).toBeUndefined()
    expect(taxonomy.read('finance')).toBe('finance')
  })

  it('declares its tags, their equivalents and synonyms; without taxonomies, every tag is declared', () => {
    const tags = ['Finance', 'invoicing', 'money', 'urn:tax:work#finance', 'urn:tax:other#finance', 'astrology']
    expect(tags.map(taxonomy.declares)).toEqual([true, true, true, true, false, false])
    expect(tags.map(createTaxonomy([]).declares)).toEqual(tags.map(() => true))
  })

  it('separates direct matches from inferred ones, and names the tag they follow from', () => {
    expect(matchTags(['finance', 'HR', 'none'], ['E-Invoicing', 'hr'], taxonomy)).toEqual({
      direct: ['hr'],
      expanded: [{ tag: 'finance', via: 'E-Invoicing' }],
    })
  })

  it('does not loop on tags that are broader than each other', () => {
    const circular = createTaxonomy([{ name: 'circular', tags: { a: { broader: ['b'] }, b: { broader: ['a'] } } }])
    expect(circular.satisfying('a')).toEqual(['b'])
  })
})
