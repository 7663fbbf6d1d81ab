import { directoryUpdateSchema } from '@switchboard/protocol'
import { component } from '../schemas/component.js'
import { openObjects } from '../schemas/open-objects.js'
import { count, list, object, text, texts } from '../schemas/parts.js'

export const directoryUpdate = component('DirectoryUpdate', openObjects(directoryUpdateSchema, true))

export const entryPointsSchema = object({ registration: text, lookup: text, max_count: count })

const entry = component(
  'DirectoryEntry',
  object(
    {
      agent: text,
      base: text,
      description: text,
      protocols: texts,
      capabilities: list(object({ name: text, type: text })),
      href: text,
      origin_service: text,
    },
    'description',
    'origin_service',
  ),
)

export const lookupSchema = component('Lookup', object({ agents: list(entry) }))
