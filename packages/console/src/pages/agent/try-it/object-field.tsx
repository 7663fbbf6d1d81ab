import { Button, Fieldset, Group, Input, Stack, Text } from '@mantine/core'
import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { strings } from '../../../strings.js'
import type { Field, Member } from '../schema/field.js'
import { initialValue } from '../schema/initial-value.js'
import { type FieldProps, useForm } from './form-context.js'
import { pointerTo } from './issues.js'

const { tryIt: words } = strings

/** The members of an object, in a box of its own unless it is the whole input. Optional objects are added on request. */
export function ObjectField(props: FieldProps<Extract<Field, { kind: 'object' }>>): ReactNode {
  const { field, place, pointer, shared, isRequired, value, onChange } = props
  const { root } = useForm()
  if (pointer === '') return <Members members={field.members} pointer="" value={value} onChange={onChange} />
  if (value === undefined && !isRequired) {
    return (
      <Input.Wrapper label={shared.label} description={shared.description} error={shared.error}>
        <Group mt={4}>
          <Button id={shared.id} variant="default" size="xs" onClick={() => onChange(initialValue(place, root) ?? {})}>
            {words.add(shared.label)}
          </Button>
        </Group>
      </Input.Wrapper>
    )
  }
  return (
    <Fieldset legend={shared.label} id={shared.id} tabIndex={-1}>
      <Stack gap="sm">
        {shared.description && (
          <Text size="xs" c="dimmed">
            {shared.description}
          </Text>
        )}
        <Members members={field.members} pointer={pointer} value={value} onChange={onChange} />
        {shared.error && <Input.Error>{shared.error}</Input.Error>}
        {!isRequired && (
          <Group>
            <Button variant="subtle" color="gray" size="xs" onClick={() => onChange(undefined)}>
              {words.remove(shared.label)}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

interface MembersProps {
  readonly members: readonly Member[]
  readonly pointer: string
  readonly value: JsonValue | undefined
  readonly onChange: (value: JsonValue) => void
}

/** One field for each member. Members that the schema does not name stay as they are. */
export function Members({ members, pointer, value, onChange }: MembersProps): ReactNode {
  const { Place } = useForm()
  const object: JsonObject = isObject(value) ? value : {}
  return (
    <Stack gap="sm">
      {members.map(({ name, schema, isRequired }) => (
        <Place
          key={name}
          place={schema}
          pointer={pointerTo(pointer, name)}
          label={name}
          isRequired={isRequired}
          value={Object.hasOwn(object, name) ? object[name] : undefined}
          onChange={(next) => onChange(withMember(object, name, next))}
        />
      ))}
    </Stack>
  )
}

/** A copy of an object in which a member has another value, or is left out. */
export function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const isKnown = Object.hasOwn(object, name)
  const entries = Object.entries(object).flatMap((entry) =>
    entry[0] !== name ? [entry] : value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(isKnown || value === undefined ? entries : [...entries, [name, value] as const])
}
