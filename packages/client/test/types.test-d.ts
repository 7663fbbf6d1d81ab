// Compiled by `tsc -p tsconfig.test.json`, never run.
import { expectTypeOf } from 'vitest'
import { createCaller, createClient, type DiscoveryClient, invokeAgent, type Output } from '../src/index.js'

interface Translation {
  translation: string
}
const client = createClient({ baseUrl: 'https://directory.example' })
expectTypeOf(client).toExtend<DiscoveryClient>()

expectTypeOf((await client.invoke<Translation>('translator', {})).output).toEqualTypeOf<Translation>()
expectTypeOf((await client.invoke('translator', {})).output).toEqualTypeOf<Output>()
expectTypeOf((await invokeAgent<Translation>('agent://a.example/t', {})).output).toEqualTypeOf<Translation>()
expectTypeOf((await invokeAgent('agent://a.example/t')).output).toEqualTypeOf<Output>()
expectTypeOf((await createCaller().invoke<string>('agent://a.example/t')).output).toEqualTypeOf<string>()
// @ts-expect-error an output of unknown type has no members
;(await client.invoke('translator', {})).output.translation
