import { describe, expect, it } from 'vitest'
import {
  agentNameProblem,
  capabilityNameProblem,
  foldTag,
  idProblem,
  matchesLanguage,
  matchesProtocol,
  speaks,
} from './identifiers.js'

describe('idProblem', () => {
  it.each([
    '6f1c2f6e-2f5b-4c0e-9f0e-0d8a5a1f7a11',
    'translator-001',
    'https://agents.example.net/id/a?b=c#d',
    '翻译',
    'a b',
    '...',
  ])('AIDIP00-4-03, PROF-4.2-02 accepts %j', (id) => {
    expect(idProblem(id)).toBeUndefined()
  })

  it.each(['search', 'public', '.', '..'])('rejects %j, which is a path of the directory (C-04)', (id) => {
    expect(idProblem(id)).toContain('reserved')
    expect(agentNameProblem(id)).toContain('reserved')
    expect(idProblem(`${id}x`)).toBeUndefined()
  })

  it.each(['', 'a*b', '*', 'a\u0000', 'a\nb', 'a\u007f', 'a\u0085', '\ud800'])(
    'rejects %j on every path (C-30)',
    (id) => {
      for (const problem of [idProblem, agentNameProblem, capabilityNameProblem])
        expect(problem(id)).toBeTypeOf('string')
    },
  )

  it('accepts 512 characters, counted as code points', () => {
    expect(idProblem('🙂'.repeat(512))).toBeUndefined()
    expect(idProblem('a'.repeat(513))).toContain('longer than 512')
  })
})

describe('agentNameProblem', () => {
  it('AD-4.1-06 accepts 255 characters, but not 256', () => {
    expect(agentNameProblem('翻'.repeat(255))).toBeUndefined()
    expect(agentNameProblem('a'.repeat(256))).toContain('longer than 255')
  })
})

describe('capabilityNameProblem', () => {
  it.each(['search', 'public', '.', 'com.example:plan', '翻译'])(
    'accepts %j: a capability is not part of a path',
    (name) => {
      expect(capabilityNameProblem(name)).toBeUndefined()
    },
  )
})

describe('matchesProtocol', () => {
  it.each([
    ['mcp', 'mcp', true],
    ['MCP', 'mcp/1.0', true],
    ['mcp/1.0', 'mcp/1.0', true],
    ['mcp/1.0', 'mcp', false],
    ['mcp/1.0', 'mcp/2.0', false],
    ['mc', 'mcp', false],
  ])('%s requested, %s offered: %s', (requested, protocol, matches) => {
    expect(matchesProtocol(requested, protocol)).toBe(matches)
  })
})

describe('languages', () => {
  it('matches a range and its subtags, case-insensitively (C-13)', () => {
    expect(matchesLanguage('zh', 'zh-CN')).toBe(true)
    expect(matchesLanguage('ZH', 'zh')).toBe(true)
    expect(matchesLanguage('*', 'fr')).toBe(true)
    expect(matchesLanguage('zh-CN', 'zh')).toBe(false)
    expect(matchesLanguage('z', 'zh')).toBe(false)
  })

  it('AIDIP-3.1-13 treats an agent without a list as supporting every language', () => {
    expect(speaks(undefined, 'fr')).toBe(true)
    expect(speaks([], 'fr')).toBe(false)
    expect(speaks(['en', 'fr-CA'], 'fr')).toBe(true)
  })

  it('ignores case and Unicode composition in tags (C-16)', () => {
    expect(foldTag('NLP')).toBe('nlp')
    expect(foldTag('E\u0301tude')).toBe(foldTag('étude'))
  })
})
