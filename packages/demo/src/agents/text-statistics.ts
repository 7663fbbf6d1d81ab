import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import type { DemoServer } from '../demo-agent.js'
import { serve } from '../serve.js'

/** Words that an adult reads in a minute. */
const READING_SPEED = 230

interface Text {
  readonly text: string
}

const TEXT = fromJsonSchema<Text>({
  type: 'object',
  properties: { text: { type: 'string', description: 'the text to measure' } },
  required: ['text'],
})

const wordsIn = (text: string): string[] => text.match(/[\p{L}\p{N}'’-]+/gu) ?? []

function createStatistics(): McpServer {
  const server = new McpServer({ name: 'text-statistics', title: 'Text statistics', version: '1.0.0' })
  const answer = (structuredContent: Record<string, number>) => ({
    content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }],
    structuredContent,
  })
  server.registerTool(
    'count',
    { description: 'Counts the characters, words and sentences of a text.', inputSchema: TEXT },
    ({ text }) => {
      const sentences = [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)].length
      return answer({ characters: [...text].length, words: wordsIn(text).length, sentences })
    },
  )
  server.registerTool(
    'reading_time',
    { description: 'Estimates how many minutes it takes to read a text.', inputSchema: TEXT },
    ({ text }) => answer({ minutes: Number((wordsIn(text).length / READING_SPEED).toFixed(1)) }),
  )
  return server
}

/** An agent of other software: made with the MCP project's own SDK, and registered by its server.json. */
export async function startTextStatistics(): Promise<DemoServer> {
  const handler = createMcpHandler(createStatistics, { maxSubscriptions: 0 })
  const { url, close } = await serve((request) => handler.fetch(request))
  return {
    format: 'mcp',
    document: {
      name: 'demo/text-statistics',
      title: 'Text statistics',
      description: 'Counts the words, characters and sentences of a text and estimates its reading time.',
      version: '1.0.0',
      remotes: [{ type: 'streamable-http', url: `${url}/mcp` }],
      tags: ['demo', 'text', 'statistics'],
    },
    close,
  }
}
